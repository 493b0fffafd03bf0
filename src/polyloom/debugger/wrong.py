# SPDX-License-Identifier: Apache-2.0
"""First wrong value: a run beside its reference, up to the first stored value of the source that differs
(`reference.py` says what is compared).

A value that differs is seen when it is stored; one that was never stored, or that should have been stored again, at the
end: then the last store of the first such element is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from polyloom.debugger.origin import list_origin
from polyloom.debugger.reference import Instance, Reference, shown_iteration
from polyloom.debugger.session import Entry, Session
from polyloom.diagnostics import MISMATCH, Diagnostic
from polyloom.targets.provenance import with_statement


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
        counted = f"{self.compared} stored values compared, {self.unmatched} of the source without a counterpart"
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
    compared = 0
    while not session.is_at_end:
        for entry in session.step():
            # Without all values of the source, what is stored is compared at the end.
            compared += len(entry.matches) if entry.matches else len(entry.event.stores)
            if (wrong := entry.wrong) is not None and wrong.expected is not None:
                element = _name(wrong.stored.array, wrong.stored.index)
                unmatched = _count_unmatched(session.reference, session)
                # The wrong value itself has no counterpart, and is not counted.
                return Verdict(element, wrong.expected, str(wrong.stored.value), entry, compared - 1, unmatched)
    if session.fault is not None:
        return Verdict(compared=compared, unmatched=_count_unmatched(session.reference, session))
    return _check_last_values(session, session.reference, compared)


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
