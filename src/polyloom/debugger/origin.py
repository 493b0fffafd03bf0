# SPDX-License-Identifier: Apache-2.0
"""Origin of a value: the operations that made it, back to inputs and constants (dynamic backward slice of data
dependences, Korel and Laski 1988), each with its line, iteration, unit and operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from polyloom.stepping.history import Entry
from polyloom.stepping.reference import shown_iteration
from polyloom.stepping.session import Session
from polyloom.targets.provenance import with_statement

LINES: Final = 40
"""Operations that are listed, unless more are asked for."""


def list_origin(session: Session, entry: Entry, texts: Mapping[str, str], most: int = LINES) -> list[str]:
    """Lines of a slice, the value first, indented by the number of operations in between; an operation that several
    need is listed once.
    """
    walk = _walk(session, entry, texts)
    found = [line for _, line in zip(range(most), walk, strict=False)]
    # One more operation is looked at only to know whether any is left out.
    if len(found) == most and next(walk, None) is not None:
        found.append(f"... `origin VALUE {4 * most}` shows more")
    return found


def _walk(session: Session, first: Entry, texts: Mapping[str, str]) -> Iterator[str]:
    seen = {first.number}
    # A stack of its own: chains are as long as sums, deeper than Python recurs.
    waiting: list[tuple[int, Entry]] = [(0, first)]
    while waiting:
        depth, entry = waiting.pop()
        # Indented by 20 at most: terms of a long sum would leave the window.
        yield "  " * min(depth, 20) + describe_event(entry, texts)
        inner = list[tuple[int, Entry]]()
        for operand, number in session.sources(entry):
            name = f"{operand.name} = {operand.value}" if operand.value else operand.name
            if number is None:
                yield "  " * min(depth + 1, 20) + f"{name}  (input)"
            elif number in seen:
                yield "  " * min(depth + 1, 20) + f"{name}  (#{number} above)"
            else:
                seen.add(number)
                inner.append((depth + 1, session.event(number)))
        # Operands in their order: the first is taken next from the end of the list.
        waiting += reversed(inner)


def describe_event(entry: Entry, texts: Mapping[str, str]) -> str:
    """`#12 cycle 9  element (0, 1) mul0: mul S1 = 0.5  i=0 j=1  gemm.py:16  C[i, j] *= beta`."""
    event = entry.event
    # A vector stores many elements: four of them show which.
    stored = [f"{s.array}[{', '.join(map(str, s.index))}] = {s.value!s}" for s in event.stores[:4]]
    made = [] if event.stores else [f"= {event.writes[0].value}"] if event.writes and event.writes[0].value else []
    parts = [
        f"#{entry.number} cycle {event.cycle}",
        f"{event.unit}: {' '.join([event.text, *made])}",
        ", ".join(stored),
        shown_iteration(event.iteration),
        "" if event.place is None else str(with_statement(event.place, texts)),
    ]
    return "  ".join(part for part in parts if part)
