# SPDX-License-Identifier: Apache-2.0
"""Codes of bare-metal C for minions: PL1372 to PL1375."""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "PL1372": (
        "a vector that no register of a Minion holds",
        "C programs compute with whole registers, `et_f32x8` and `et_i32x8` of <minion.h>, by its functions. Vector "
        "types of other sizes, and C's operators on vectors, become instructions that a Minion does not have.\n\n"
        "Write `et_f32x8 c = et_fadd_ps(a, b)`, and `et_load_f32x8` and `et_store_f32x8` for memory.",
    ),
    "PL1373": (
        "a C program that does not link",
        "A name that the program uses is defined in none of its files, or its code, data and stacks are more than "
        "the member's memory.\n\n"
        "Give all files of the program; there is no C library but what the compiler itself needs. `float` is computed "
        "by the hardware, and its quotients in software; `double` is not supported.",
    ),
    "PL1374": (
        "a source of an unknown kind",
        "`polyloom cc` knows by the ending of a name what a file is: `.c`, `.cc` and `.cpp`, and assembly `.s` and "
        "`.S`, which pass the C preprocessor.",
    ),
    "PL1375": (
        "an operand of an intrinsic that its instruction cannot hold",
        "Immediates, lanes, amounts of shifts and numbers of mask registers are bits of an instruction, so they are "
        "constants within the range that the message names.\n\n"
        "```c\nx = et_fswizz_ps(x, 0x1b);  // 0 to 255\net_mov_m_x(0, mask, 0);  // a variable mask\n```",
    ),
}
