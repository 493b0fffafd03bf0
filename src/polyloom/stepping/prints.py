# SPDX-License-Identifier: Apache-2.0
"""Prints as events of a model: what the source prints, and the cycle in which the machine has got there.

The program contains no prints (`frontend.prints`). What they show is computed by the loops of the source; when, follows
from the values that the machine makes: a print happens in the cycle of the nearest store of the source, before it or
else behind it, in its iteration. A value is the machine's where the machine has made it as the source does; others are
computed again, and marked.

Machines that tell no iterations keep sums in registers. There the result of an operation stands for a value of the
source where its line, its value and the order of the statement's values agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from polyloom.frontend.prints import Observed, Print, printed_value
from polyloom.frontend.source import Arrays
from polyloom.ir.nest import Assign, Constant, Index
from polyloom.ir.nest_interpret import interpret_stores
from polyloom.ir.pla import Reference as Access
from polyloom.recursion import with_deep_stack
from polyloom.stepping.reference import Cursor, Element, Iteration, Match, Reference
from polyloom.targets.stepper import Event, StoredElement

_MOST: Final = 200_000
Held = tuple[Element, int, Any]
"""Element, which of its values, and what the machine has there."""


@dataclass(frozen=True, slots=True)
class PrintEvent:
    """What the source prints once: values, and where they were stored: an element and which of its values it is, None
    for what is stored nowhere. `plain` tells which are loops, sizes, constants and inputs.
    """

    print: Print
    iteration: Iteration
    values: tuple[Any, ...]
    stored: tuple[tuple[Element, int] | None, ...]
    plain: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Printed:
    """Print of a run: `cycle` is None where the machine made no value by which it is known, and not `exact` where that
    value is a later one of the same element. `computed` tells which values the machine has not made.
    """

    event: PrintEvent
    cycle: int | None
    exact: bool
    values: tuple[Any, ...]
    computed: tuple[bool, ...]

    @property
    def text(self) -> str:
        """Printed text; values that are computed again follow, by their expressions."""
        print = self.event.print
        again = [name for name, is_again in zip(print.expressions, self.computed, strict=True) if is_again]
        return print.text(self.values) + (f"  (computed again: {', '.join(again)})" if again else "")

    def as_json(self) -> dict[str, Any]:
        """Row: cycle, line, iteration, text and values."""
        print = self.event.print
        names = zip(print.expressions, self.values, self.computed, strict=True)
        return {
            "cycle": self.cycle,
            "exact": self.exact,
            "file": print.span.source.name,
            "line": print.line,
            "iteration": dict(self.event.iteration),
            "text": print.text(self.values),
            "values": [{"expression": n, "value": _as_number(v), "computed": c} for n, v, c in names],
        }


def print_line(printed: Printed) -> str:
    """`cycle 12  mix.py:13  i=0 j=2  sum 0.5`."""
    event = printed.event
    when = "no cycle" if printed.cycle is None else f"cycle {'' if printed.exact else '<='}{printed.cycle}"
    where = f"{event.print.span.source.name}:{event.print.line}"
    iteration = " ".join(f"{name}={value}" for name, value in event.iteration)
    return "  ".join(part for part in (when, where, iteration, printed.text) if part)


def _as_number(value: Any) -> int | float:
    return value.item() if hasattr(value, "item") else value


@dataclass(slots=True)  # filled by the interpreter of the source
class Timeline:
    """Prints of a run by the element whose value they follow, and which of its values that is."""

    reference: Reference
    anchored: dict[Element, list[tuple[int, PrintEvent]]] = field(
        default_factory=dict[Element, list[tuple[int, PrintEvent]]]
    )
    free: list[PrintEvent] = field(default_factory=list[PrintEvent])
    count: int = 0
    # Machines that round in another way make other values than the source: what is stored tells which one it is.
    is_rounded: bool = False
    # By line and type: who has a value, by its bytes, in the order of the source.
    _lines: dict[int, dict[Any, dict[bytes, list[tuple[Element, int]]]]] = field(
        default_factory=dict[int, dict[Any, dict[bytes, list[tuple[Element, int]]]]]
    )

    def add(self, event: PrintEvent, anchor: tuple[Element, int] | None) -> None:
        self.count += 1
        if anchor is None:
            self.free.append(event)
        else:
            self.anchored.setdefault(anchor[0], []).append((anchor[1], event))

    def close(self) -> None:
        """All values of the source are known."""
        for element, n in self.reference.order:
            made = self.reference.elements[element][n]
            if made.place is not None and made.place.line:
                tables = self._lines.setdefault(made.place.line, {})
                held = np.asarray(made.value)
                tables.setdefault(held.dtype, {}).setdefault(held.tobytes(), []).append((element, n))

    def follow(self, event: Event, matches: Sequence[Match], cursor: Cursor) -> tuple[Printed, ...]:
        """Prints that an event makes known."""
        found = list[Printed]()
        for match in matches:
            if match.number >= 0:
                element = match.stored.array, match.stored.index
                held = (element, match.number, match.stored.value) if match.is_wrong else None
                found += self._pass(element, match.number, event.cycle, cursor, held)
        for stored in event.stores if self.is_rounded else ():
            found += self._follow_rounded(stored, event.cycle, cursor)
        if not matches and not event.statement and not event.stores and event.result is not None:
            for made in self._match_line(event, cursor):
                found += self._pass(*made, event.cycle, cursor)
        return tuple(found)

    def _follow_rounded(self, stored: StoredElement, cycle: int, cursor: Cursor) -> list[Printed]:
        """Prints behind a store of a machine that rounds in another way: the first value that is near it, or the last
        of the element.
        """
        element = stored.array, stored.index
        known = self.reference.elements.get(element)
        if known is None:
            return []
        # One that was seen in a register is stored later.
        start = max(self._passed_values(element, cursor) - 1, 0)
        near = [n for n, made in enumerate(known) if _has_near_value(made.value, stored.value)]
        n = next((n for n in near if n >= start), len(known) - 1)
        if near and n not in near:
            # An older value, which is stored once more.
            return []
        cursor.met[self.reference.slot(element, n)] = 1
        return self._pass(element, n, cycle, cursor, (element, n, stored.value))

    def list_remaining(self, cursor: Cursor) -> Iterator[Printed]:
        """Prints of which no cycle is known at the end of a run."""
        for event in self.free:
            yield self._make_row(event, None, False, cursor)
        for element, events in self.anchored.items():
            told = cursor.told[self.reference.number(element)]
            yield from (self._make_row(event, None, False, cursor) for n, event in events if n >= told)

    def _match_line(self, event: Event, cursor: Cursor) -> Iterator[tuple[Element, int]]:
        """Values of the source that results in a register, one in each lane, stand for."""
        tables = self._lines.get(event.place.line if event.place is not None else 0, {})
        for dtype, table in tables.items():
            for value in np.atleast_1d(event.result):
                if not _is_of_type(value, dtype):
                    continue
                known = table.get(value.astype(dtype).tobytes(), ())
                # One that is past is none, so that a sum of zeros stays in its order.
                found = next((made for made in known if made[1] >= self._passed_values(made[0], cursor)), None)
                if found is not None:
                    slot = self.reference.slot(*found)
                    # 2: in a register, which is no store that is compared.
                    cursor.met[slot] = cursor.met[slot] or 2
                    yield found

    def _passed_values(self, element: Element, cursor: Cursor) -> int:
        return cursor.told[self.reference.number(element)]

    def _pass(self, element: Element, n: int, cycle: int, cursor: Cursor, held: Held | None = None) -> list[Printed]:
        """Prints behind the values of an element up to number `n`, which have not been told yet."""
        number = self.reference.number(element)
        told, cursor.told[number] = cursor.told[number], max(cursor.told[number], n + 1)
        return [
            self._make_row(event, cycle, at == n, cursor, held)
            for at, event in self.anchored.get(element, ())
            if told <= at <= n
        ]

    def _make_row(
        self, event: PrintEvent, cycle: int | None, exact: bool, cursor: Cursor, held: Held | None = None
    ) -> Printed:
        values, computed = list[Any](), list[bool]()
        for value, stored, is_plain in zip(event.values, event.stored, event.plain, strict=True):
            is_held = held is not None and stored == held[:2]
            # What the machine has made is shown, also where the source has another value.
            values.append(held[2] if is_held and held is not None else value)
            computed.append(not is_plain and not is_held and not (stored and cursor.met[self.reference.slot(*stored)]))
        return Printed(event, cycle, exact, tuple(values), tuple(computed))


def _has_near_value(a: Any, b: Any) -> bool:
    """Equality up to the rounding of 16 bits (bf16 has 8 bits of a fraction)."""
    return bool(np.isclose(float(a), float(b), rtol=2.0**-6, atol=0))


def _is_of_type(value: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a result in a register may be a value of this type: integers are extended there, floats are not."""
    if dtype.kind == "f" or value.dtype.kind == "f":
        return bool(value.dtype == dtype)
    return dtype.kind in "iu" and value.dtype.kind in "iu"


