# SPDX-License-Identifier: Apache-2.0
"""The C text of a Python kernel's nest is nobody's: what is told of it is told of the kernel.

Its directives (`#line`) name lines of the kernel's file; columns are those of the C text, and mean nothing there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from polyloom.diagnostics import Diagnostic, PolyloomError, Span
from polyloom.ir.nest import Nest
from polyloom.ir.ssa import NOWHERE, Block, Function, Place

_LINE: Final = re.compile(r'#line (\d+) "')


def located(function: Function, path: str, nest: Nest) -> Function:
    """A function that was read from the C text at `path`, with places in the kernel's file alone."""
    home = Place(nest.span.source.name, nest.span.line) if nest.span is not None else NOWHERE
    own = Path(home.file).resolve()

    def place(of: Place) -> Place:
        if of.file == path and of.line:
            return home
        return replace(of, file=home.file if Path(of.file).resolve() == own else of.file, column=0) if of.line else of

    return relocated(function, place)


def relocated(function: Function, place: Callable[[Place], Place]) -> Function:
    """A function and those that it calls, with other places."""

    def block(of: Block) -> Block:
        made = tuple(replace(i, place=place(i.place)) for i in of.instructions)
        return replace(of, instructions=made, terminator=replace(of.terminator, place=place(of.terminator.place)))

    return replace(
        function,
        blocks=tuple(map(block, function.blocks)),
        others=tuple(relocated(other, place) for other in function.others),
        place=place(function.place),
    )


def blamed(error: PolyloomError, path: str, nest: Nest) -> PolyloomError:
    """An error in the C text, at the kernel's line."""
    return PolyloomError(*(_blamed(d, path, nest) for d in error.diagnostics))


def _blamed(found: Diagnostic, path: str, nest: Nest) -> Diagnostic:
    here = found.span is not None and found.span.source.name == path
    span = _span(found.span, nest) if found.span is not None and here else found.span
    called = nest.span.source.name if nest.span is not None else nest.name
    notes = tuple(note.replace(path, called) for note in found.notes)
    return replace(found, span=span, message=found.message.replace(path, called), notes=notes)


def _span(found: Span, nest: Nest) -> Span | None:
    """The line that the last directive before it names."""
    if nest.span is None:
        return None
    above = [int(match[1]) for match in _LINE.finditer(found.source.text, 0, found.start)]
    source, line = nest.span.source, above[-1] if above else nest.span.line
    lines = source.text.split("\n")
    if not 0 < line <= len(lines):
        return nest.span
    start = sum(len(each) + 1 for each in lines[: line - 1])
    indent = len(lines[line - 1]) - len(lines[line - 1].lstrip())
    return Span(source, start + indent, start + max(len(lines[line - 1].rstrip()), indent + 1))
