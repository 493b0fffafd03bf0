# SPDX-License-Identifier: Apache-2.0
"""Bound of an interval: what keeps it from being shorter, as a sentence, and where that is a cycle of dependences
(RecMII; Rau 1994), its drawing.

The cycle's operations stand in a row; each feeds the next one, and the arc below leads from the last to the first, in a
later iteration. Latency over distance, rounded up, is the bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Final

from polyloom.report.page.document import wrap_scrolling
from polyloom.report.page.svg import picture, text
from polyloom.report.parts.schedule import link
from polyloom.targets.report import Circuit, Report

_WIDTH, _HEIGHT, _GAP, _TOP = 104, 34, 46, 12
_SHOWN: Final = 8
"""Operations that are drawn; of a longer cycle the first ones and the last."""


def bound(view: Report) -> str:
    """Empty where a target says nothing of it."""
    if not view.bound:
        return ""
    drawn = _circuit(view.circuit, _Known.of(view)) if view.circuit is not None else ""
    return f"<p>Bound: {escape(view.bound)}.</p>{drawn}"


@dataclass(frozen=True, slots=True)
class _Known:
    """Of operations by name: what they do in a word, and the attributes that link them with their lines."""

    words: Mapping[str, str]
    links: Mapping[str, str]

    @staticmethod
    def of(view: Report) -> _Known:
        files = {name: n for n, (name, _) in enumerate(view.sources)}
        return _Known(
            {o.name: o.text.split(" ")[0] for o in view.operations}, {o.name: link(o, files) for o in view.operations}
        )


def _circuit(found: Circuit, known: _Known) -> str:
    names = list(found.operations)
    if len(names) > _SHOWN:
        names = [*names[: _SHOWN - 2], "…", names[-1]]
    parts = [_box(n, name, known) for n, name in enumerate(names)]
    step, middle = _WIDTH + _GAP, _TOP + _HEIGHT / 2
    parts += [_arrow(n * step + _WIDTH + 2, middle, _GAP - 4) for n in range(len(names) - 1)]
    first, last, below = _WIDTH / 2, (len(names) - 1) * step + _WIDTH / 2, _TOP + _HEIGHT
    if len(names) == 1:
        first, last = first - 24, last + 24
    back = f"M{last:.0f} {below}v26H{first:.0f}v-22"
    tip = f"M{first - 4:.0f} {below + 9}l4 -7 4 7z"
    later = f"{_count(found.distance, 'iteration')} later"
    parts.append(f'<path class="hot" d="{back}"/><path d="{tip}" fill="var(--c1)"/>')
    parts.append(text(max((first + last) / 2, 56), below + 42, later, "middle"))
    bound = -(-found.latency // max(found.distance, 1))
    sum_of = f"{_count(found.latency, 'cycle')} around, {later}: at least {_count(bound, 'cycle')} per iteration"
    width = max((len(names) - 1) * step + _WIDTH, 150) + 8
    label = " feeds ".join([*names, names[0]])
    drawn = wrap_scrolling(picture(width, below + 48, "".join(parts), label, natural=True))
    return drawn + f'<p class="note">{sum_of}.</p>'


def _box(n: int, name: str, known: _Known) -> str:
    x = n * (_WIDTH + _GAP)
    if name == "…":
        return text(x + _WIDTH / 2, _TOP + _HEIGHT / 2 + 4, name, "middle")
    middle = x + _WIDTH / 2
    what = _short(known.words.get(name, ""))
    told = text(middle, _TOP + 14, _short(name), "middle") + text(middle, _TOP + 28, what, "middle")
    box = f'<rect class="box" x="{x + 1}" y="{_TOP}" width="{_WIDTH - 2}" height="{_HEIGHT}" rx="6"/>'
    return f"<g{known.links.get(name, '')}>{box}{told}</g>"


def _short(name: str) -> str:
    return name if len(name) <= 14 else name[:13] + "…"


def _arrow(x: float, y: float, length: float) -> str:
    return (
        f'<path class="edge" d="M{x:.0f} {y:.0f}h{length - 5:.0f}"/>'
        f'<path class="tip" d="M{x + length:.0f} {y:.0f}l-7 -4v8z"/>'
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
