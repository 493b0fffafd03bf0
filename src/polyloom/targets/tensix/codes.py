# SPDX-License-Identifier: Apache-2.0
"""Codes of the Tensix target: notation and words PL1200 to PL1209, what `verify` finds PL1210 to PL1219; of running a
tile and of vector kernels in files of their own."""

from __future__ import annotations

from polyloom.targets.tensix.codes_loops import CODES as LOOPS
from polyloom.targets.tensix.codes_sfpi import CODES as SFPI
from polyloom.targets.tensix.codes_sfpi_run import CODES as SFPI_RUN
from polyloom.targets.tensix.codes_tile import CODES as TILE

CODES: dict[str, tuple[str, str]] = {
    "PL1200": (
        "malformed Tensix instruction",
        "A line holds one instruction: `SFPMAD L1, L0, L13, L14, 0`, or the macro's spelling `TTI_SFPMAD(0, 13, 14, 1, "
        "0)`.\nFields by name follow those without one; `;`, `//` and `#` begin a comment.",
    ),
    "PL1201": (
        "unknown Tensix instruction or field",
        "docs/targets/tensix.md lists the instructions of each member with their fields.",
    ),
    "PL1202": (
        "number out of range",
        "A field holds as many bits as docs/targets/tensix.md says; a signed one takes negative numbers, too.",
    ),
    "PL1203": (
        "malformed expression",
        "Operands are numbers, registers `L0` to `L15`, names of the configuration, and C's operators on them: "
        "`5 << ALU_FORMAT_SPEC_REG0_SrcA_SHAMT`.",
    ),
    "PL1204": (
        "unknown member of the Tensix target",
        "`--on tensix` is Wormhole; `--on tensix:blackhole` is its successor.",
    ),
    "PL1205": (
        "malformed Tensix words",
        "A file of words holds four bytes per word. In the form `riscv` each is rotated left by two, as a core fetches "
        "it, so that its low two bits are not 3.",
    ),
    "PL1206": (
        "no program for a Tensix tile",
        "Cores take static ELF executables for RV32IM without compressed instructions. Other files are words; those "
        "whose name ends in `.tts` are text.",
    ),
    "PL1210": (
        "not a Tensix instruction",
        "No instruction of the member has this opcode, or bits are set that mean nothing: the machine's answer is "
        "not known.",
    ),
    "PL1211": (
        "instruction that is not modelled",
        "The instruction assembles, but its semantics are not published, or are outside of what the model covers "
        "(docs/targets/tensix.md): executing it is a fault.",
    ),
    "PL1212": (
        "hazard",
        "The hardware does not wait here, and computes with an old value or loses an instruction. The message says "
        "what helps; docs/targets/tensix.md lists the rules.",
    ),
    "PL1213": (
        "reserved mode or address",
        "The instruction is one, but a field holds a value that the machine reserves: an odd address of Dst, or a mode "
        "without a meaning.",
    ),
    **TILE,
    **LOOPS,
    **SFPI,
    **SFPI_RUN,
}
