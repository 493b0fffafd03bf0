# SPDX-License-Identifier: Apache-2.0
"""Short forward branches: a branch over one simple instruction is one pseudo-instruction from selection to encoding, so
that nothing comes between.

Its mnemonic names both halves, `bne+sub`; its operands are the result, the same register once more, which holds what is
kept where the branch is taken, the two that are compared, and what the shadow reads. Result and kept value must be one
register after allocation; they are moves of one register before, and check.py verifies it. (LLVM calls the tuning
short-forward-branch-opt, review D135814, 2022.)
"""

from __future__ import annotations

from typing import Final

from polyloom.riscv.backend.code import JOINT, ZERO, Op, Operand, Reg

_DISTANCE: Final = 8
"""Of the branch, before the sizes of both halves are known."""


def pair(branch: Op, shadow: Op) -> Op:
    """Pair of `branch`, which compares two registers, and `shadow`, which writes the register that holds the kept
    value.
    """
    result, *read = shadow.operands
    # The result stands twice, as written and as read: where the branch is taken it keeps its old value.
    return Op(f"{branch.mnemonic}{JOINT}{shadow.mnemonic}", (result, result, *branch.operands[:2], *read), branch.place)


def halves(op: Op, distance: int = _DISTANCE) -> tuple[Op, Op]:
    """The branch, over `distance` bytes, and its shadow."""
    branch, _, shadow = op.mnemonic.partition(JOINT)
    result, _, a, b, *read = op.operands
    return Op(branch, (a, b, distance)), Op(shadow, (result, *read))


def is_pair(op: Op) -> bool:
    return JOINT in op.mnemonic


def copy_instruction(source: Operand, compressed: bool) -> tuple[str, tuple[Operand, ...]]:
    """Move as an instruction of the table, the one that has a compressed form."""
    return (
        ("add", (ZERO, source)) if compressed and isinstance(source, Reg) and source != ZERO else ("addi", (source, 0))
    )
