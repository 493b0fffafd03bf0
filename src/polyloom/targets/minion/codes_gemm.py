# SPDX-License-Identifier: Apache-2.0
"""Codes of the Minion target that belong to compiled products and to the frame of compiled programs: PL1330 to PL1349,
in the form of `polyloom.codes.CODES`."""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "PL1330": (
        "arrays beyond DRAM",
        "All arrays lie in the 32 GiB of DRAM, each row at a multiple of 64 bytes. Give smaller sizes.",
    ),
    "PL1331": (
        "sum that cannot be split so",
        "`--split-k P` gives each of P minions a part of the sum: P is a power of two that divides the number of "
        "minions, and at\nmost the number of terms.",
    ),
    "PL1332": (
        "order of floats that has to be kept",
        "Splitting a sum changes the order in which floats are added. `--reassociate` (or `--fp reassociate`) allows "
        "it; sums of\nintegers need no flag.",
    ),
    "PL1333": (
        "broadcast of no split sum",
        "`--broadcast` gives the result of a split sum to all minions that share it. `--split-k P` splits a sum; for "
        "floats,\n`--reassociate` has to allow it.",
    ),
    "PL1335": (
        "array without elements",
        "Each extent of an array of a compiled program is at least 1.",
    ),
    "PL1338": (
        "operands beyond the scratchpads",
        "`--resident` keeps all operands and the result in the scratchpads of the shires that use them. Give smaller "
        "sizes, more\nminions, or a machine file with a larger `scratchpad_kib`.",
    ),
    "PL1339": (
        "program that cannot be resident",
        "`--resident` is for a program of one product, each block of which one minion computes.",
    ),
    "PL1336": (
        "phases behind a result with a bound",
        "Half-precision products and sums in another order are checked against a bound, which grows from product to "
        "product. Other\nphases have none: write them as programs of their own, or leave `--reassociate` out.",
    ),
    "PL1337": (
        "result beyond its bound",
        "An element of a result is further from that of double precision than the bound allows "
        "(docs/targets/minion.md).",
    ),
    "PL1341": (
        "rows too long for a convolution's masks",
        "At padded borders, `tensor_conv_size` and `tensor_conv_ctrl` have 15 bits for pixels of a row and 7 for the "
        "stride. Give rows of\nfewer than 32768 pixels, or an image that has its border.",
    ),
    "PL1342": (
        "loops for Erbium",
        "Kernels in Python, C and the equation language are compiled for ET-SoC-1. Erbium runs programs in C "
        "(`polyloom cc`) and\nassembly.",
    ),
}
