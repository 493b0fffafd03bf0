# SPDX-License-Identifier: Apache-2.0
"""First wrong value: a run beside its reference, up to the first stored value of the source that differs
(`reference.py` says what is compared).

A value that differs is seen when it is stored; one that was never stored, or that should have been stored again, at the
end: then the last store of the first such element is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from polyloom.debugger.origin import list_origin
from polyloom.diagnostics import MISMATCH, Diagnostic
from polyloom.stepping.history import Entry
from polyloom.stepping.reference import Instance, Match, Reference, shown_iteration
from polyloom.stepping.session import Session
from polyloom.targets.provenance import with_statement

_SUSPECTS: Final = 10_000
_SEARCHED: Final = 20_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """Outcome: what differs, where one does, and how many values of the source had a counterpart."""

    element: str = ""
    expected: Instance | None = None
    value: str = ""
    entry: Entry | None = None
    compared: int = 0
    unmatched: int = 0

    @property
    def diagnostic(self) -> Diagnostic | None:
        """PL1506 where a value differs."""
        if self.expected is None:
            return None
        made = f"is {self.value}" if self.entry is not None else "was never stored"
        message = f"{self.element} {made}, and the source has {self.expected.value}"
        return Diagnostic("PL1506", message, MISMATCH, help="`origin` shows the operations that made a value")

    def lines(self, session: Session, texts: Mapping[str, str]) -> Iterator[str]:
        """What people read: the value, the source's, and the operations behind it."""
        counted = f"{self.compared} values compared, {self.unmatched} of the source without a counterpart"
        if self.expected is None:
            yield f"no stored value differs: {counted}"
            return
        made = f"is {self.value}" if self.entry is not None else "was never stored"
        yield f"wrong: {self.element} {made}, and the source has {self.expected.value}"
        where = shown_iteration(self.expected.iteration)
        place = self.expected.place
        if place is not None:
            told = f"the source: {with_statement(place, texts)}"
            yield f"{told}  {where}" if where else told
        yield counted
        if self.entry is not None:
            yield from list_origin(session, self.entry, texts)


def run_until_wrong(session: Session) -> Verdict:
    """Run from here on; the session stops where the verdict's entry is the last step. `session.fault` is set where a
    fault ended the run first.
    """
    assert session.reference is not None
    compared, suspects = 0, dict[int, Match]()
    while not session.is_at_end:
        for entry in session.step():
            inside = next((m for m in entry.matches if m.is_inside and m.is_wrong), None)
            if inside is not None and len(suspects) < _SUSPECTS:
                suspects[entry.number] = inside
            if (wrong := entry.wrong) is not None:
                return _judge(session, entry, wrong, suspects, compared)
            # Without all values of the source, what is stored is compared at the end.
            compared += len(entry.matches) - (inside is not None) if entry.matches else len(entry.event.stores)
    if session.fault is not None:
        return Verdict(compared=compared, unmatched=_count_unmatched(session.reference, session))
    return _check_last_values(session, session.reference, compared)


def _judge(session: Session, entry: Entry, wrong: Match, suspects: Mapping[int, Match], compared: int) -> Verdict:
    """Verdict of a wrong stored value: the first value inside that differs and went into it, or itself. A value inside
    that differs proves nothing alone, for the compiler may have other sums than the source.
    """
    assert session.reference is not None
    unmatched = _count_unmatched(session.reference, session)
    if (first := _find_first_suspect(session, entry, suspects)) is not None:
        session.seek(session.event(first).position)
        entry, wrong = session.event(first), suspects[first]
    element = _name(wrong.stored.array, wrong.stored.index)
    return Verdict(element, wrong.expected, str(wrong.stored.value), entry, compared, unmatched)


def _find_first_suspect(session: Session, entry: Entry, suspects: Mapping[int, Match]) -> int | None:
    """First suspect in the slice of a value. The search ends after `_SEARCHED` operations: what it has not seen by then
    would only make the answer earlier.
    """
    if not suspects:
        return None
    seen, waiting, first = {entry.number}, [entry], None
    while waiting and len(seen) < _SEARCHED:
        for _, number in session.sources(waiting.pop()):
            # Nothing before the first suspect can be one.
            if number is not None and number not in seen and number >= next(iter(suspects)):
                seen.add(number)
                waiting.append(session.event(number))
                first = number if number in suspects and (first is None or number < first) else first
    return first


def _check_last_values(session: Session, reference: Reference, compared: int) -> Verdict:
    """Verdict at the end: every element has the value that the source leaves there."""
    unmatched = _count_unmatched(reference, session)
    missing = [
        (session.writer(_name(*element)), element, expected, value)
        for element, expected, value in reference.list_missing(session.machine.arrays())
    ]
    if not missing:
        return Verdict(compared=compared, unmatched=unmatched)
    # The first store in time; an element that was never stored comes last.
    entry, element, expected, value = min(missing, key=lambda m: (m[0] is None, m[0].number if m[0] else 0))
    if entry is not None:
        session.seek(entry.position)
    return Verdict(_name(*element), expected, str(value), entry, compared, unmatched)


def _count_unmatched(reference: Reference, session: Session) -> int:
    return max(0, reference.count - session.match_count) if reference.is_complete else 0


def _name(array: str, index: tuple[int, ...]) -> str:
    return f"{array}[{', '.join(map(str, index))}]" if index else array
