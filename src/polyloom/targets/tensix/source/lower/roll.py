# SPDX-License-Identifier: Apache-2.0
"""Loop rerolling of a kernel that Python unrolled: copies of one body that follow one another become a loop (Stitt and
Vahid, New decompilation techniques for binary-level co-processor generation, 2005; LLVM's pass `loop-reroll`).

A block's instructions are periodic where each is the one of a period before it: the same operation, the same constants,
and operands that are the same value or are results of the same position, of this copy or of the one before. The latter
become parameters of the loop. What the last copy leaves is what the loop's body leaves; what it got from the one before
it is in the parameters. It comes after contraction,
which a loop would stop, and before registers are chosen; the longest saving comes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final

from polyloom.ir.ssa import (
    Block,
    Branch,
    Constant,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Value,
    integer_constant,
    replace_edges,
)
from polyloom.ir.ssa_types import I1, I32
from polyloom.ir.ssa_verify import uses
from polyloom.targets.tensix.source.operations import called_operation
from polyloom.transform.ssa.function_editing import names

REPLAY: Final = 0x04
_LEAST: Final = 6
"""So many instructions must go: a counter, an addition, a comparison and a branch come."""


@dataclass(frozen=True, slots=True)
class _Copies:
    """Copies of a body: from `start` on `count` of `period` instructions each."""

    start: int
    period: int
    count: int

    @property
    def saved(self) -> int:
        return self.period * (self.count - 1)


def roll_loops(function: Function) -> Function:
    """Function with loops in the place of copies, as long as there are any."""
    work, done = list(function.blocks), list[Block]()
    fresh = names(function)
    moved: dict[str, Operand] = {}
    while work:
        block = work.pop(0)
        used = {operand.name for other in (*done, *work) for operand in _used_values(other)}
        found = max(_find_copies(block, used), key=lambda copies: (copies.saved, -copies.start), default=None)
        if found is None:
            done.append(block)
            continue
        rolled, results = _roll_block(block, found, (fresh("loop"), fresh("rolled")), fresh("count"))
        # What comes before, in and behind the loop may hold others.
        work = [*rolled, *work]
        moved.update(results)
    return _rename_values(replace(function, blocks=tuple(done)), moved)


def _used_values(block: Block) -> Iterator[Value]:
    return (operand for _, group in uses(block) for operand in group if isinstance(operand, Value))


def _leaves_last(block: Block, copies: _Copies, used: Set[str]) -> bool:
    """Whether only the last copy's values are used behind the copies, and those that it has from the one before."""
    code, end = block.instructions, copies.start + copies.period * copies.count
    made = {result.name for i in code[copies.start : end - copies.period] for result in i.results}
    rest = {operand.name for operand in _used_values(replace(block, instructions=code[end:]))}
    return (made - {old.name for old, _ in _handed_results(code, copies)}).isdisjoint(used | rest)


def _handed_results(code: Sequence[Instruction], copies: _Copies) -> Iterator[tuple[Value, Value]]:
    """Results of the last copy but one that it hands to the last one, and the body's at the same place."""
    # Of two copies the first is the body, whose results mean those of the last iteration.
    if copies.count == 2:
        return
    end, period = copies.start + copies.period * copies.count, copies.period
    body, second = (code[n : n + period] for n in (copies.start, copies.start + period))
    handed = {operand.name for i in second for operand in i.operands if isinstance(operand, Value)}
    for i, old in zip(body, code[end - 2 * period : end - period], strict=True):
        yield from ((b, a) for a, b in zip(i.results, old.results, strict=True) if a.name in handed)


