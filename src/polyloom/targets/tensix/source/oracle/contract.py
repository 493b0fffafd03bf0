# SPDX-License-Identifier: Apache-2.0
"""Contraction, as part of the meaning of a kernel: a float product whose only use is one + or − becomes a SFPMAD there.

In the order of the program: the first product that a sum can take, it takes. The sum must stand in the product's loop,
and in its condition region or one inside of it. a − b·c and −(a·b) negate the product's first operand, b·c − a the
other one. The interpreter does this by itself, apart from the compiler's pass (docs/sfpi.md); the C standard's section
6.5 permits contraction, here it is required, so that results are defined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from polyloom.analysis.loops import loop_forest
from polyloom.ir.ssa import (
    I32,
    Block,
    Constant,
    Function,
    Instruction,
    Operand,
    Value,
    successor_edges,
    terminator_operand,
)
from polyloom.ir.ssa import flow_edges as edges_between
from polyloom.targets.tensix.source.operations import PREFIX, VECTOR, called_operation
from polyloom.targets.tensix.source.regions import Path, Regions, analyze_regions

Spot = tuple[str, int]
_SUMS = ("sfpadd", "sfpsub", "sfpmov")


@dataclass(slots=True)
class _Body:
    """Instructions in work. Mutable: by block and position those that stand for the one that was there."""

    code: dict[Spot, list[Instruction]]
    made: int = 0

    def fresh(self, like: Value) -> Value:
        self.made += 1
        return Value(f"{like.name}.neg{self.made}", VECTOR)


def contract_products(function: Function) -> Function:
    """The function, and those that it calls, after contraction."""
    known = analyze_regions(function)
    body = _Body({(b.name, k): [i] for b in function.blocks for k, i in enumerate(b.instructions)})
    uses = Counter(operand for block in function.blocks for operand in _block_operands(block))
    users = _use_sites(function)
    loops = _innermost_loops(function)
    # A snapshot of the sites: the loop changes the code at them, but adds none.
    for spot in [spot for spot in body.code if spot in known.frames]:
        product = body.code[spot][-1]
        user = (
            users.get(product.results[0].name)
            if _is_operation(product, "sfpmul") and uses[product.results[0]] == 1
            else None
        )
        if user is None or user not in known.frames or loops[user[0]] != loops[spot[0]]:
            continue
        outer, inner = _region_path(known, spot), _region_path(known, user)
        made = _contract_sum(product, body.code[user], body) if inner[: len(outer)] == outer else None
        if made is not None:
            body.code[spot] = body.code[spot][:-1]
            body.code[user] = made
    return replace(function, blocks=tuple(_rebuild(block, body) for block in function.blocks))


def _region_path(known: Regions, spot: Spot) -> Path:
    """Path of a site through its frames: of each its number and the steps since the last `else_`."""
    frames = known.frames[spot]
    return tuple(step for f in frames for step in ((f.steps[0], *f.steps[f.arm :]) if f.arm else f.steps))


def _is_operation(instruction: Instruction, name: str) -> bool:
    """Whether an instruction is an operation in the mode that contracts: sums and products in mode 0, SFPMOV as a
    negation.
    """
    row = called_operation(instruction)
    if row is None or row.name != name:
        return False
    mode = instruction.operands[-1]
    wanted = 1 if name == "sfpmov" else 0
    return name == "sfpsub" or (isinstance(mode, Constant) and mode.value == wanted)


def _block_operands(block: Block) -> Iterator[Operand]:
    for instruction in block.instructions:
        yield from instruction.operands
    decided = terminator_operand(block.terminator)
    if decided is not None:
        yield decided
    for edge in successor_edges(block.terminator):
        yield from edge.arguments


def _use_sites(function: Function) -> Mapping[str, Spot]:
    """Use sites: by value a place among the instructions where it is used."""
    return {
        operand.name: (block.name, k)
        for block in function.blocks
        for k, instruction in enumerate(block.instructions)
        for operand in instruction.operands
        if isinstance(operand, Value)
    }


def _innermost_loops(function: Function) -> Mapping[str, int]:
    forest = loop_forest(len(function.blocks), edges_between(function))
    return {block.name: forest.innermost[k] for k, block in enumerate(function.blocks)}


def _contract_sum(product: Instruction, there: list[Instruction], body: _Body) -> list[Instruction] | None:
    """Instructions that take the place of a sum, or a negation, that uses the product; None for any other user."""
    total = there[-1]
    # A sum that has taken a product already has its negation in front; it takes no second one.
    if len(there) > 1 or not any(_is_operation(total, name) for name in _SUMS):
        return None
    value = product.results[0]
    a, b, _ = product.operands
    if _is_operation(total, "sfpmov"):
        negated, first = _negate(a, value, total, body)
        return [negated, _call(total, "sfpmul", first, b)]
    left, right = total.operands[:2]
    other = right if left == value else left
    if not _is_operation(total, "sfpsub"):
        return [_call(total, "sfpmad", a, b, other)]
    if left == value:
        negated, addend = _negate(other, value, total, body)
        return [negated, _call(total, "sfpmad", a, b, addend)]
    negated, first = _negate(a, value, total, body)
    return [negated, _call(total, "sfpmad", first, b, other)]


def _negate(operand: Operand, like: Value, at: Instruction, body: _Body) -> tuple[Instruction, Operand]:
    value = body.fresh(like)
    return replace(at, operands=(operand, Constant(I32, 1)), results=(value,), callee=f"@{PREFIX}sfpmov"), value


def _call(at: Instruction, name: str, *operands: Operand) -> Instruction:
    return replace(at, callee=f"@{PREFIX}{name}", operands=(*operands, Constant(I32, 0)))


def _rebuild(block: Block, body: _Body) -> Block:
    code = [i for k in range(len(block.instructions)) for i in body.code[block.name, k]]
    return replace(block, instructions=tuple(code))
