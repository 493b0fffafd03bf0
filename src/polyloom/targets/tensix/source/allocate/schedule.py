# SPDX-License-Identifier: Apache-2.0
"""List scheduling within blocks: what takes two cycles is followed by something that does not need it (Muchnick 1997,
section 17.1).

The order stays that of the program but where the next instruction would have to wait; then the first one behind it that
need not goes ahead. An instruction whose disabled lanes nobody needs may run with more lanes enabled: it may rise above
tests, and sink below what enables lanes again. Loads and stores of Dst keep their order unless both addresses are known
and differ; words of the source, and scalar code with effects, stay between what is around them. Latencies: ISA
documentation, page of `SFPMAD` and page of `SFPSHFT2`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.ir.ssa import Constant, Instruction, Operand, Value
from polyloom.targets.tensix.source.allocate.code import EXIT, RAW, Code, Item, Op, Register
from polyloom.targets.tensix.source.operations import called_operation
from polyloom.targets.tensix.words.decode import decode
from polyloom.targets.tensix.words.isa import Member

WINDOW: Final = 16
"""As many instructions an instruction may overtake: registers live longer by it."""
_ALL_LANES: Final = 10
_WIDE: Final = frozenset({3, 4, 10, 12})
"""Modes of SFPLOAD and SFPSTORE that take 32-bit rows; stores with 7 and 9 do, too."""


def schedule_code(code: Code, member: Member, apart: bool = False) -> Code:
    """Scheduled code. With `apart` nothing passes a word of the source, such as that of `dst_reg++`: pieces that repeat
    stay alike.
    """
    items = tuple(tuple(_schedule_block(found, member, apart)) for found in code.items)
    return replace(code, items=items)


def has_late_result(op: Op, member: Member) -> bool:
    """Whether the next instruction may not use the result."""
    if op.shape is RAW:
        return False  # a barrier anyway, and what stands behind it is looked at as words
    row = op.shape.row(member)
    shuffles = row.name == "SFPSHFT2" and op.immediate("instr_mod1") in (2, 3, 4)
    return shuffles or (row.hazard == "mad" and member == "wormhole")


def dependence_edges(items: Sequence[Item], member: Member) -> list[dict[int, int]]:
    """Dependence edges: by position the earlier ones that it must stay behind, each with the cycles that it takes."""
    return _Order(member).all(items)


def _schedule_block(items: Sequence[Item], member: Member, apart: bool) -> Iterator[Item]:
    before = _Order(member, apart).all(items)
    behind: list[list[tuple[int, int]]] = [[] for _ in items]
    waits = [len(found) for found in before]
    ready_at = [0] * len(items)
    for at, found in enumerate(before):
        for other, latency in found.items():
            behind[other].append((at, latency))
    done = [False] * len(items)
    first = cycle = 0
    while first < len(items):
        chosen = _pick_ready_instruction(first, waits, ready_at, done, cycle)
        done[chosen] = True
        cycle = max(cycle, ready_at[chosen])
        for other, latency in behind[chosen]:
            waits[other] -= 1
            # The cycle from which the instruction need not wait; until then others go ahead.
            ready_at[other] = max(ready_at[other], cycle + latency)
        # Scalar code runs on the core, beside the words that it has pushed.
        cycle += _takes_cycle(items[chosen])
        yield items[chosen]
        while first < len(items) and done[first]:
            first += 1


def _pick_ready_instruction(
    first: int, waits: Sequence[int], ready_at: Sequence[int], done: Sequence[bool], cycle: int
) -> int:
    """Ready instruction: the first that need not wait; if all must, the one that waits least."""
    best, soonest = first, -1
    for at in range(first, min(first + WINDOW, len(waits))):
        if done[at] or waits[at]:
            continue
        if ready_at[at] <= cycle:
            return at
        if soonest < 0 or ready_at[at] < soonest:
            best, soonest = at, ready_at[at]
    return best


def _takes_cycle(item: Item) -> int:
    return 1 if isinstance(item, Op) or _is_word(item) else 0


def _is_word(item: Instruction) -> bool:
    row = called_operation(item)
    return row is not None and row.name == "word"


@dataclass(slots=True)
class _Order:
    """Dependence graph under construction. Mutable: what the instructions so far leave for later ones to wait for.
    Edges are positions with latencies.
    """

    member: Member
    apart: bool = False
    edges: list[dict[int, int]] = field(default_factory=list[dict[int, int]])
    writer: dict[Register, tuple[int, int]] = field(default_factory=dict[Register, tuple[int, int]])
    readers: dict[Register, list[int]] = field(default_factory=dict[Register, list[int]])
    scalars: dict[str, int] = field(default_factory=dict[str, int])
    flag: int | None = None
    """The last instruction on flags or their stack."""
    hard: int | None = None
    """The last one that may have disabled lanes which were enabled, or the reverse, other than by a test."""
    exact: list[int] = field(default_factory=list[int])
    """What runs in just its lanes, since the last change of flags."""
    loose: list[int] = field(default_factory=list[int])
    """What needs no fewer lanes than those, since the last narrowing."""
    memory: list[tuple[int, Op]] = field(default_factory=list[tuple[int, Op]])
    counter: int | None = None
    drawn: int | None = None
    barrier: int | None = None
    levels: list[bool] = field(default_factory=lambda: [False])
    """By entry of the stack whether all lanes were enabled since."""

    def all(self, items: Sequence[Item]) -> list[dict[int, int]]:
        for at, item in enumerate(items):
            self.edges.append({})
            if isinstance(item, Op) and item.shape is RAW:
                self._add_register_edges(at, item)
                self._add_word(at, item.immediates[0])
                self._add_edge(at, self.barrier, 0)
            elif isinstance(item, Op) and item.shape.name != EXIT:
                self._add_op(at, item)
            elif isinstance(item, Op):
                self._add_barrier(at)
            else:
                self._add_scalar(at, item)
        return self.edges

    def _add_edge(self, at: int, other: int | None, latency: int = 1) -> None:
        if other is not None and other != at:
            self.edges[at][other] = max(self.edges[at].get(other, 0), latency)

    def _add_barrier(self, at: int) -> None:
        """Barrier: nothing passes."""
        for other in range(0 if self.barrier is None else self.barrier, at):
            self._add_edge(at, other)
        self.barrier = at

    def _add_scalar(self, at: int, item: Instruction) -> None:
        row = called_operation(item)
        for operand in item.operands:
            self._add_use(at, operand)
        for result in item.results:
            self.scalars[result.name] = at
        if row is not None and row.name == "word":
            self._add_word(at, item.operands[0])
        elif item.operation in ("load", "store", "call", "fence") and (row is None or row.group != "printing"):
            self._add_barrier(at)
        elif row is not None:
            self._add_edge(at, self.drawn, 0)
            self.drawn = at
        self._add_edge(at, self.barrier, 0)

    def _add_use(self, at: int, operand: Operand) -> None:
        if isinstance(operand, Value):
            self._add_edge(at, self.scalars.get(operand.name), 0)

    def _add_word(self, at: int, bits: Operand) -> None:
        """Raw word: only INCRWC is understood, it waits for accesses to Dst; any other is a barrier."""
        found = decode(bits.value & 0xFFFFFFFF, self.member) if isinstance(bits, Constant) else None
        if found is None or found.row.name != "INCRWC" or self.apart:
            self._add_barrier(at)
            return
        # INCRWC moves the addresses of all later accesses, which must not pass it in either direction.
        for other, _ in self.memory:
            self._add_edge(at, other)
        self._add_edge(at, self.counter)
        self.counter, self.memory = at, []

    def _add_op(self, at: int, op: Op) -> None:
        for value in op.immediates:
            self._add_use(at, value)
        self._add_edge(at, self.barrier)
        self._add_register_edges(at, op)
        self._add_flag_edges(at, op)
        name = op.shape.row_name
        if name in ("SFPLOAD", "SFPSTORE"):
            self._add_dst_edges(at, op)
        if name == "SFPSHFT2" or _draws_random(op):
            self._add_edge(at, self.drawn)
            self.drawn = at

    def _add_register_edges(self, at: int, op: Op) -> None:
        """Register dependences: true, output and anti-dependences, with the latency of the writer (Muchnick 1997,
        section 9.2).
        """
        for register in op.reads:
            if register in self.writer:
                self._add_edge(at, *self.writer[register])
        for register in op.writes:
            if register in self.writer:
                self._add_edge(at, *self.writer[register])
            for reader in self.readers.get(register, ()):
                self._add_edge(at, reader)
        latency = 2 if has_late_result(op, self.member) else 1
        for register in op.writes:
            self.writer[register], self.readers[register] = (at, latency), []
        for register in op.reads:
            self.readers.setdefault(register, []).append(at)

    def _add_flag_edges(self, at: int, op: Op) -> None:
        """Flag dependences: by what an instruction does to the lane flags, or needs of them."""
        kind = self._flag_effect(op)
        if kind == "none":
            return
        # It may pass tests, which only take lanes away that nobody needs of it.
        if kind == "loose":
            self._add_edge(at, self.hard)
            self.loose.append(at)
        elif kind == "exact":
            self._add_edge(at, self.flag)
            self.exact.append(at)
        elif kind == "push":
            self._add_edge(at, self.flag)
            # what it pushes is what is enabled: tests stay behind it, and it stays behind them
            self.flag = at
        else:
            # What narrows must not take lanes from what stands before it; what widens may be passed by loose ones.
            for other in (self.flag, *self.exact, *(self.loose if kind != "widen" else ())):
                self._add_edge(at, other)
            self.flag, self.exact = at, []
            self.loose = self.loose if kind == "widen" else []
            self.hard = self.hard if kind == "narrow" else at

    def _flag_effect(self, op: Op) -> str:
        """Flag effect as `_classify_flags` says; SFPPOPC gives lanes back, unless all were enabled since the push."""
        kind = _classify_flags(op)
        if kind == "push":
            self.levels.append(False)
        elif op.shape.row_name == "SFPENCC":
            self.levels[-1] = True
        elif op.shape.row_name == "SFPPOPC" and kind == "widen":
            was_wide = self.levels.pop() if len(self.levels) > 1 else self.levels[-1]
            return "change" if was_wide else kind
        return kind

    def _add_dst_edges(self, at: int, op: Op) -> None:
        self._add_edge(at, self.counter)
        for other, earlier in self.memory:
            if _may_alias(op, earlier):
                self._add_edge(at, other)
        if op.immediate("sfpu_addr_mode") not in (3, 7):
            for other, _ in self.memory:
                self._add_edge(at, other)
            self.counter, self.memory = at, []
        self.memory.append((at, op))


def _classify_flags(op: Op) -> str:
    """Class of an instruction by flags: `narrow`, `widen`, `change` and `push` of flags; else whether the lanes matter:
    `exact`, `loose`, `none`.
    """
    name, mode = op.shape.row_name, op.immediate("instr_mod1")
    match name:
        case "SFPSETCC":
            return "narrow"
        case "SFPIADD" if mode is not None and mode & 12 != 4:
            return "narrow"
        case "SFPEXEXP" if mode is not None and mode & 10:
            return "narrow"
        case "SFPENCC":
            return "widen"
        case "SFPPOPC" if mode == 0:
            return "widen"
        case "SFPPOPC" | "SFPCOMPC":
            return "change"
        case "SFPPUSHC":
            return "push"
        case _:
            return "none" if op.is_copy else "exact" if op.kept or not op.results or _draws_random(op) else "loose"


def _draws_random(op: Op) -> bool:
    name = op.shape.row_name
    if name == "SFP_STOCH_RND":
        return op.immediate("rnd_mode") == 1
    return op.shape.name == "SFPMOV.random" or (name == "SFPCAST" and op.immediate("instr_mod1") == 1)


def _may_alias(op: Op, earlier: Op) -> bool:
    """Alias test: whether the order of two accesses to Dst matters, as far as is known."""
    if op.shape.name == earlier.shape.name == "SFPLOAD":
        return False
    one, other = (each.immediate("dest_reg_addr") for each in (op, earlier))
    if one is None or other is None or _is_wide(op) is not _is_wide(earlier):
        return True
    # in the mode of spilling the counter chooses between the two halves of the rows
    is_spilled = any(each.immediate("instr_mod0") == _ALL_LANES for each in (op, earlier))
    return one >> 2 == other >> 2 if is_spilled else one == other


def _is_wide(op: Op) -> bool | None:
    """Whether rows are of 32 bits; None where the format of Dst decides (ISA documentation, page of `SFPLOAD`,
    modes)."""
    mode = op.immediate("instr_mod0")
    # Mode 0 is resolved by the configuration of Dst when the kernel runs.
    if mode == 0:
        return None
    return mode in _WIDE or (op.shape.name == "SFPSTORE" and mode in (7, 9))
