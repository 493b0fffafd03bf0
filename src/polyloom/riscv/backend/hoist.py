# SPDX-License-Identifier: Apache-2.0
"""Constants out of loops: what is made of the zero register alone is made before the outermost loop around it.

That is the end of the one block that enters the loop from outside. Registers are few: at most `MOST` constants per loop
move, and none where the loop calls, across which fewer are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from polyloom.analysis.loops import loop_forest
from polyloom.riscv.backend.code import ENDS, Block, Code, Op, Reg, registers, renamed, successors

MOST: Final = 6
_MAKERS: Final = ("addi", "addiw", "lui", "slli", "fmv.w.x", "fmv.d.x", "fcvt.d.w")


def hoisted(code: Code) -> Code:
    """The code with constants of loops before them."""
    follow = successors(code)
    edges = np.array([(k, target) for k, targets in enumerate(follow) for target in targets], np.int32).reshape(-1, 2)
    forest = loop_forest(len(code.blocks), edges)
    blocks = list(code.blocks)
    for number, loop in enumerate(forest.loops):
        members = forest.members(number)
        inside = {int(k) for k in members}
        entering = [
            k for k, targets in enumerate(follow) if k not in inside and inside.intersection(targets)
        ]  # an irreducible loop has several
        calls = any(op.mnemonic == "call" for k in members for op in blocks[k].ops)
        # Only outermost loops: what leaves them leaves the inner ones too. A call would force the constants into saved
        # registers.
        if loop.parent == -1 and len(entering) == 1 and not calls:
            _move(code, blocks, members, entering[0])
    return replace(code, blocks=tuple(blocks))


def _move(code: Code, blocks: list[Block], members: Sequence[int], entering: int) -> None:
    several = _defined_again(code, blocks)
    moved: dict[Op, Reg] = {}
    names: dict[Reg, Reg] = {}
    for k in members:
        kept: list[Op] = []
        for op in blocks[k].ops:
            named = renamed(op, lambda r: names.get(r, r))
            defined, used = registers(named, code.isa)
            key = Op(named.mnemonic, named.operands[1:])
            # The sources of a constant are constants themselves: `lui` and `addi` move together or not at all.
            is_constant = (
                op.mnemonic in _MAKERS and len(defined) == 1 and defined[0].is_virtual and defined[0] not in several
            )
            if is_constant and all(r in moved.values() for r in used) and (key in moved or len(moved) < MOST):
                names[defined[0]] = moved.setdefault(key, defined[0])
            else:
                kept.append(named)
        blocks[k] = Block(blocks[k].name, tuple(kept))
    made = tuple(Op(key.mnemonic, (register, *key.operands)) for key, register in moved.items())
    before = blocks[entering].ops
    end = next(i for i, op in enumerate(before) if op.mnemonic in ENDS)
    blocks[entering] = Block(blocks[entering].name, (*before[:end], *made, *before[end:]))
    for k, block in enumerate(blocks):
        blocks[k] = Block(block.name, tuple(renamed(op, lambda r: names.get(r, r)) for op in block.ops))


def _defined_again(code: Code, blocks: Sequence[Block]) -> set[Reg]:
    """The registers with several definitions."""
    seen, found = set[Reg](), set[Reg]()
    for register in _definitions(code, blocks):
        (found if register in seen else seen).add(register)
    return found


def _definitions(code: Code, blocks: Sequence[Block]) -> Iterator[Reg]:
    return (r for b in blocks for op in b.ops for r in registers(op, code.isa)[0])
