# SPDX-License-Identifier: Apache-2.0
"""Dominance of definitions over uses in regions of one block: an operation sees the values of operations before it, in
its block and in the blocks around it, and the arguments of these blocks (MLIR language reference, Regions).
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, SSAValue

from polyloom.frontend.mlir.verify.violation import Violation

_HELP = "move the definition before it, into the same region or one around it; a loop passes values on by `iter_args`"


def dominance_violations(function: Operation) -> Iterator[Violation]:
    """Uses that the definition of a value does not dominate."""
    # In one block an operation dominates those behind it: positions in the text's order decide (Cooper, Harvey and
    # Kennedy 2001 for the general case, which structured regions do not need).
    position = {operation: n for n, operation in enumerate(function.walk())}
    for operation in function.walk():
        for value in operation.operands:
            if not _dominates(value, operation, position):
                name = f"%{value.name_hint}" if value.name_hint else f"a value of the type {value.type}"
                yield Violation(operation, f"{name} is used where it is not defined yet", help=_HELP)


def _dominates(value: SSAValue, operation: Operation, position: dict[Operation, int]) -> bool:
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    around = None if block is None else block.find_ancestor_op_in_block(operation)
    if around is None:
        return False
    # An operation does not see its own results in its regions.
    return isinstance(owner, Block) or position[owner] < position[around]
