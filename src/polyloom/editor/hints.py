# SPDX-License-Identifier: Apache-2.0
"""Hints beside the lines of loops: the initiation interval pi, and what bounds it (Rau 1994).

A target tells the lines of a loop's operations; the hint stands at the head of the innermost loop around them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from polyloom.files import read_source
from polyloom.ir.nest import Assign, If, Loop, Node
from polyloom.targets.report import LoopInterval
from polyloom.targets.subject import Subject

_LONGEST: Final = 72
"""Characters of a hint; the whole sentence is shown on demand."""
_HEAD: Final = re.compile(r"\s*for\b")


@dataclass(frozen=True, slots=True)
class Hint:
    """Inlay hint behind a line, from 1 (LSP 3.17, "Inlay Hint Request"); `detail` is all that is known."""

    line: int
    text: str
    detail: str


def loop_hints(intervals: Sequence[LoopInterval], subject: Subject, path: str) -> tuple[Hint, ...]:
    """Hints of the loops of a subject, by line."""
    found = {hint: None for each in intervals for hint in _interval_hints(each, subject, path)}
    return tuple(sorted(found, key=lambda hint: hint.line))


def _interval_hints(given: LoopInterval, subject: Subject, path: str) -> Iterator[Hint]:
    text, detail = describe_interval(given)
    for line in sorted(_head_lines(given.lines, subject, path)):
        yield Hint(line, text, detail)


def describe_interval(given: LoopInterval) -> tuple[str, str]:
    """Text of a hint, and its detail."""
    if given.interval is None:
        return "not pipelined", f"The loop is not pipelined: {given.bound_by}."
    proof = "" if given.proved else " (not proved minimal)"
    # An interval of 1 is bound by nothing, which is nothing to tell.
    is_bound = bool(given.bound_by) and not given.bound_by.startswith("nothing")
    text = f"π = {given.interval}{proof}{f', bound by {given.bound_by}' if is_bound else ''}"
    detail = f"Initiation interval {given.interval}{proof}: an iteration starts every {given.interval} cycles."
    detail = detail.replace("every 1 cycles", "in every cycle")
    return _shorten(text), f"{detail} Bound by {given.bound_by}." if is_bound else detail


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1].rstrip()}…"


def _head_lines(lines: Collection[int], subject: Subject, path: str) -> set[int]:
    """Lines of the innermost loops around operations at these lines; without loops, the first of the lines."""
    nest = subject.nest()
    if nest is not None:
        heads = {head for node in nest.body for head in _nest_heads(node, 0, lines)}
    elif path.endswith(".pla"):
        text = read_source(path, ".pla").decode("utf-8", "replace").splitlines()
        heads = {head for line in lines if (head := _text_head(text, line))}
    else:
        heads = set[int]()
    return heads or set(sorted(lines)[:1])


def _nest_heads(node: Node, head: int, lines: Collection[int]) -> Iterator[int]:
    """Heads of the loops around those assignments of a nest that stand at the lines, and of loops that do."""
    match node:
        case Loop():
            own = node.span.line if node.span is not None else head
            if own in lines:
                yield own
            for part in node.body:
                yield from _nest_heads(part, own, lines)
        case If():
            for part in (*node.body, *node.orelse):
                yield from _nest_heads(part, head, lines)
        case Assign():
            if head and node.span is not None and _covers(node, lines):
                yield head


def _covers(node: Assign, lines: Collection[int]) -> bool:
    assert node.span is not None
    first = node.span.line
    last = first + node.span.source.text.count("\n", node.span.start, node.span.end)
    return any(first <= line <= last for line in lines)


def _text_head(text: Sequence[str], line: int) -> int:
    """Line of the `for` above an equation; 0 without one."""
    above = range(min(line, len(text)), 0, -1)
    return next((n for n in above if _HEAD.match(text[n - 1])), 0)
