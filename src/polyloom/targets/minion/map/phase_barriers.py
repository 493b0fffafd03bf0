# SPDX-License-Identifier: Apache-2.0
"""Barrier placement between phases, by dependence analysis on whole arrays (flow, anti and output dependences;
Bernstein 1966), and on rows where shires own them (owner-computes rule: Rogers and Pingali, "Process decomposition
through locality of reference", 1989).

Shire n of a program whose rows are distributed has rows n · `shire_rows` and on of each array. Where both of two
phases access an array at the rows of their own shire only, minions of one shire meet, and shires do not wait for one
another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from polyloom.ir.plan import Phase
from polyloom.targets.minion.map.frame import Team

Scope = Literal["none", "shire", "chip"]
"""Who meets in front of a phase."""
_ALIGN: Final = 8
"""Rows of a shire are a multiple of it: fewer rows leave most of a shire idle."""


@dataclass(frozen=True, slots=True)
class Step:
    """Phases that are one piece of code: what each accesses at rows of its own shire only (`own`), by the program's
    names; `staged`: its second harts give and take credits; `buffer`: as of `Made`.
    """

    phases: tuple[Phase, ...]
    own: frozenset[str] = frozenset()
    staged: bool = False
    buffer: int | None = None


def distribute_rows(rows: int, team: Team) -> int:
    """Block distribution of so many rows: those of each shire."""
    return -(-rows // (team.shires * _ALIGN)) * _ALIGN


def shire_arrays(steps: Sequence[Step]) -> frozenset[str]:
    """Arrays that all phases access at rows of their own shire only."""
    touched = [(_written_names(phase) | _read_names(phase), step.own) for step in steps for phase in step.phases]
    return frozenset[str]().union(*(own for _, own in touched)) - frozenset[str]().union(
        *(names - own for names, own in touched)
    )


def place_barriers(steps: Sequence[Step], team: Team) -> list[Scope]:
    """Who meets in front of each step: before one that accesses what one since the last barrier writes, or writes what
    it accesses. Second harts, which may be phases ahead, meet those of their shire before and behind each phase that
    they stage operands for, whose credits are those of barriers.
    """
    # Those since the last barrier of the chip, and those since the last barrier of shires.
    pending, near, found = list[Step](), list[Step](), list[Scope]()
    for step in steps:
        is_apart = bool(near) and team.harts == 2 and any(each.staged for each in (*near, step))
        if any(_dependences(before, step) - (before.own & step.own) for before in pending):
            found.append("chip")
            pending, near = [step], [step]
            continue
        meets = is_apart or any(_dependences(before, step) or _overlap_buffers(before, step) for before in near)
        found.append("shire" if meets else "none")
        # A barrier orders all phases before it, so none of them can conflict with a later one any more.
        pending, near = [*pending, step], [step] if meets else [*near, step]
    return found


def _dependences(before: Step, step: Step) -> frozenset[str]:
    """Arrays with a flow, anti or output dependence."""
    found = frozenset[str]()
    for one in before.phases:
        for other in step.phases:
            found |= _written_names(one) & (_read_names(other) | _written_names(other)) | _read_names(
                one
            ) & _written_names(other)
    return found


def _overlap_buffers(before: Step, step: Step) -> bool:
    """Anti and output dependences through the scratchpad of the shire, whose first bytes each step has: what one minion
    stores there for a step another one may still load for the step before.
    """
    both = before.buffer, step.buffer
    return None not in both and (both[0] != both[1] or both[0] == 0)


def _written_names(phase: Phase) -> frozenset[str]:
    return frozenset(name for _, name in phase.outputs)


def _read_names(phase: Phase) -> frozenset[str]:
    return frozenset(name for _, name in phase.inputs)
