# SPDX-License-Identifier: Apache-2.0
"""The text of a run, in the order that llvm-mca made familiar: summary, pressure, schedule, and the bottleneck with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from polyloom.targets.registry import Json, Report

_BAR: Final = 20


def page(data: Mapping[str, Json], views: Sequence[Report]) -> str:
    """`data` is what `run --json` prints, with a view a phase."""
    sections = ["\n".join(_summary(data))]
    for title, view in titled(views):
        sections += [title, "\n".join(_pressure(view)), "\n".join(_schedule(view)), f"Bottleneck: {view.bottleneck}" if view.bottleneck else ""]
    return "\n\n".join(s for s in sections if s)


def titled(views: Sequence[Report]) -> Iterator[tuple[str, Report]]:
    """Every phase with its heading; a single one needs none."""
    for number, view in enumerate(views, 1):
        yield f"Phase {number} of {len(views)}" if len(views) > 1 else "", view


def headline(data: Mapping[str, Json]) -> str:
    """Kernel, parameters, place and verdict on one line."""
    values = data["parameters"]
    shown = "".join(f" {n}={v}" for n, v in values.items()) if isinstance(values, dict) else ""
    place = f" on {data['on']}" if data["on"] else ""
    verdict = {True: "outputs equal the reference", False: "outputs DIFFER from the reference", None: "not compared"}
    return f"{data['kernel']}{shown}{place}: {verdict[data['verified'] if isinstance(data['verified'], bool) else None]}"


def summary(data: Mapping[str, Json]) -> list[tuple[str, str]]:
    """The rows that a reader wants first: (what, value)."""
    rows = [
        ("cycles", f"{data['cycles']} (predicted {data['predicted_cycles']})"),
        ("operations", str(data["operations"])),
        ("elements", f"{elements(data['pes'], data['region'])}, {data['processor_classes']} classes, {data['instruction_words']} instruction words"),
        *_phases(data["phases"]),
        ("control", f"{data['kernel_classes']} kernels, {data['control_signals']} signals"),
        ("files", f"{_bytes(data['symbolic_bytes'])} symbolic, {_bytes(data['concrete_bytes'])} concrete"),
    ]
    times = [(data[f"{what}_seconds"], what) for what in ("compile", "instantiate", "run")]
    shown = ", ".join(f"{what} {_seconds(value)}" for value, what in times if isinstance(value, float))
    return [*rows, ("time", shown)]


def elements(used: Json, asked: Json) -> str:
    """`4x1 of 4x4`, where a mapping on fewer elements than there are is the fastest that is stored."""
    texts = ["x".join(map(str, region)) for region in (used, asked) if isinstance(region, list)]
    return " of ".join(dict.fromkeys(texts)) or "–"


def _phases(phases: Json) -> list[tuple[str, str]]:
    """The initiation interval; of several phases, each one's with its cycles."""
    rows = [row for row in phases if isinstance(row, dict)] if isinstance(phases, list) else []
    if len(rows) == 1:
        return [("initiation interval", _interval(rows[0]))]
    return [(f"phase {n}", f"{_cycles(row)}, initiation interval {_interval(row)}") for n, row in enumerate(rows, 1)]


def _interval(row: Mapping[str, Json]) -> str:
    if row["minimum_initiation_interval"] is None:
        return str(row["initiation_interval"])
    proof = "proved minimal" if row["proved_minimal"] else "not proved minimal"
    return f"{row['initiation_interval']} (at least {row['minimum_initiation_interval']}, {proof})"


def _cycles(row: Mapping[str, Json]) -> str:
    return f"{row['cycles']} cycles" + (f" after {row['transfer_cycles']} of transfers" if row["transfer_cycles"] else "")


def _summary(data: Mapping[str, Json]) -> Iterator[str]:
    yield headline(data)
    yield ""
    yield from (f"  {what:20} {value}" for what, value in summary(data))


def _pressure(view: Report) -> Iterator[str]:
    yield "Pressure by unit (slots of one initiation interval)"
    for p in view.pressure:
        if p.used:
            yield f"  {p.unit:12} {p.used:3}/{p.available:<3} {'#' * (_BAR * p.used // p.available)}"
    idle = [p.unit for p in view.pressure if not p.used]
    if idle:
        yield f"  idle: {', '.join(idle)}"


def _schedule(view: Report) -> Iterator[str]:
    if not view.units:
        return
    yield "Schedule (rows are slots; a ' marks each interval that an operation lags behind its iteration's start)"
    rows = [("slot", *view.units), *((str(slot), *(cell or "." for cell in row)) for slot, row in enumerate(view.reservation))]
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    yield from ("  " + _line(row, widths) for row in rows)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _bytes(value: Json) -> str:
    return "–" if value is None else f"{value} bytes"


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 1 else f"{value * 1e3:.1f} ms"
