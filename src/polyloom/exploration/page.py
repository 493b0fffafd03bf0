# SPDX-License-Identifier: Apache-2.0
"""HTML page of a sweep (docs/explore.md): what came of it, the Pareto fronts in a picture, and the whole table."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from html import escape
from typing import Any, Final

from polyloom.exploration import sweep_text
from polyloom.exploration.front import cost_vector, problem_key
from polyloom.exploration.results import Results
from polyloom.exploration.row import Row
from polyloom.report.page.axis import Scale, draw_horizontal, draw_vertical
from polyloom.report.page.document import document, fold_section, section, wrap_scrolling
from polyloom.report.page.svg import decimal, picture

_COLOURS: Final = 8
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM, _RIGHT = 720, 380, 76, 30, 44, 16
_DRAWN: Final = 5000
"""Points of a picture; a front is drawn whole."""
_STYLE: Final = "".join(
    f".s{n} circle{{fill:var(--c{n})}}.s{n} path{{stroke:var(--c{n});fill:none;stroke-width:1.5}}"
    f".key .s{n}::before{{background:var(--c{n})}}"
    for n in range(_COLOURS)
) + (
    ".off{opacity:.3}"
    ".key{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;font:.8rem var(--mono);list-style:none;padding:0}"
    ".key li::before{content:'';display:inline-block;width:.7rem;height:.7rem;border-radius:50%;margin-right:.4rem}"
    "tr.best td{background:var(--soft)}"
)


def page(sweep: Results) -> str:
    """The whole file."""
    # By identity: rows hold dictionaries, and have no hash.
    best = {id(row) for row in sweep.front()} if sweep.rows else set[int]()
    title = f"{sweep.title}: {len(sweep.rows)} points"
    drawing = _picture(sweep, best)
    table = _table(sweep.records(), [id(row) in best for row in sweep.rows])
    body = (
        f"<main><h1>{escape(sweep.title)} <small>sweep</small></h1><p>{escape(sweep_text.outcome(sweep))}.</p>"
        f"{section(_heading(sweep), drawing, note=_note(sweep))}"
        f"{section('Best rows', wrap_scrolling(_table(sweep_text.front_rows(sweep))))}"
        f"{fold_section('All rows', wrap_scrolling(table))}</main>"
    )
    return document(title, _STYLE, body)


def _heading(sweep: Results) -> str:
    return " against ".join(name.removeprefix("-") for name in sweep.objectives[:2])


def _note(sweep: Results) -> str:
    values = ", ".join(sweep.problem)
    apart = f" One line for each value of {values}." if values else ""
    return f"Full dots are on the front: no other point beats them in {sweep_text.list_names(sweep.objectives)}.{apart}"


def _picture(sweep: Results, best: set[int]) -> str:
    """Scatter plot of costs on logarithmic axes, the second objective to the right. Nothing for one objective, or
    without points.
    """
    names = [name.removeprefix("-") for name in sweep.objectives[:2]]
    if len(names) < 2:
        return ""
    groups: dict[Hashable, list[tuple[Row, float, float]]] = {}
    for row in sweep.rows:
        own = cost_vector(row, names)
        # A logarithmic axis has no place for 0.
        if own is not None and min(own) > 0:
            groups.setdefault(problem_key(row, sweep.problem), []).append((row, own[1], own[0]))
    every = [each for own in groups.values() for each in own]
    if not every:
        return ""
    x = _scale([each[1] for each in every], _LEFT, _WIDTH - _RIGHT)
    y = _scale([each[2] for each in every], _HEIGHT - _BOTTOM, _TOP)
    axes = draw_horizontal(x, _HEIGHT - _BOTTOM, names[1]) + draw_vertical(y, _LEFT, names[0])
    drawn = "".join(_series(n % _COLOURS, own, best, x, y, len(every)) for n, own in enumerate(groups.values()))
    label = f"{names[0]} over {names[1]} of {len(every)} points; the table has the numbers"
    return wrap_scrolling(picture(_WIDTH, _HEIGHT, axes + drawn, label)) + _legend(sweep.problem, list(groups))


def _scale(values: Sequence[float], start: float, end: float) -> Scale:
    """Logarithmic scale a fifth beyond what there is, so that no point is on the border."""
    low, high = min(values), max(values)
    return Scale(low / 1.2, high * 1.2, start, end, 2 if high / low < 1000 else 10)


def _series(
    number: int, own: Sequence[tuple[Row, float, float]], best: set[int], x: Scale, y: Scale, count: int
) -> str:
    """Points of one problem, and its front as a staircase."""
    front: dict[tuple[float, float], list[Row]] = {}
    for row, u, v in sorted(own, key=lambda each: each[1:]):
        if id(row) in best:
            front.setdefault((u, v), []).append(row)
    # Points that lie on each other are one dot: pages of large sweeps stay small.
    others = dict.fromkeys((u, v) for row, u, v in own if id(row) not in best and count <= _DRAWN)
    steps = "".join(
        f"{'H' if n else 'M'}{decimal(x.at(u))}{'V' if n else ' '}{decimal(y.at(v))}" for n, (u, v) in enumerate(front)
    )
    dots = "".join(f'<circle class="off" cx="{decimal(x.at(u))}" cy="{decimal(y.at(v))}" r="3"/>' for u, v in others)
    full = "".join(
        f'<circle cx="{decimal(x.at(u))}" cy="{decimal(y.at(v))}" r="4">'
        f"<title>{escape(_describe_points(rows))}</title></circle>"
        for (u, v), rows in front.items()
    )
    line = f'<path d="{steps}"/>' if steps else ""
    return f'<g class="s{number}">{line}{dots}{full}</g>'


def _describe_points(rows: Sequence[Row]) -> str:
    """What the pointer is told of a place of the front."""
    values = [" ".join(f"{name}={value}" for name, value in sweep_text.asked_values(row, []).items()) for row in rows]
    return f"{rows[0].cycles} cycles: {'; '.join(values[:4])}{f', and {len(rows) - 4} more' if len(rows) > 4 else ''}"


def _legend(problem: Sequence[str], keys: Sequence[Any]) -> str:
    """Which colour is which problem."""
    if len(keys) < 2 or len(keys) > 4 * _COLOURS:
        return ""
    targets = {key[0] for key in keys}
    texts = (
        " ".join([*([key[0]] if len(targets) > 1 else []), *map("{}={}".format, problem, key[1:])]) for key in keys
    )
    items = "".join(f'<li class="s{n % _COLOURS}">{escape(text)}</li>' for n, text in enumerate(texts))
    return f'<ul class="key">{items}</ul>'


def _table(rows: Sequence[dict[str, Any]], marked: Sequence[bool] = ()) -> str:
    if not rows:
        return ""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in rows[0])
    lines = [
        f"<tr{' class=best' if marked and marked[n] else ''}>{''.join(map(_cell, row.values()))}</tr>"
        for n, row in enumerate(rows)
    ]
    return f'<table class="grid"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'


def _cell(value: Any) -> str:
    kind = ' class="n"' if isinstance(value, int | float) and not isinstance(value, bool) else ""
    return f"<td{kind}>{escape(sweep_text.cell_text(value))}</td>"
