# SPDX-License-Identifier: Apache-2.0
"""Automatic tile size selection (Coleman and McKinley, "Tile size selection using cache organization and data layout",
1995; here by instantiation, not by a formula): blocks for a nest that does not fit a machine at some sizes.

Loops are cut level by level, the outermost ones first: cutting these alone is always legal. Sizes of a level are
halves, quarters and so on of the loops' extents. Where FIFOs or banks are short, large blocks go first; where control
signals or instruction words are, small ones do, for these grow with the cases that a block has. Of the blocks that fit,
those that take the fewest cycles are chosen. Blocks of a few outer iterations use an input once that blocks of all
loops use often. So where transfers count, or nothing fits, all loops are halved until a block fits, and blocks are
doubled along one depth after another as long as that is faster (hill climbing).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Final

from polyloom.diagnostics import INFEASIBLE, PolyloomError
from polyloom.ir.nest import Loop, Nest, Node
from polyloom.sets import Affine

SHORT_OF_CASES: Final = frozenset({"PL0513", "PL0514", "PL0516"})
"""Control signals, their sets, instruction words: what distinguishes iterations."""
SHORT_OF_ROOM: Final = frozenset({"PL0511", "PL0515", "PL0517", "PL0519", "PL0520"})
"""FIFOs, counters, channels, delays, banks."""
ILLEGAL: Final = frozenset({"PL0265", "PL0266", "PL0267"})
_TRIES: Final = 48
"""Block sizes that are tried."""
_PATIENCE: Final = 3
"""Tries without a better one after which no more are made."""
Sizes = Mapping[str, int]
Attempt = Callable[[Sizes], int]
"""Cycles of a run in blocks of these sizes. Errors: those of a compilation and of an instantiation."""


@dataclass(frozen=True, slots=True)
class LoopExtent:
    """A loop of a nest: how many loops are around it, and how many iterations it has at the most."""

    name: str
    depth: int
    extent: int


def choose_blocks(loops: Sequence[LoopExtent], code: str, attempt: Attempt, enough: int | None = None) -> Sizes | None:
    """Block sizes by loop, for a nest that is refused with `code`; None where no blocks fit that are tried. If `enough`
    cycles are given, all loops are cut first, and fewer only where this takes more.
    """
    search = _Search(attempt, code in SHORT_OF_CASES)
    if enough is not None and loops:
        search.climb(loops)
        if search.best is not None and search.best[0] <= enough:
            return search.best[1]
    search.search_levels(loops)
    if search.best is None and enough is None and loops and code in SHORT_OF_ROOM:
        # Large nests take more halvings than tries.
        search.left = _TRIES
        search.climb(loops)
    return None if search.best is None else search.best[1]


def minimum_cycles(loops: Sequence[LoopExtent], elements: int) -> int:
    """Least cycles of loops, each inside those before it, if an element begins an iteration in every cycle."""
    deepest = max((loop.depth for loop in loops), default=0)
    by_depth = [max(loop.extent for loop in loops if loop.depth == depth) for depth in range(deepest + 1)]
    return -(-prod(by_depth) // elements)


@dataclass
class _Search:
    """Search state: the best sizes so far, and how many tries are left. Mutable."""

    attempt: Attempt
    small_first: bool
    best: tuple[int, Sizes] | None = None
    left: int = _TRIES
    illegal: set[frozenset[tuple[str, bool]]] = field(default_factory=set[frozenset[tuple[str, bool]]])
    """Loops of which some size changed what is computed, each with whether it was a single iteration."""

    def search_levels(self, loops: Sequence[LoopExtent]) -> None:
        """Search of the outermost loops alone, then of more, until some blocks fit."""
        for depth in range(1 + max((loop.depth for loop in loops), default=-1)):
            level = [loop for loop in loops if loop.depth <= depth]
            found = self.best
            self.search_sizes(_list_sizes(level, self.small_first))
            if self.best is not found and self.best is not None:
                self.search_sizes(_list_larger(level, self.best[1]))
            if self.best is not None:
                return

    def search_sizes(self, candidates: Iterable[Sizes]) -> None:
        failures = 0
        for sizes in candidates:
            if not self.left or failures >= _PATIENCE:
                return
            # Legality depends on which loops are cut, not on sizes, except for those of one iteration.
            if _kinds(sizes) in self.illegal:
                continue
            self.left -= 1
            cycles = self.predict_cycles(sizes)
            if cycles is None and self.small_first and _kinds(sizes) not in self.illegal:
                # Larger blocks have more cases still.
                return
            if cycles is not None and (self.best is None or cycles < self.best[0]):
                self.best, failures = (cycles, sizes), 0
            elif self.best is not None:
                failures += 1

    def climb(self, loops: Sequence[LoopExtent]) -> None:
        """Hill climbing: from the largest blocks that fit with all loops halved equally often, to those with twice as
        many iterations along one depth that take fewer cycles.
        """
        for halvings in range(1, max(loop.extent for loop in loops).bit_length() + 1):
            found = self.try_sizes({loop.name: -(-loop.extent >> halvings) for loop in loops})
            if found is not None:
                break
        else:
            return
        # The innermost loop first: its blocks use again what an element holds.
        depths = sorted({loop.depth for loop in loops}, reverse=True)
        while (better := self._double_blocks(loops, found, depths)) is not None:
            found = better

    def _double_blocks(
        self, loops: Sequence[LoopExtent], found: tuple[int, Sizes], depths: Sequence[int]
    ) -> tuple[int, Sizes] | None:
        for depth in depths:
            doubled = {loop.name: min(2 * found[1][loop.name], loop.extent) for loop in loops if loop.depth == depth}
            if doubled.items() <= found[1].items():
                continue
            made = self.try_sizes({**found[1], **doubled})
            if made is not None and made[0] < found[0]:
                return made
        return None

    def try_sizes(self, sizes: Sizes) -> tuple[int, Sizes] | None:
        """Cycles in blocks of these sizes, with the sizes; None where they do not fit, or nothing more is tried."""
        if not self.left or _kinds(sizes) in self.illegal:
            return None
        self.left -= 1
        cycles = self.predict_cycles(sizes)
        if cycles is None:
            return None
        if self.best is None or cycles < self.best[0]:
            self.best = cycles, sizes
        return cycles, sizes

    def predict_cycles(self, sizes: Sizes) -> int | None:
        """Cycles in blocks of these sizes; None where they do not fit, or are not legal."""
        try:
            return self.attempt(sizes)
        except PolyloomError as error:
            if error.code in ILLEGAL:
                self.illegal.add(_kinds(sizes))
            elif error.exit_code != INFEASIBLE:
                raise
        return None


def _kinds(sizes: Sizes) -> frozenset[tuple[str, bool]]:
    return frozenset((name, size == 1) for name, size in sizes.items())


def _list_sizes(loops: Sequence[LoopExtent], small_first: bool) -> Iterator[Sizes]:
    """Block sizes of the loops: those of one depth are halved equally often; by the number of halvings in all."""
    depths = sorted({loop.depth for loop in loops})
    most = [max(loop.extent - 1 for loop in loops if loop.depth == depth).bit_length() for depth in depths]
    vectors = sorted(product(*(range(n + 1) for n in most)), key=lambda v: (sum(v), v), reverse=small_first)
    seen = list[Sizes]()
    for vector in vectors:
        halvings = dict(zip(depths, vector, strict=True))
        sizes = {loop.name: max(1, -(-loop.extent >> halvings[loop.depth])) for loop in loops}
        # No halving at all is the nest that was refused.
        if sum(vector) and sizes not in seen:
            seen.append(sizes)
            yield sizes


def _list_larger(loops: Sequence[LoopExtent], sizes: Sizes) -> Iterator[Sizes]:
    """Block sizes that are larger along one depth, by less than twice: there are as few blocks as may fit."""
    for depth in sorted({loop.depth for loop in loops}):
        for more in (4, 2):
            larger = {n: sizes[n] + sizes[n] // more for n in (loop.name for loop in loops if loop.depth == depth)}
            if larger.items() - sizes.items():
                yield {**sizes, **larger}


def list_extents(nest: Nest, values: Mapping[str, int]) -> tuple[LoopExtent, ...]:
    """Extents of all loops, outermost first, at these values of parameters, by interval arithmetic."""
    return tuple(_extents(nest.body, {name: (value, value) for name, value in values.items()}, 0))


_Ranges = dict[str, tuple[int, int]]


def _extents(nodes: Sequence[Node], ranges: _Ranges, depth: int) -> Iterator[LoopExtent]:
    for node in nodes:
        if not isinstance(node, Loop):
            continue
        # Too large an extent only adds candidates that instantiation refuses.
        first = max(_minimum_value(form, ranges) for form in node.lower)
        last = min(-_minimum_value(form * -1, ranges) for form in node.upper) - 1
        yield LoopExtent(node.name, depth, max(1, last - first + 1))
        yield from _extents(node.body, {**ranges, node.name: (first, max(first, last))}, depth + 1)


def _minimum_value(form: Affine, ranges: _Ranges) -> int:
    """Least value of a form where its symbols are within ranges."""
    return form.constant + sum(min(c * end for end in ranges[name]) for name, c in form.terms)
