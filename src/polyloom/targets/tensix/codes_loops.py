# SPDX-License-Identifier: Apache-2.0
"""Codes of loops on a tile: PL1230 to PL1239, in the form of `polyloom.codes.CODES`."""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "PL1230": (
        "loops of a form that a tile does not take",
        "A tile takes products, `C[i, j] = sum over k of A[i, k] * B[k, j]` with the dimensions of its arrays in any "
        "order,\nelement-wise programs, and what can be cut into stages of these, one after another;\n"
        "and other nests in Python or C as vector code (docs/targets/tensix-loops.md).\nThe message says "
        "what this program lacks.",
    ),
    "PL1231": (
        "operation that a tile does not offer",
        "Element-wise programs add, subtract, multiply, compare and choose, and compute quotients, roots, exp, exp2, "
        "log, sin, cos and tanh of f32.\nIntegers have no quotients and remainders but those by constant powers of "
        "two;\nwrite others as a vector kernel (docs/sfpi.md).",
    ),
    "PL1232": (
        "format that does not fit the program",
        "`--format tf32`, `bf16` and `fp16` are for f32, `i8` is for i32 with a Dst of 32 bits. Products run on "
        "Wormhole. Integers of 8 and 16 bits in a program of f32 are carried as floats: what may wrap, or be above\n"
        "2^24, is refused.",
    ),
    "PL1233": (
        "arrays that L1 does not hold",
        "A product, with a formula of its sums or without one, has its arrays in DRAM where L1 does not hold them:\n"
        "then three rows of tiles along the sum must fit into L1, and all arrays into the 1 GiB of DRAM. Of other\n"
        "programs all arrays lie in L1 at once, as tiles of 32 x 32 with a header of 16 bytes: 4112 bytes of FP32,\n"
        "2064 of 16-bit formats, 1040 of i8. L1 has 1,474,544 bytes for them and for scalars. Programs of more than\n"
        "8192 bytes leave less, such as those of formulas of very many operations.",
    ),
    "PL1234": (
        "integer that i8 does not hold",
        "A tile's i8 has a sign and 7 bits of magnitude: -127 to 127.",
    ),
    "PL1235": (
        "error above its bound",
        "The result differs from the program's by more than format and fidelity explain (docs/targets/tensix.md). "
        "Values beyond the\nformat's range are what usually does that; TF32 has the range of f32.",
    ),
    "PL1236": (
        "program of a tile that does not end",
        "It has run for as many cycles as `--max-cycles` allows.",
    ),
    "PL1238": (
        "program that is not spread over a grid of tiles",
        "`--on tensix:wormhole:8x8` takes one product of two arguments (docs/targets/tensix-grid.md). Other programs "
        "run on one tile, with `--on tensix`.",
    ),
    "PL1237": (
        "size that is not positive in a program of several stages",
        "A program of several stages is cut for sizes of at least 1: what an empty loop leaves out is no stage.",
    ),
}
