# SPDX-License-Identifier: Apache-2.0
"""What clang says of a kernel, and what is said instead: patterns, codes, messages, help. The first that fits is it."""

from __future__ import annotations

from typing import Final

KNOWN: Final = r"no known conversion from '(?:const )?(?:sfpi::)?(\w+)' to 'const (?:sfpi::)?(\w+)"
CONVERT: Final = "convert it, `convert<{0}>(x, RoundMode::Nearest)`, or take its bits, `as<{0}>(x)`"
_TYPE: Final = r"'(?:const )?(?:sfpi::)?(?:impl_::)?(v[A-Z]\w+|s\w*Float16\w)[^']*'(?: \(aka '[^']*'\))?"
_INTO: Final = r"(?:no viable conversion|assigning to|initializing|cannot initialize)"
_LANES: Final = "lanes have no way into a scalar: keep it in a vector"
_SCALAR_PLACE: Final = "write `v_if (...) {` ... `} v_endif;`: `if`, loops and `?:` choose for all lanes at once"
MEMORY_HELP: Final = (
    "keep vectors in variables; index an array of vectors with what is constant once loops are unrolled: "
    "`#pragma GCC unroll`"
)
DIVISION_HELP: Final = "multiply by its reciprocal, `x * (1.0f / 3.0f)`, which rounds twice; `x / 4.0f` is exact"
WORDS: Final = (
    (
        r"undeclared identifier '__sfpi_region'",
        "PL1262",
        "`v_and`, `v_elseif` or `v_else` outside of a region",
        "`v_and` stands within `v_if` or `v_block`, the others behind a `v_if`",
    ),
    (
        r"value of type " + _TYPE + r" is not contextually convertible to 'bool'",
        "PL1263",
        "a condition by lane, a \\1, where a scalar one stands",
        _SCALAR_PLACE,
    ),
    (
        r"no viable conversion from " + _TYPE + r" to 'bool'",
        "PL1263",
        "a condition by lane, a \\1, where a scalar one stands",
        _SCALAR_PLACE,
    ),
    (
        r"no viable conversion from " + _TYPE + r" to '(?:sfpi::)?vBool'",
        "PL1267",
        "a \\1 where a condition stands",
        "compare it: `x != 0.0f`",
    ),
    (
        r"invalid operands to binary expression \(" + _TYPE + r" and " + _TYPE + r"\)",
        "PL1267",
        "no such operator between \\1 and \\2",
        "convert one of them, `convert<vFloat>(x, RoundMode::Nearest)`, or take its bits, `as<vInt>(x)`",
    ),
    (
        r"invalid operands to binary expression \((.*)\)$",
        "PL1267",
        "no such operator between \\1",
        "vectors take vectors and scalars of their own kind; convert the other with `convert` or `as`",
    ),
    (
        r"no viable conversion from (?:returned value of type )?" + _TYPE + r" to (?:function return type )?" + _TYPE,
        "PL1267",
        "a \\1 where a \\2 stands",
        CONVERT.format("\\2"),
    ),
    (
        _INTO + r"[^']*'(\w+)'.* (?:from|with)[^']*" + _TYPE,
        "PL1267",
        "a vector, \\2, where a scalar, \\1, stands",
        _LANES,
    ),
    (
        _INTO + r".*from[^']*" + _TYPE + r" to (?:function return type )?'(\w[^']*)'",
        "PL1267",
        "a vector, \\1, where a scalar, \\2, stands",
        _LANES,
    ),
    (
        r"no matching function for call to '(\w+)'",
        "PL1267",
        "no `\\1` takes these arguments",
        "docs/sfpi.md lists what each function of the library takes",
    ),
    (
        r"undeclared identifier '(\w+)'$",
        "PL0151",
        "the C compiler says: use of undeclared identifier '\\1'",
        "declare `\\1`, or include what has it; docs/sfpi.md lists the library",
    ),
    (
        r"'([\w./]+)' file not found",
        "PL0151",
        "the C compiler says: '\\1' file not found",
        "give the folder of \\1 with -I",
    ),
    (r"'[^']*' is unavailable: (.*?)(?:: (compile for .*|shift .*|multiply .*|write .*))?$", "PL1261", "\\1", "\\2"),
)
