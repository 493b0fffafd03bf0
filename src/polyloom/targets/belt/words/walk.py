# SPDX-License-Identifier: Apache-2.0
"""Abstract interpretation of bundles: what they do to belt, scratch and stations whatever the data are, one bundle at a
time, by the words alone (Cousot and Cousot 1977).

`step` takes a `State` before a bundle and gives what was seen in it and every state that may follow (docs/formats.md,
Order of drops). It is written from the page, not from the model, and shares nothing with the specializer: `verify`, the
listing and the timeline stand on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from polyloom.targets.belt.isa import MANY, OPS, Phase, predicate_count
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.value_types import BYTES
from polyloom.targets.belt.words.program import NONE, Immediate, Issue, Operand, Program, Routine
from polyloom.targets.belt.words.shapes import IMMEDIATE, NOTHING, Item, clashes, make_item, results

Key = tuple[int, ...]
"""The order of drops: latency, slot, result."""


class Due(NamedTuple):
    """Result under way: it drops in the bundle that finds `left` 1."""

    left: int
    key: Key
    item: Item
    is_load: bool = False


class Scratch(NamedTuple):
    """Scratch state: what scratchf allocated, and what was spilled in the bundle before: (rotates, byte, size)."""

    size: int = 0
    frame: int = 0
    frames: int = 0
    spilled: tuple[tuple[bool, int, int], ...] = ()


class Scope(NamedTuple):
    """Belt scope: the belt of a routine or loop, front first, what is under way to it, and slots that are busy (order,
    bundles). `inner` opens one, `leave` closes it."""

    belt: tuple[Item, ...] = ()
    due: tuple[Due, ...] = ()
    busy: tuple[tuple[tuple[int, int], int], ...] = ()


class State(NamedTuple):
    """Abstract state before a bundle: the scopes, innermost last; `passes` of the loop that ended, up to what the asker
    counts."""

    scopes: tuple[Scope, ...]
    scratch: Scratch = Scratch()
    passes: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """Finding: something wrong with an issue, or with the bundle where that is None."""

    code: str
    message: str
    issue: Issue | None = None


@dataclass(slots=True)
class Seen:
    """Observations in a bundle: mutable, filled by one `step`. `arrived` operands dropped of themselves, and the belt
    has `length` after it; `stations` are the loads under way in it; `dropped` and `operands` are those that dropped and
    those of each issue, with their tags."""

    found: list[Found] = field(default_factory=list[Found])
    arrived: int = 0
    length: int = 0
    stations: int = 0
    operands: dict[Issue, tuple[Item, ...]] = field(default_factory=dict[Issue, tuple[Item, ...]])
    dropped: list[Item] = field(default_factory=list[Item])
    next: list[tuple[int, State]] = field(default_factory=list[tuple[int, State]])
    """Bundles to which control may go; -1 where the routine returns or ends."""


@dataclass(frozen=True, slots=True)
class Walker:
    """Stepper through a routine of a program. With `tags`, operands carry (time, issue, result), time from `passes`."""

    program: Program
    routine: Routine
    machine: Machine
    backs: Mapping[int, int]
    """From the last bundle of a pass to its first one."""
    most_passes: int = 0
    tags: bool = False

    def entry(self) -> State:
        # The first routine is called from outside, with real arguments; others may get Nones.
        data = "some" if self.routine == self.program.routines[0] else "maybe"
        return State((Scope(tuple(make_item(t, data) for t in self.routine.parameters)),))

    def step(self, at: int, state: State) -> Seen:
        return _Step(self, at, state).run()


def make_walker(
    program: Program, routine: Routine, machine: Machine, most_passes: int = 0, tags: bool = False
) -> Walker:
    backs = {first + bundles - 1: first for first, bundles in routine.loops}
    return Walker(program, routine, machine, backs, most_passes, tags)


_DEEPEST: Final = 4
"""Loops that are entered within another one; the compiler nests none."""
_ROUNDED: Final = 8
"""What scratchf allocates is a multiple of."""
_TRANSFERS: Final = ("br", "inner", "leave", "retn")


class _Step:
    """Transfer function of one bundle. The belt is a list, front last, so that drops append."""

    def __init__(self, walker: Walker, at: int, state: State) -> None:
        self.walker, self.machine, self.at, self.state = walker, walker.machine, at, state
        self.bundle = walker.routine.bundles[at]
        self.scope = state.scopes[-1]
        self.belt = list(reversed(self.scope.belt))
        self.due: list[Due] = []
        self.fresh: list[Due] = []
        self.scratch = self._rotate_scratch(state.scratch)
        self.spilled: list[tuple[bool, int, int]] = []
        self.seen = Seen()

    def run(self) -> Seen:
        """Phases of a bundle in their order R, C, K, P, X (docs/targets/belt.md, Time)."""
        phased = self.machine.phasing
        readers = self.phase_issues("R")
        for issue in readers:
            self.issue(issue, 0)
        self.drop_fresh(phased)
        for issue in self.phase_issues("C"):
            self.issue(issue, issue.delay or self.machine.latency(OPS[issue.name], issue.width or "w"))
        calls, picks = self.phase_issues("K"), self.phase_issues("P")
        # What drops in other phases is always there: only results of phase C can be missing.
        others = len(readers) + len(picks) + sum(self.result_count(call) for call in calls)
        if phased:
            self.drop_due(self.bundle.drops - others)
        for issue in calls:
            self.call(issue)
        self.drop_fresh(phased)
        for issue in picks:
            self.issue(issue, 0)
        self.drop_fresh(phased)
        # All lists are read before anything in phase X acts: stores and transfers see the same belt.
        lists = {issue: self.read_operands(issue) for issue in self.phase_issues("X")}
        for issue in self.phase_issues("X"):
            self.act_on_scratch(issue)
        if not phased:
            self.drop_due(self.bundle.drops)
        # Without phases these results were among those that came due at the end of the bundle.
        self.seen.arrived += others if phased else 0
        self.seen.length = min(len(self.belt), self.machine.belt)
        self.follow_control(lists)
        return self.seen

    def phase_issues(self, phase: Phase) -> list[Issue]:
        return [issue for issue in self.bundle.issues if OPS[issue.name].phase == phase]

    def wrong(self, code: str, message: str, issue: Issue | None = None) -> None:
        self.seen.found.append(Found(code, message, issue))

    def front(self) -> tuple[Item, ...]:
        # What has moved beyond the belt's end is lost.
        return tuple(reversed(self.belt[-self.machine.belt :]))

    def read(self, operand: Operand, issue: Issue) -> Item:
        """Operand at a position; PL1012 beyond the belt or where nothing has dropped."""
        if isinstance(operand, Immediate):
            return IMMEDIATE
        if operand.position == NONE:
            return Item(operand.width, 1, "none")
        if operand.position >= self.machine.belt:
            self.wrong("PL1012", f"it reads b{operand.position}, but the belt is {self.machine.belt} long", issue)
        elif operand.position >= len(self.belt):
            there = count_text(len(self.belt), "operand")
            self.wrong("PL1012", f"it reads b{operand.position}, but the belt has {there}", issue)
        else:
            return self.belt[-1 - operand.position]
        return NOTHING

    def read_operands(self, issue: Issue) -> tuple[Item, ...]:
        items = tuple(self.read(operand, issue) for operand in issue.operands)
        self.seen.operands[issue] = items
        for clash in clashes(issue, items):
            self.wrong("PL1017", clash, issue)
        return items

    def issue(self, issue: Issue, latency: int) -> None:
        """Results of an operation of a phase in which results come about."""
        op = OPS[issue.name]
        if op.unit == "fill":
            self.fill(issue)
        for number, item in enumerate(results(issue, self.read_operands(issue))):
            self.schedule_drop(issue, number, item, latency)

    def schedule_drop(self, issue: Issue, number: int, item: Item, latency: int) -> None:
        """Put a result under way, or among those that drop in this phase."""
        latency = latency if self.machine.phasing else max(latency, 1)
        if self.walker.tags:
            item = item._replace(tag=(self.state.passes, self.at, self.bundle.issues.index(issue), number))
        # The key is the order of drops of docs/formats.md: latency, slot, number of the result.
        due = Due(latency, (latency, *issue.slot.order, number), item, OPS[issue.name].latency == "load")
        (self.fresh if latency == 0 else self.due).append(due)

    def drop_fresh(self, phased: bool) -> None:
        """Drop results of the phases R, K and P, in the order of slots."""
        if phased:
            self.drop([due.item for due in sorted(self.fresh, key=lambda due: due.key)])
            self.fresh = []

    def drop(self, items: Sequence[Item]) -> None:
        self.belt += items
        self.seen.dropped += items

    def drop_due(self, expected: int) -> None:
        """Drop results that arrive; Nones in front for those that were not issued, as the header's count demands."""
        all_due = sorted((*self.scope.due, *self.due), key=lambda due: due.key)
        self.seen.stations = sum(due.is_load for due in all_due)
        now = [due.item for due in all_due if due.left == 1]
        self.due = [due._replace(left=due.left - 1) for due in all_due if due.left > 1]
        self.seen.arrived = len(now)
        missing = max(expected - len(now), 0)
        # Missing results have the longest latencies, for the others have arrived: they lie nearest the front
        # (docs/targets/belt.md, In detail).
        self.drop([*now, *(NOTHING for _ in range(missing))])

    def result_count(self, call: Issue) -> int:
        return len(self.callee(call).results)

    def callee(self, call: Issue) -> Routine:
        return next(routine for routine in self.walker.program.routines if routine.name == call.callee)

    def call(self, issue: Issue) -> None:
        """Check the list of a call, and put its results under way; PL1017."""
        callee, given = self.callee(issue), self.read_operands(issue)[predicate_count(OPS[issue.name]) :]
        if len(given) != len(callee.parameters):
            has = count_text(len(given), "operand")
            self.wrong("PL1017", f"its list has {has}, {callee.name} takes {len(callee.parameters)}", issue)
        self.types(issue, given, callee.parameters)
        # The first result is b0, so it drops last.
        last = len(callee.results) - 1
        latency = 0 if self.machine.phasing else 1
        for number, type in enumerate(callee.results):
            self.schedule_drop(issue, last - number, make_item(type, "maybe"), latency)

    def types(self, issue: Issue, given: Sequence[Item], types: Sequence[object]) -> None:
        for number, (item, type) in enumerate(zip(given, types, strict=False)):
            if item.width is not None and item.data != "none" and str(type) != _type_text(item):
                self.wrong("PL1017", f"operand {number} of its list is {_type_text(item)}, not {type}", issue)

    def act_on_scratch(self, issue: Issue) -> None:
        """Effect on scratch, in phase X; stores and transfers change nothing that is followed here."""
        if issue.name == "scratchf":
            if issue.offset > self.machine.scratch:
                self.wrong("PL1015", f"it allocates {issue.offset} bytes of {self.machine.scratch}", issue)
            if issue.offset % _ROUNDED:
                self.wrong("PL1015", f"it allocates {issue.offset} bytes, no multiple of {_ROUNDED}", issue)
            self.scratch = Scratch(issue.offset, issue.frame, issue.frames)
        elif OPS[issue.name].unit == "spill":
            self.spilled.append(self.place(issue))

    def place(self, issue: Issue) -> tuple[bool, int, int]:
        """Scratch place (rotates, byte, size) of a spill or fill, checked; PL1015."""
        rotates, size = not issue.name.endswith("x"), BYTES[issue.width or "b"] * issue.lanes
        # Frames lie at the end of what is allocated; what does not rotate ends where they begin.
        room = self.scratch.frame * self.scratch.frames
        low, high = (0, room) if rotates else (0, self.scratch.size - room)
        if issue.offset + size > high or issue.offset < low:
            have = "the frames have" if rotates else "scratch has, without frames,"
            last = issue.offset + size - 1
            self.wrong("PL1015", f"bytes {issue.offset} to {last}, but {have} {count_text(high, 'byte')}", issue)
        elif rotates and issue.offset % self.scratch.frame + size > self.scratch.frame:
            self.wrong("PL1015", f"byte {issue.offset} and {size} bytes are in two frames", issue)
        if issue.offset % BYTES[issue.width or "b"]:
            self.wrong("PL1015", f"byte {issue.offset} is not aligned for the width {issue.width}", issue)
        return rotates, issue.offset, size

    def fill(self, issue: Issue) -> None:
        """Check that a fill reads no byte of the bundle before; PL1015. The scratchpad takes two bundles from spill to
        fill."""
        rotates, byte, size = self.place(issue)
        for other, start, length in self.scratch.spilled:
            if other == rotates and byte < start + length and start < byte + size:
                self.wrong("PL1015", f"byte {byte} was spilled in the bundle before", issue)

    def _rotate_scratch(self, scratch: Scratch) -> Scratch:
        """Scratch as the bundle begins: a rotation makes the newest frame an older one, so offsets grow by one
        frame."""
        room = scratch.frame * scratch.frames
        if not self.bundle.rotate or not room:
            return scratch
        moved = tuple((r, (b + scratch.frame) % room if r else b, s) for r, b, s in scratch.spilled)
        return scratch._replace(spilled=moved)

    def follow_control(self, lists: Mapping[Issue, tuple[Item, ...]]) -> None:
        """States that may follow, in the order of slots; the first transfer that happens wins."""
        inner = self.state.scopes[:-1]
        scope = Scope(self.front(), tuple(self.due), self.busy())
        scratch = self.scratch._replace(spilled=tuple(self.spilled))
        for issue, items in lists.items():
            if not issue.name.startswith(_TRANSFERS) or OPS[issue.name].unit != "control":
                continue
            given = items[predicate_count(OPS[issue.name]) :]
            self.transfer(issue, given, inner, scope, scratch)
            # Without a predicate it always happens: nothing behind it is reached.
            if OPS[issue.name].operands == (0, MANY):
                return
        conformed = next((lists[issue] for issue in lists if issue.name == "conform"), None)
        if conformed is not None:
            scope = scope._replace(belt=conformed[: self.machine.belt])
        self.continue_control(scope, inner, scratch)

    def continue_control(self, scope: Scope, inner: tuple[Scope, ...], scratch: Scratch) -> None:
        """State that follows without a transfer."""
        back = self.walker.backs.get(self.at)
        target = self.at + 1 if back is None else back
        if back is not None and not inner:
            self.wrong("PL1016", "a pass ends here that no inner has entered")
        if target == len(self.walker.routine.bundles):
            self.wrong("PL1016", "control runs past the last bundle")
            return
        # Counted no farther than is asked for, so that the states of a long loop repeat.
        passes = self.state.passes if back is None else min(self.state.passes + 1, self.walker.most_passes)
        self.seen.next.append((target, State((*inner, scope), scratch, passes)))

    def transfer(
        self, issue: Issue, given: tuple[Item, ...], inner: tuple[Scope, ...], scope: Scope, scratch: Scratch
    ) -> None:
        """State that follows a transfer; PL1016, PL1017."""
        routine = self.walker.routine
        if issue.name == "retn":
            if len(given) != len(routine.results):
                self.wrong(
                    "PL1017", f"it returns {len(given)} operands, {routine.name} has {len(routine.results)}", issue
                )
            self.types(issue, given, routine.results)
            self.seen.next.append((-1, State(())))
            return
        if issue.target >= len(routine.bundles):
            self.wrong("PL1016", f"it goes to bundle {issue.target} of {len(routine.bundles)}", issue)
            return
        if issue.name == "inner":
            if issue.target not in self.walker.backs.values():
                self.wrong("PL1016", f"no pass begins at bundle {issue.target}", issue)
            # A loop that enters itself would have ever more scopes, and the walk no end.
            if len(inner) == _DEEPEST:
                self.wrong("PL1016", f"loops are entered more than {_DEEPEST} deep", issue)
                return
            scopes = (*inner, scope, Scope(given[: self.machine.belt]))
        elif issue.name.startswith("leave"):
            if not inner:
                self.wrong("PL1016", "no inner has entered a loop that it could leave", issue)
                return
            outer = inner[-1]
            # Results go onto the belt that entered the loop; what was under way in the loop is discarded.
            belt = (*map(_forget_origin, given), *outer.belt)[: self.machine.belt]
            scopes = (*inner[:-1], outer._replace(belt=belt))
        else:
            scopes = (*inner, scope._replace(belt=tuple(map(_forget_origin, given))[: self.machine.belt]))
        self.seen.next.append((issue.target, State(scopes, scratch)))

    def busy(self) -> tuple[tuple[tuple[int, int], int], ...]:
        """Slots that stay busy after this bundle; an issue to a busy one is PL1010."""
        before = dict(self.scope.busy)
        held = dict(before)
        for issue in self.bundle.issues:
            if issue.slot.order in before:
                free = self.at + before[issue.slot.order]
                message = f"a division holds {issue.slot}, until bundle {free} if control goes straight on"
                self.wrong("PL1010", message, issue)
            held[issue.slot.order] = self.machine.busy(OPS[issue.name], issue.width or "w")
        return tuple(sorted((order, left - 1) for order, left in held.items() if left > 1))


def count_text(number: int, what: str) -> str:
    """Count with its noun, such as `no operand`, `1 operand`, `2 operands`."""
    return f"{number or 'no'} {what}{'s' if number > 1 else ''}"


def _forget_origin(item: Item) -> Item:
    """Operand without its history: beyond a transfer it does not matter which pass it came from. Joining states keeps
    them few."""
    return item._replace(data="maybe", tag=())


def _type_text(item: Item) -> str:
    return f"{item.width}" if item.lanes == 1 else f"{item.width}x{item.lanes}"
