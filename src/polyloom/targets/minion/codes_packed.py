# SPDX-License-Identifier: Apache-2.0
"""Codes of the Minion's notation: PL1370 to PL1379."""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    "PL1370": (
        "no tensor operation",
        "A line whose mnemonic begins with `tensor_` is a tensor operation in the notation that `polyloom show` "
        "prints. Its line says which operand is missing, wrong or left over.\n\n"
        "```\ntensor_load scp[0..15] from=a0 stride=256\ntensor_wait load0\n"
        "tensor_fma fp32 16x16x16 A=scp[0..15] B=scp[16..31] C=f0..f31 mul\n```\n\n"
        "Addresses and strides may be numbers, registers other than t5 and t6, or labels.",
    ),
    "PL1371": (
        "assembly without an instruction",
        "A program has to have at least one instruction, at which its harts start.\n\n"
        "Write code before `.data`; the smallest program that passes ends its hart:\n\n"
        "```\nli t0, 0x1feed000\ncsrw validation0, t0\n```",
    ),
}