def follow_prints(
    reference: Reference, observed: Observed, sizes: Mapping[str, int], inputs: Arrays, is_rounded: bool = False
) -> Timeline:
    """Timeline of what a source prints for these sizes and inputs; `reference` has its stores in their order. Errors:
    those of the interpreter.
    """
    reader = _Reader(reference, observed, Timeline(reference, is_rounded=is_rounded), sizes)
    told = reference.variables | {s.name for s in observed.nest.storage if printed_value(s.name) is not None}
    with_deep_stack(interpret_stores)(observed.nest, sizes, inputs, reader.note, told)
    reader.flush(None)
    reader.timeline.close()
    return reader.timeline


class _Reader:
    """Reader of the observed nest: its stores are those of the reference, one after another; prints stand between."""

    def __init__(self, reference: Reference, observed: Observed, timeline: Timeline, sizes: Mapping[str, int]) -> None:
        self.reference, self.observed, self.timeline, self.sizes = reference, observed, timeline, sizes
        self.stores = 0
        self.last: tuple[Element, int] | None = None
        self.newest = dict[Element, int]()
        self.times = dict[tuple[Element, int], int]()
        self.values = dict[int, tuple[Any, tuple[Element, int] | None, bool]]()
        self.seen = 0
        # Prints that no store before them has the iteration of: the next store may have it.
        self.waiting = list[PrintEvent]()

    def note(self, assign: Assign, iteration: Iteration, index: tuple[int, ...], value: Any) -> None:
        printed = printed_value(assign.target.name)
        if printed is None:
            self._store()
            return
        number, which = printed
        made = self.observed.prints[number]
        self.values[which] = self._exact_value(assign, iteration, value), *self._origin(assign, iteration)
        self.seen += 1
        # Each value is assigned twice; a text without values has one that is not shown.
        if self.seen == 2 * max(1, len(made.expressions)):
            self._print(made, iteration)

    def _exact_value(self, assign: Assign, iteration: Iteration, value: Any) -> Any:
        """Value of an expression of loops, sizes and constants: Python's integers have no width, while the variable
        that it is assigned to has one.
        """
        known = {**self.sizes, **dict(iteration)}
        if not isinstance(assign.value, Index) or not assign.value.value.symbols <= known.keys():
            return value
        exact = assign.value.value.evaluate(known)
        # What is equal keeps its type, which conversions of C ask for.
        return value if value == exact else exact

    def _store(self) -> None:
        self.last = self.reference.order[self.stores]
        self.newest[self.last[0]], self.times[self.last] = self.last[1], self.stores
        self.stores += 1
        self.flush(self.last)

    def flush(self, anchor: tuple[Element, int] | None) -> None:
        """Prints that wait get the store that follows, where it is of their iteration, or else the one before."""
        for event in self.waiting:
            follows = anchor is not None and self._has_iteration(event.iteration, anchor)
            self.timeline.add(event, anchor if follows else self._previous_store(anchor))
        self.waiting.clear()

    def _previous_store(self, anchor: tuple[Element, int] | None) -> tuple[Element, int] | None:
        return self.reference.order[self.stores - 2] if self.stores > 1 and anchor is not None else self.last

    def _has_iteration(self, iteration: Iteration, store: tuple[Element, int]) -> bool:
        own = dict(self.reference.elements[store[0]][store[1]].iteration)
        return all(own.get(name) == value for name, value in iteration)

    def _origin(self, assign: Assign, iteration: Iteration) -> tuple[tuple[Element, int] | None, bool]:
        """Which stored value a printed one is, and whether it needs no computation."""
        match assign.value:
            case Index() | Constant():
                return None, True
            case Access(name=name, index=index):
                known = {**self.sizes, **dict(iteration)}
                if not all(form.symbols <= known.keys() for form in index):
                    return None, False
                element = name, tuple(form.evaluate(known) for form in index)
                if element in self.newest:
                    return (element, self.newest[element]), False
                # Nothing has stored there: an input, or a variable that is not followed.
                return None, self.observed.nest[name].role == "argument"
            case _:
                return None, False

    def _print(self, made: Print, iteration: Iteration) -> None:
        if self.timeline.count + len(self.waiting) >= _MOST:
            raise MemoryError
        shown = [self.values[n] for n in range(len(made.expressions))]
        values, stored, plain = (tuple(part) for part in zip(*shown, strict=True)) if shown else ((), (), ())
        event = PrintEvent(made, iteration, values, stored, plain)  # pyright: ignore[reportArgumentType]: columns of triples
        self.values.clear()
        self.seen = 0
        # A printed value of this iteration says more than what else was stored before the print.
        own = [made for made in stored if made is not None and self._has_iteration(iteration, made)]
        latest = max(own, key=lambda made: self.times[made]) if own else self.last
        if latest is not None and self._has_iteration(iteration, latest):
            self.timeline.add(event, latest)
        else:
            self.waiting.append(event)


def order_prints(printed: Sequence[Printed]) -> list[Printed]:
    """Prints by cycle; those without one last."""
    return sorted(printed, key=lambda each: (each.cycle is None, each.cycle or 0))
