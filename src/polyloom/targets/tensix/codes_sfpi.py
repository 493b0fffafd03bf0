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
    "PL1281": (
        "conditions of a vector kernel that are nested too deeply",
        "The flags of lanes have a stack of eight entries. Each `v_if` and `v_block` within another takes one, and so "
        "does each `v_elseif`.",
    ),
    "PL1280": (
        "vector kernel with too many values",
        "A vector kernel has eight registers. The message stands where most values are live; the notes name them with "
        "their lines and\nuses, the help what costs least to change. `--spill ROW:ROW` puts values into rows of a "
        "32-bit Dst.",
    ),
    "PL1244": (
        "vector kernel that cannot be interpreted",
        "The kernel does what the interpreter of vector kernels does not know, or never ends.",
    ),
    "PL1250": (
        "vector condition in a Python condition",
        "`if`, `while`, `and`, `or` and `not` of Python are executed once, when a kernel is traced. Write `with "
        "pl.v_if(a < b):`, and combine\nconditions by `&`, `|` and `~`.",
    ),
    "PL1251": (
        "types of a vector expression",
        "Numbers become vectors where one is expected; a vector becomes none of another type by itself. "
        "`pl.tensix.as_(pl.vint, x)` takes the bits,\n`pl.tensix.convert` and `int_to_float` the values.",
    ),
    "PL1252": (
        "vector code out of place",
        "Vectors, `v_if` and its companions stand in functions under `@pl.tensix.kernel` or `@pl.tensix.function`, as "
        "`with pl.v_if(...):`,\n`with pl.v_elseif(...):`, `with pl.v_else:` and `with pl.v_block():`.",
    ),
    "PL1253": (
        "unknown row, register, layout or parameter of a vector kernel",
        "`dst` has rows 0 to 511, `pl.tensix.l_reg` eight registers, `pl.tensix.prgm` three. Parameters of a kernel "
        "behind `dst` are given by\nname.",
    ),
    "PL1254": (
        "vector kernel that cannot be traced",
        "Python executes the function of a kernel once, with vectors in the place of values; it raised an exception, "
        "or returned something.",
    ),
    "PL1260": (
        "region that is not closed",
        "Every `v_if` has its `v_endif;`, every `v_block` its `v_endblock;`, in the same block: their macros hold the "
        "braces.",
    ),
    "PL1261": (
        "function of another member",
        "Wormhole has no arithmetic shift, no random numbers, no SFPARECIP and no SFPMUL24: `--on tensix:blackhole` "
        "has.",
    ),
    "PL1262": (
        "condition outside of a region",
        "`v_and` narrows the `v_if` or `v_block` that it stands in; `v_elseif` and `v_else` continue a `v_if`.",
    ),
    "PL1263": (
        "condition by lane in a scalar place",
        "`if`, `while`, `for` and `?:` choose for all lanes at once. What lanes decide for themselves is `v_if`.",
    ),
    "PL1264": (
        "vector in memory",
        "Vectors live in registers; memory has none. An array of vectors is one only where every index is constant, "
        "once loops are unrolled.",
    ),
    "PL1265": (
        "function that is not inlined",
        "Vectors cannot be passed to a function that is called: everything becomes part of the kernel. Recursion and "
        "`noinline` prevent that.",
    ),
    "PL1266": (
        "scalar floating-point arithmetic at run time",
        "The cores compute with integers alone. A float argument can be put into a vector as it is; what is computed "
        "of floats must be constant, or\na vector.",
    ),
    "PL1267": (
        "kinds that do not fit",
        "Vectors of floats, integers and sign-and-magnitude numbers do not mix by themselves: `convert` keeps the "
        "value, `as` the bits.",
    ),
    "PL1268": (
        "no such function of a kernel",
        "`--function` takes a C++ expression, `ns::f<false, 8>`, or a call, `f(true)`. It is read behind the file. "
        "A template whose arguments all have defaults needs none.",
    ),
    "PL1269": (
        "definition that changes the headers",
        "`-D` replaces a name everywhere, in the headers of the vector library too, which do not compile with what it "
        "became.",
    ),
}
