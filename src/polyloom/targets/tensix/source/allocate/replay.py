# SPDX-License-Identifier: Apache-2.0
"""Replay formation: words that repeat are recorded where they come first, and played back from then on (ISA
documentation, page of `REPLAY`).

A sequence is worth what its copies need not push any more, more in loops; the best comes first, while slots are free (a
greedy choice, as in dictionary compression of code). Where it stands first on every way to its copies it is recorded as
it executes, which never lengthens the program. Of a loop's body it is recorded before the loop, without being executed,
where that takes fewer cycles, or as many and fewer words. Slots that the source uses stay the source's, and what it
records is left alone; so is all, where a word that is computed may be a REPLAY.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from polyloom._native.graph import DominatorTree
from polyloom.analysis.loops import LoopForest, loop_forest
from polyloom.ir.ssa import Constant, Instruction, Operand, Value, flow_edges
from polyloom.targets.tensix.source.allocate.replay_costs import REPLAY, WHOLE_BUFFER, block_costs
from polyloom.targets.tensix.source.allocate.words import Line, Listing, Word, make_word
from polyloom.targets.tensix.source.operations import called_operation
from polyloom.targets.tensix.words.decode import decode

SLOTS: Final = 32


@dataclass(frozen=True, slots=True)
class Run:
    """A run of words of a block without anything between that must stay: their positions among its lines."""

    block: int
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Copy:
    """An occurrence: a part of a run."""

    run: int
    start: int


@dataclass(frozen=True, slots=True)
class Choice:
    """A candidate: a sequence of so many words, with its worth. `before` is the block at whose end it is recorded, None
    where its first copy is recorded as it executes.
    """

    worth: int
    length: int
    copies: tuple[Copy, ...]
    before: int | None


def insert_replays(listing: Listing) -> Listing:
    """Listing with REPLAY words."""
    start, length = _free_slots(listing)
    while length > 1:
        chosen = _Search(listing, length).best()
        if chosen is None:
            break
        listing = _apply_choice(listing, chosen, start)
        # Each sequence has slots of its own, so that it stays recorded to the end of the kernel.
        start, length = start + chosen.length, length - chosen.length
    return listing


def _free_slots(listing: Listing) -> tuple[int, int]:
    """Longest run of slots that the source does not use."""
    if any(_recording_overruns(lines, listing) for lines in listing.lines):
        return 0, 0
    used = [False] * SLOTS
    defined = {
        result.name: line
        for lines in listing.lines
        for line in lines
        if isinstance(line, Instruction)
        for result in line.results
    }
    for line in (line for lines in listing.lines for line in lines if isinstance(line, Word) and line.is_raw):
        opcode = line.bits >> 24 if line.is_known else _word_opcode(line.parts[0].value, defined)
        # A word that may be a REPLAY can record anywhere: then no slot is safe.
        if opcode is None or (opcode == REPLAY and not line.is_known):
            return 0, 0
        found = decode(line.bits, listing.member) if opcode == REPLAY else None
        if found is not None:
            first = found.values["start_idx"]
            for slot in range(first, first + (found.values["len"] or WHOLE_BUFFER)):
                used[slot % SLOTS] = True
    best = (0, 0)
    for first in range(SLOTS):
        length = next((k for k in range(SLOTS - first) if used[first + k]), SLOTS - first)
        best = (first, length) if length > best[1] else best
    return best


def _recording_overruns(lines: Sequence[Line], listing: Listing) -> bool:
    """Whether the source records more words than its block has."""
    recorded = 0
    for line in lines:
        if isinstance(line, Word):
            recorded = recorded - 1 if recorded else _recording_length(line, listing)
    return recorded > 0


def _word_opcode(operand: Operand, defined: dict[str, Instruction]) -> int | None:
    """Opcode of a word that is put together of a constant and fields; None where it is not clear."""
    found = defined.get(operand.name) if isinstance(operand, Value) else None
    if found is None or found.operation not in ("or", "add"):
        return None
    for part in found.operands:
        if isinstance(part, Constant) and part.value >> 24:
            return part.value >> 24 & 0xFF
    return next(filter(None, (_word_opcode(part, defined) for part in found.operands)), None)


class _Search:
    """Search for repeated sequences in a listing, over runs of words."""

    def __init__(self, listing: Listing, most: int) -> None:
        function = listing.function
        self.listing, self.most = listing, min(most, SLOTS)
        self.runs = list(_word_runs(listing))
        self.tokens = [
            tuple(line.bits for k in run.lines if isinstance(line := listing.lines[run.block][k], Word))
            for run in self.runs
        ]
        edges = flow_edges(function)
        forest = loop_forest(len(function.blocks), edges)
        self.tree = DominatorTree(len(function.blocks), edges, 0, 2)
        self.costs = block_costs(listing, forest)
        self.preheaders = _preheaders(listing, forest)

    def best(self) -> Choice | None:
        best: Choice | None = None
        for n, copies in self._find_repeats():
            if best is not None and self._saved_pushes(copies, n) <= best.worth:
                continue  # recording costs something, so that none of its choices is worth as much
            apart = list(_non_overlapping(copies, n))
            for choice in (*self._inline_choices(apart, n), *self._preheader_choices(apart, n)):
                if choice.worth > 0 and (best is None or (choice.worth, choice.length) > (best.worth, best.length)):
                    best = choice
        return best

    def _find_repeats(self) -> Iterator[tuple[int, list[Copy]]]:
        """Repeated sequences: lengths, and where the same words stand. A sequence is that of one word less, by its
        number, and a word (Karp, Miller and Rosenberg 1972): places where that one neither repeats nor stands in a loop
        are left out from then on.
        """
        firsts: dict[int, int] = {}
        found = [
            (Copy(number, start), firsts.setdefault(token, len(firsts)))
            for number, tokens in enumerate(self.tokens)
            for start, token in enumerate(tokens)
        ]
        for n in range(2, self.most + 1):
            places: dict[tuple[int, int], list[Copy]] = {}
            for copy, shorter in found:
                tokens = self.tokens[copy.run]
                if copy.start + n <= len(tokens):
                    places.setdefault((shorter, tokens[copy.start + n - 1]), []).append(copy)
            groups = [c for c in places.values() if len(c) > 1 or self.preheaders[self._block(c[0])]]
            yield from ((n, copies) for copies in groups)
            found = sorted(
                ((copy, k) for k, copies in enumerate(groups) for copy in copies),
                key=lambda place: (place[0].run, place[0].start),
            )

    def _block(self, copy: Copy) -> int:
        return self.runs[copy.run].block

    def _dominates(self, above: int, below: int) -> bool:
        """Dominance by the interval of a block in the preorder of the dominator tree."""
        at, size = self.tree.position, self.tree.size
        return at[above] >= 0 and at[above] <= at[below] < at[above] + size[above]

    def _saved_pushes(self, copies: Sequence[Copy], n: int) -> int:
        return sum((n - 1) * self.costs[self._block(copy)].runs for copy in copies)

    def _inline_choices(self, copies: Sequence[Copy], n: int) -> Iterator[Choice]:
        if len(copies) < 2:
            return
        first, *others = copies
        # Playback is right only where the recording was executed on every way.
        below = [copy for copy in others if self._dominates(self._block(first), self._block(copy))]
        worth = self._saved_pushes(below, n) - self.costs[self._block(first)].runs
        yield Choice(worth, n, (first, *below), None)

    def _preheader_choices(self, copies: Sequence[Copy], n: int) -> Iterator[Choice]:
        for before in dict.fromkeys(b for copy in copies for b in self.preheaders[self._block(copy)]):
            below = [c for c in copies if self._dominates(before, self._block(c)) and self._block(c) != before]
            recording = n + 1
            worth = self._saved_pushes(below, n) - recording * self.costs[before].runs
            shorter = len(below) * (n - 1) - recording
            if (self._saved_cycles(below, n) - recording * self.costs[before].runs, shorter) > (0, 0):
                yield Choice(worth, n, tuple(below), before)

    def _saved_cycles(self, copies: Sequence[Copy], n: int) -> int:
        counts = Counter(self._block(copy) for copy in copies)
        return sum(self.costs[block].saved_cycles(count * (n - 1)) for block, count in counts.items())


def _non_overlapping(copies: Sequence[Copy], n: int) -> Iterator[Copy]:
    """Occurrences that do not overlap, from the first on."""
    last: Copy | None = None
    for copy in copies:
        if last is None or copy.run != last.run or copy.start >= last.start + n:
            yield copy
            last = copy


def _word_runs(listing: Listing) -> Iterator[Run]:
    """Runs of constant words; scalar code without effects may stand between them."""
    recorded = 0
    for block, lines in enumerate(listing.lines):
        found: list[int] = []
        for k, line in enumerate(lines):
            if isinstance(line, Word) and not recorded and _is_recordable(line):
                found.append(k)
            # A computed word cannot be recorded, and an effect of scalar code must keep its place among the words.
            elif isinstance(line, Word) or _has_effect(line):
                yield Run(block, tuple(found))
                found = []
            if isinstance(line, Word):
                recorded = recorded - 1 if recorded else _recording_length(line, listing)
        yield Run(block, tuple(found))


def _is_recordable(line: Word) -> bool:
    return not line.parts and line.bits >> 24 != REPLAY


def _recording_length(line: Word, listing: Listing) -> int:
    """Length of a recording: as many words from here on the source, or this pass, records."""
    if line.parts or line.bits >> 24 != REPLAY:
        return 0
    found = decode(line.bits, listing.member)
    if found is None or not found.values["load_mode"]:
        return 0
    return found.values["len"] or WHOLE_BUFFER


def _has_effect(line: Line) -> bool:
    row = called_operation(line) if isinstance(line, Instruction) else None
    return isinstance(line, Instruction) and line.operation in ("call", "store", "load", "fence") and row is None


def _preheaders(listing: Listing, forest: LoopForest) -> list[tuple[int, ...]]:
    """Preheaders: by block of each loop around it the only block from which that is entered (Muchnick 1997, section
    7.4).
    """
    found: list[list[int]] = [[] for _ in listing.function.blocks]
    edges = [(int(a), int(b)) for a, b in flow_edges(listing.function)]
    for number, loop in enumerate(forest.loops):
        inside = set(forest.members(number))
        entries = {a for a, b in edges if b in inside and a not in inside}
        if len(entries) == 1 and not loop.irreducible:
            for block in inside:
                found[block] += entries
    return [tuple(blocks) for blocks in found]


def _apply_choice(listing: Listing, chosen: Choice, start: int) -> Listing:
    """Listing with the sequence in the slots from `start` on."""
    runs = list(_word_runs(listing))
    replaced: dict[tuple[int, int], Word | None] = {}
    first, *others = chosen.copies if chosen.before is None else (None, *chosen.copies)
    # One word of playback takes the place of a whole copy.
    played = _replay(listing, start, chosen.length, "played back")
    for copy in others:
        run = runs[copy.run]
        lines = run.lines[copy.start : copy.start + chosen.length]
        replaced |= {(run.block, k): None for k in lines} | {(run.block, lines[0]): played}
    heads: dict[tuple[int, int], Word] = {}
    tail: tuple[Word, ...] = ()
    if first is not None:
        at = runs[first.run].lines[first.start]
        heads[runs[first.run].block, at] = _replay(listing, start, chosen.length, "recorded here", load=1, executes=1)
    else:
        run = runs[chosen.copies[0].run]
        lines = run.lines[chosen.copies[0].start : chosen.copies[0].start + chosen.length]
        body = [line for k in lines if isinstance(line := listing.lines[run.block][k], Word)]
        tail = (_replay(listing, start, chosen.length, "recorded before the loop", load=1), *body)
    return listing.with_lines(
        (*_rewrite_block(block, lines, heads, replaced), *(tail if block == chosen.before else ()))
        for block, lines in enumerate(listing.lines)
    )


def _rewrite_block(
    block: int, lines: Sequence[Line], heads: dict[tuple[int, int], Word], replaced: dict[tuple[int, int], Word | None]
) -> Iterator[Line]:
    for k, line in enumerate(lines):
        if (block, k) in heads:
            yield heads[block, k]
        found = replaced.get((block, k), line)
        if found is not None:
            yield found


def _replay(listing: Listing, start: int, length: int, note: str, load: int = 0, executes: int = 0) -> Word:
    return make_word(
        "REPLAY",
        listing.member,
        f"{length} words {note}",
        start_idx=start,
        len=length,
        load_mode=load,
        execute_while_loading=executes,
    )
