# SPDX-License-Identifier: Apache-2.0
"""Joint candidate choice of several phases: what is best for each alone may lay arrays out so differently that
transfers cost more.

From the best candidates one phase at a time takes another one that brings the sum of cycles and transfers down, until
none does (coordinate descent). A candidate that takes more cycles than all transfers can save is not looked at.
Transfers are counted element by element, so nothing is tried where arrays have more than `LARGE` of them, or where
transfers take less than `SMALL` of all cycles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from polyloom.targets.tcpa.run.bank_accesses import collect_accesses
from polyloom.targets.tcpa.run.phases.transfers import Touched, touched_elements, transfer_cycles
from polyloom.targets.tcpa.run.predict import predicted_cycles
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.concrete import Concrete
from polyloom.targets.tcpa.words.phases.stages import NamedStage

Shapes = Mapping[str, tuple[int, ...]]
LARGE = 1 << 18
SMALL = 1 / 8


@dataclass(frozen=True)  # without slots, which exclude cached properties
class Option:
    """A phase's concrete file with the names of its arrays."""

    stage: NamedStage

    @cached_property
    def _words(self) -> Concrete:
        return concrete_file.parse(self.stage.data)

    @cached_property
    def cycles(self) -> int:
        """Without transfers."""
        return predicted_cycles(self._words)

    @cached_property
    def touched(self) -> Touched:
        return touched_elements(self.stage, collect_accesses(self._words))


def choose_candidates(
    best: Sequence[Option], others: Callable[[int], Sequence[Option]], shapes: Shapes
) -> Sequence[Option]:
    """Coordinate descent over candidates: of each phase the option to take, the best one alone, or one of the `others`
    of this number. Arrays have these `shapes`.
    """
    if len(best) == 1 or sum(map(prod, shapes.values())) > LARGE:
        return best
    moved = _transfers(best, shapes)
    if moved < SMALL * (moved + sum(option.cycles for option in best)):
        return best
    # Each step lowers the total, which is an integer from 0 on: it ends.
    while (better := _better_choice(best, others, shapes)) is not None:
        best = better
    return best


def _better_choice(
    taken: Sequence[Option], others: Callable[[int], Sequence[Option]], shapes: Shapes
) -> Sequence[Option] | None:
    """`taken` with another option for one phase that costs less in total, if there is one."""
    moved = _transfers(taken, shapes)
    for n, own in enumerate(taken if moved else ()):
        for other in others(n):
            longer, changed = other.cycles - own.cycles, [*taken[:n], other, *taken[n + 1 :]]
            # Transfers saved are at most all transfers: a candidate that is slower by more cannot pay, and needs no
            # count.
            if longer < moved and other.stage != own.stage and longer + _transfers(changed, shapes) < moved:
                return changed
    return None


def _transfers(taken: Sequence[Option], shapes: Shapes) -> int:
    return sum(transfer_cycles((option.touched for option in taken), shapes))
