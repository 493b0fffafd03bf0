# SPDX-License-Identifier: Apache-2.0
"""Register matching of repeated code: instructions that repeat but for their registers get those of the first copy, so
that replay finds equal words.

Replay records words, registers included, and allocation gives the copies of an unrolled loop others here and there. A
copy takes the registers of the first where each operand is the same value then, and where what lives behind the copy
stands where it stood. Values are numbered along both (value numbering, Muchnick 1997, section 12.4), which is all that
the check relies on.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from polyloom.targets.tensix.source.allocate.code import RAW, Code, Item, Op, Register
from polyloom.targets.tensix.source.allocate.interference import ALLOCATED, Bits, live_out_sets, walk_backwards
from polyloom.targets.tensix.source.allocate.replay import REPLAY, SLOTS
from polyloom.targets.tensix.source.operations import PREFIX

# Two words and the REPLAY that plays them save one push at most.
_SHORTEST: Final = 3
_LONGEST: Final = 400
"""Instructions of a block that is searched: every part of it is looked up."""
_ALL: Final[Bits] = (1 << ALLOCATED) - 1


def match_copies(code: Code, leaves_values: bool) -> Code:
    """Code with matched registers. `leaves_values` says that registers are read behind the kernel: at the end of a
    block all count as live.
    """
    # Registers that such a word reads are not known, so that none may be changed.
    if any(map(_is_unknown, (item for items in code.items for item in items))):
        return code
    more = _ALL if leaves_values else 0
    blocks = zip(code.items, live_out_sets(code), strict=True)
    return replace(code, items=tuple(_match_block(items, after | more) for items, after in blocks))


def _is_unknown(item: Item) -> bool:
    """Whether a word is computed at run time, which may read anything, or records or plays back what others write."""
    if not isinstance(item, Op):
        return item.called == f"{PREFIX}word"
    word = item.immediate("bits") if item.shape is RAW else None
    return word is not None and word >> 24 & 0xFF == REPLAY


def _match_block(items: tuple[Item, ...], after: Bits) -> tuple[Item, ...]:
    found = list(items)
    places = [k for k, item in enumerate(items) if isinstance(item, Op)]
    if len(places) > _LONGEST:
        return items
    kinds = _kind_numbers([op for k in places if isinstance(op := items[k], Op)])
    done = [False] * len(places)
    # Longest first: a long match makes the shorter ones within it superfluous.
    for length in range(min(SLOTS, len(places) // 2), _SHORTEST - 1, -1):
        for first, *others in _find_repeats(kinds, length):
            for copy in others:
                if not any(done[copy : copy + length]):
                    changed = _change_registers(
                        found, after, places[first : first + length], places[copy : copy + length]
                    )
                    done[copy : copy + length] = [changed] * length
    return tuple(found)


def _kind_numbers(ops: Sequence[Op]) -> tuple[int, ...]:
    """Numbers of instructions that are equal where they differ in registers at most."""
    numbers: dict[Hashable, int] = {}
    return tuple(numbers.setdefault(_kind(op), len(numbers)) for op in ops)


def _kind(op: Op) -> Hashable:
    """A word of the source has its registers in its bits."""
    registers = (op.results, op.operands, op.kept) if op.shape is RAW else len(op.kept)
    return op.shape.name, op.immediates, registers


def _find_repeats(kinds: tuple[int, ...], length: int) -> Iterator[list[int]]:
    """Repeated sequences of a length: where so many instructions stand several times; copies do not overlap."""
    places: dict[tuple[int, ...], list[int]] = {}
    for start in range(len(kinds) - length + 1):
        starts = places.setdefault(kinds[start : start + length], [])
        if not starts or starts[-1] + length <= start:
            starts.append(start)
    return (starts for starts in places.values() if len(starts) > 1)


def _change_registers(items: list[Item], after: Bits, first: Sequence[int], copy: Sequence[int]) -> bool:
    """Change of a copy to the registers of the first, where it may have them: whether both are the same now."""
    old = [op for k in copy if isinstance(op := items[k], Op)]
    new = [
        replace(op, results=like.results, operands=like.operands, kept=like.kept)
        for op, k in zip(old, first, strict=True)
        if isinstance(like := items[k], Op)
    ]
    # What is live behind the copy's last instruction has to stay in its register.
    alive = next(alive for k, _, alive in walk_backwards(items, after) if k == copy[-1])
    if new != old and not is_equivalent(old, new, alive):
        return False
    for k, op in zip(copy, new, strict=True):
        items[k] = op
    return True


def is_equivalent(old: Sequence[Op], new: Sequence[Op], alive: Bits) -> bool:
    """Equivalence by value numbering: whether both compute the same from the same, and leave it where it was as far as
    it is `alive`.
    """
    before, now = _Values(), _Values()
    for k, (a, b) in enumerate(zip(old, new, strict=True)):
        if [before.of(r) for r in a.reads] != [now.of(r) for r in b.reads]:
            return False
        before.write(a.writes, k)
        now.write(b.writes, k)
    return all(before.of(r) == now.of(r) for r in range(alive.bit_length()) if alive >> r & 1)


class _Values:
    """Value numbers of registers: what they held before, or a result of an instruction by position."""

    def __init__(self) -> None:
        self.held: dict[Register, tuple[int, int]] = {}

    def of(self, register: Register) -> tuple[int, int]:
        return self.held.get(register, (-1, register))

    def write(self, registers: Sequence[Register], position: int) -> None:
        self.held |= {register: (position, number) for number, register in enumerate(registers)}
