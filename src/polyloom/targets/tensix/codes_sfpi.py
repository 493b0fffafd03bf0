# SPDX-License-Identifier: Apache-2.0
"""Codes of vector kernels (SFPI): PL1240 to PL1299, in the form of `polyloom.codes.CODES`. Form and interpreter PL1240
to PL1249, Python PL1250 to PL1259, C++ PL1260 to PL1279, passes PL1280 to PL1289, running and tools PL1290 to
PL1299."""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "PL1240": (
        "vector kernel that is not well formed",
        "Conditions of a kernel are closed on all ways: `v_if` by `v_endif`, `v_block` by `v_endblock`; `v_and` stands "
        "inside of one.",
    ),
    "PL1241": (
        "operand of a vector operation that must be constant",
        "The operand is part of the instruction: its value must be known when the kernel is compiled, and in range.",
    ),
    "PL1242": (
        "operation that the member does not have",
        "`rand`, `approx_recip` and `approx_exp` need Blackhole: `--on tensix:blackhole`.",
    ),
    "PL1243": (
        "lanes without a value",
        "A vector is stored or compared in lanes that no way to here has written. They hold 0 here, and anything on "
        "the machine: give the\nvariable a value where it is declared.",
    ),
    "PL1244": (
        "vector kernel that cannot be interpreted",
        "The kernel does what the interpreter of vector kernels does not know, or never ends.",
    ),
}