def _find_copies(block: Block, used: Set[str]) -> Iterator[_Copies]:
    code = block.instructions
    defined = {result.name: (k, n) for k, i in enumerate(code) for n, result in enumerate(i.results)}
    kinds = list(map(_instruction_kind, code))
    for period in range(1, len(code) // 2 + 1):
        start, alike = 0, 0
        for k in range(len(code) - period):
            alike = alike + 1 if kinds[k] == kinds[k + period] else 0
            # Operands are looked at only where as many kinds repeat, and once for the copies of one run.
            if alike < period or k - period + 1 < start:
                continue
            count = _count_copies(code, defined, k - period + 1, period)
            copies = _Copies(k - period + 1, period, count)
            if copies.saved >= _LEAST and _is_body(code[copies.start :][:period]) and _leaves_last(block, copies, used):
                yield copies
                start = copies.start + copies.saved


def _instruction_kind(instruction: Instruction) -> object:
    """Kind of an instruction: all but its values and its place."""
    constants = tuple(None if isinstance(operand, Value) else operand for operand in instruction.operands)
    return instruction.operation, instruction.callee, instruction.flags, instruction.access, constants


def _count_copies(code: Sequence[Instruction], defined: Mapping[str, tuple[int, int]], start: int, period: int) -> int:
    """Number of copies from an instruction on, the first included."""
    carried: dict[tuple[int, int], tuple[int, int] | None] = {}
    k = start + period
    while k < len(code) and _is_repeated(code, defined, carried, k, start, period):
        k += 1
    return (k - start) // period


def _is_repeated(
    code: Sequence[Instruction],
    defined: Mapping[str, tuple[int, int]],
    carried: dict[tuple[int, int], tuple[int, int] | None],
    k: int,
    start: int,
    period: int,
) -> bool:
    """Whether an instruction is that of a period before. `carried` has, by instruction of the body and operand, the
    place in the body of what the copy before hands over, None for an operand of this copy or of before the loop.
    """
    here, before = code[k], code[k - period]
    if _instruction_kind(here) != _instruction_kind(before):
        return False
    copy = start + (k - start) // period * period
    for n, (a, b) in enumerate(zip(here.operands, before.operands, strict=True)):
        key = (k - start) % period, n
        at = defined.get(a.name) if isinstance(a, Value) else None
        was = defined.get(b.name) if isinstance(b, Value) else None
        handed: tuple[int, int] | None = None
        if at is not None and at[0] >= copy:
            if was is None or (was[0] + period, was[1]) != at:
                return False
        elif at is not None and at[0] >= max(start, copy - period) and a != b:
            handed = at[0] - (copy - period), at[1]
            # The first copy has what was there before the loop, every other one what its predecessor left.
            if k >= start + 2 * period and (was is None or (was[0] + period, was[1]) != at):
                return False
            if k < start + 2 * period and was is not None and was[0] >= start:
                return False
        elif a != b or (at is not None and at[0] >= start):
            return False
        if carried.setdefault(key, handed) != handed:
            return False
    return True


def _is_body(code: Sequence[Instruction]) -> bool:
    """Whether instructions leave the regions as they were, and are no recording, whose length counts words."""
    depth = 0
    for instruction in code:
        row = called_operation(instruction)
        name = "" if row is None else row.name
        depth += {"push": 1, "pop": -1}.get(name, 0)
        if depth < 0 or (not depth and name in ("cond", "and_", "else_")):
            return False
        if name == "word" and not _is_known_word(instruction):
            return False
    return depth == 0


def _is_known_word(instruction: Instruction) -> bool:
    (word,) = instruction.operands
    return isinstance(word, Constant) and word.value >> 24 & 0xFF != REPLAY


def _roll_block(
    block: Block, copies: _Copies, labels: tuple[str, str], counter: str
) -> tuple[tuple[Block, Block, Block], Mapping[str, Operand]]:
    """Block before the loop, the loop, the block behind it, and what the last copy's values are called now."""
    code, start, period = block.instructions, copies.start, copies.period
    end = start + period * copies.count
    body, second, last = (
        code[start : start + period],
        code[start + period : start + 2 * period],
        code[end - period : end],
    )
    inside = {result.name for i in body for result in i.results}
    count, left, more = Value(counter, I32), Value(f"{counter}.left", I32), Value(f"{counter}.more", I1)
    parameters: dict[tuple[Operand, Operand], Value] = {}
    rolled: list[Instruction] = []
    for first, following in zip(body, second, strict=True):
        # A value of the first copy in the second one is handed over.
        operands = tuple(
            parameters.setdefault((a, b), Value(f"{counter}.{len(parameters)}", b.type))
            if isinstance(b, Value) and b.name in inside
            else a
            for a, b in zip(first.operands, following.operands, strict=True)
        )
        rolled.append(replace(first, operands=operands))
    place, (loop, behind) = body[0].place, labels
    step = (
        Instruction("sub", (count, integer_constant(I32, 1)), (left,), place=place),
        Instruction("ne", (left, integer_constant(I32, 0)), (more,), place=place),
    )
    enter = Edge(loop, (integer_constant(I32, copies.count), *(a for a, _ in parameters)))
    again = Edge(loop, (left, *(b for _, b in parameters)))
    blocks = (
        Block(block.name, block.parameters, code[:start], Jump(enter, place)),
        Block(loop, (count, *parameters.values()), (*rolled, *step), Branch(more, again, Edge(behind), place)),
        Block(behind, (), code[end:], block.terminator),
    )
    pairs = ((i.results, j.results) for i, j in zip(last, body, strict=True))
    moved: dict[str, Operand] = {old.name: new for olds, news in pairs for old, new in zip(olds, news, strict=True)}
    # The loop's parameters are what the last iteration got.
    got = {b: parameter for (_, b), parameter in parameters.items()}
    return blocks, moved | {old.name: got[new] for old, new in _handed_results(code, copies) if new in got}


def _rename_values(function: Function, moved: Mapping[str, Operand]) -> Function:
    def resolve(operand: Operand) -> Operand:
        while isinstance(operand, Value) and operand.name in moved:
            operand = moved[operand.name]
        return operand

    def edge(old: Edge) -> Edge:
        return Edge(old.block, tuple(map(resolve, old.arguments)))

    blocks = tuple(
        replace(
            block,
            instructions=tuple(replace(i, operands=tuple(map(resolve, i.operands))) for i in block.instructions),
            terminator=replace_edges(block.terminator, resolve, edge),
        )
        for block in function.blocks
    )
    return replace(function, blocks=blocks)
