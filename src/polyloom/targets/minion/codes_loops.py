# SPDX-License-Identifier: Apache-2.0
"""Codes of SIMD loops on Minions: PL1350 to PL1369."""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "PL1350": (
        "equations without an order of loops",
        "Equations that are no product are executed as loops over their dimensions, in an order in which every value "
        "is there before it is read. The dependences of these equations need another order: one that is skewed.\n\n"
        "Write them so that all distances lead forwards in some order of the dimensions, each up or down; "
        "`x[i, j] = x[i-1, j+1] + x[i, j-1]` has one, `x[i-1, j+1] + x[i+1, j-2]` has none.",
    ),
    "PL1352": (
        "more values at once than registers",
        "A loop has so many local variables, or an expression is so deep, that the registers of a hart do not hold all "
        "values that live at once: 32 vector registers, some of which keep constants.\n\n"
        "Split the loop, and pass values from one to the next in an array.",
    ),
    "PL1353": (
        "what a minion's vectors lack",
        "Lanes of vectors have 32 bits: i8, i16, i32, u8, u16, bool and f32 are computed in them, and halves are "
        "loaded, stored and converted to f32 and back. f64, quotients of u32, and other conversions of u32 and of "
        "halves are refused.\n\n"
        "Use one of these types, or run the kernel on the array (`--on tcpa`), which has them.",
    ),
}
