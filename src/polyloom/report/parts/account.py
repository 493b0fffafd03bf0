# SPDX-License-Identifier: Apache-2.0
"""Account of cycles on a page: one stacked bar with figures, what to change, the account over time, and the source with
a profile column (docs/account.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Final

from polyloom.report.page.source import line_key, line_list
from polyloom.targets.account import CATEGORIES, Account, Category
from polyloom.targets.account_advice import percent

_COLOURS: Final[Mapping[Category, str]] = {name: f"k{n}" for n, name in enumerate(CATEGORIES)}
"""Classes of the style sheet, one for each class of cycles."""
_AROUND: Final = 3
_WIDTH: Final = 720
_COLUMNS: Final = 48
_HEIGHT: Final = 50
"""Steps of height of a picture: what is less than half of one has no place."""


def account(found: Account | None, source: tuple[str, str] | None) -> str:
    """Section's content; empty where there is no account. `source` is the name and text of the file that lines are
    of.
    """
    if found is None or not found.unit_cycles:
        return ""
    units = f"{found.units:,} unit{'' if found.units == 1 else 's'} × {found.cycles:,} {found.counts}"
    said = f"<p>{escape(found.advice[:1].upper() + found.advice[1:])}.</p>"
    head = f'<p class="note">{units}: {found.unit_cycles:,} in all, each in one class.</p>'
    profile = "" if source is None else _profile(found, *source)
    return head + _bar(found) + said + _legend(found) + _timeline(found) + profile


def _bar(found: Account) -> str:
    """One bar, whose parts are as wide as their classes are large; a part tells its figure where it has room."""
    parts = "".join(
        f'<i class="{_COLOURS[name]}" style="flex:{n}" title="{escape(name)} {percent(found, n)}">'
        f"<b>{percent(found, n) if found.share(n) >= 0.08 else ''}</b></i>"
        for name, n in found.categories.items()
    )
    label = ", ".join(f"{name} {percent(found, n)}" for name, n in found.categories.items())
    return f'<div class="stack" role="img" aria-label="{escape(label)}">{parts}</div>'


def _legend(found: Account) -> str:
    """A row for each class: colour, name, share, unit-cycles, and what most of it is of."""
    rows = "".join(
        f'<tr><td><i class="key {_COLOURS[name]}"></i>{escape(name)}</td><td class="n">{percent(found, n)}</td>'
        f'<td class="n">{n:,}</td><td>{escape(_details(found, name))}</td></tr>'
        for name, n in found.categories.items()
    )
    head = "<th>class</th><th>share</th><th>unit-cycles</th><th>most of it</th>"
    return f'<div class="wide" tabindex="0"><table class="grid"><thead><tr>{head}</tr></thead>{rows}</table></div>'


def _details(found: Account, name: Category) -> str:
    shown = [f"{detail} {percent(found, n)}" for detail, n in list(found.details(name).items())[:3] if detail]
    return ", ".join(shown)


def _timeline(found: Account) -> str:
    """Stacked areas by class, work lowest; a title tells the class."""
    if found.timeline is None:
        return ""
    together = -(-len(found.timeline.slices) // _COLUMNS)
    columns, step = _join_columns(found.timeline.slices, together), found.timeline.step * together
    size = f'viewBox="0 0 {len(columns)} {_HEIGHT}" preserveAspectRatio="none" width="{_WIDTH}" height="96"'
    label = f"classes over time, {step:,} {found.counts} in a column"
    areas = "".join(_areas(found, columns))
    return (
        f'<h3>Over time</h3><svg class="stacked" role="img" aria-label="{label}" {size}>{areas}</svg>'
        f'<p class="note">From left to right {found.cycles:,} {found.counts}; a column has {step:,}.</p>'
    )


def _join_columns(columns: Sequence[Mapping[Category, int]], together: int) -> list[Mapping[Category, int]]:
    """Columns of which so many neighbours are one."""
    starts = range(0, len(columns), together)
    return [{name: sum(c.get(name, 0) for c in columns[n : n + together]) for name in CATEGORIES} for n in starts]


def _areas(found: Account, columns: Sequence[Mapping[Category, int]]) -> Iterator[str]:
    """An area per class, as high as it and all below it, so that the ones below are drawn over it."""
    names = list(found.categories)
    for number in reversed(range(len(names))):
        tops = [
            round(_HEIGHT - _HEIGHT * sum(column.get(name, 0) for name in names[: number + 1]) / sum(column.values()))
            for column in columns
        ]
        # One command for neighbours of one height: a page of a long run is no larger.
        ends = [n for n in range(1, len(tops) + 1) if n == len(tops) or tops[n] != tops[n - 1]]
        path = "".join(f"V{tops[end - 1]}H{end}" for end in ends)
        name = names[number]
        told = f"<title>{name} {percent(found, found.categories[name])}</title>"
        yield f'<path class="{_COLOURS[name]}" d="M0 {_HEIGHT}{path}V{_HEIGHT}z">{told}</path>'


def _profile(found: Account, name: str, text: str) -> str:
    """Source with a profile column: unit-cycles and share of each line; the hottest line is marked."""
    lines = {line: n for line, n in found.lines.items() if line}
    texts = text.splitlines()
    shown = [line for line in lines if line <= len(texts)]
    if not shown:
        return ""
    first, last = max(1, min(shown) - _AROUND), min(len(texts), max(shown) + _AROUND)
    most = max(lines.values())
    rows = "".join(
        _row(found, line, texts[line - 1], lines.get(line, 0), most, line == found.hottest)
        for line in range(first, last + 1)
    )
    rest = found.lines.get(0, 0)
    of_none = f'<p class="note">{percent(found, rest)} belong to no line.</p>' if rest else ""
    loop = found.hottest_loop
    hottest = f", the hottest loop is {loop}, {percent(found, found.loops[loop])}" if loop else ""
    note = f"Unit-{found.counts} by line; the hottest line is {found.hottest}{hottest}."
    pane = f'<figure class="source profile"><figcaption>{escape(name)}</figcaption>'
    return (
        f'<h3>Profile</h3><p class="note">{escape(note)}</p>{pane}'
        f"{line_list(name, texts, first, rows)}</figure>{of_none}"
    )


def _row(found: Account, line: int, text: str, unit_cycles: int, most: int, hot: bool) -> str:
    share = f"{unit_cycles:,}  {percent(found, unit_cycles)}" if unit_cycles else ""
    mark = ' class="hottest"' if hot else ""
    width = f' style="--v:{unit_cycles / most:.3f}"' if unit_cycles else ""
    return (
        f'<li data-l="{line_key(0, line)}"{mark}><small{width}>{escape(share)}</small><code>{escape(text)}</code></li>'
    )
