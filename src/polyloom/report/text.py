# SPDX-License-Identifier: Apache-2.0
"""The text of a run, in the order that llvm-mca made familiar: summary, pressure, schedule, and the bottleneck with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from polyloom.targets.registry import Json, Report

_BAR: Final = 20


def page(data: Mapping[str, Json], view: Report) -> str:
    """`data` is what `run --json` prints."""
    sections = ["\n".join(_summary(data)), "\n".join(_pressure(view)), "\n".join(_schedule(view)), f"Bottleneck: {view.bottleneck}" if view.bottleneck else ""]
    return "\n\n".join(s for s in sections if s)


def headline(data: Mapping[str, Json]) -> str:
    """Kernel, parameters, place and verdict on one line."""
    values = data["parameters"]
    shown = "".join(f" {n}={v}" for n, v in values.items()) if isinstance(values, dict) else ""
    place = f" on {data['on']}" if data["on"] else ""
    verdict = {True: "outputs equal the reference", False: "outputs DIFFER from the reference", None: "not compared"}
    return f"{data['kernel']}{shown}{place}: {verdict[data['verified'] if isinstance(data['verified'], bool) else None]}"


def summary(data: Mapping[str, Json]) -> list[tuple[str, str]]:
    """The rows that a reader wants first: (what, value)."""
    proof = {True: "proved minimal", False: "not proved minimal"}.get(bool(data["proved_minimal"]), "") if data["proved_minimal"] is not None else ""
    minimum = f"at least {data['minimum_initiation_interval']}" if data["minimum_initiation_interval"] is not None else ""
    interval = ", ".join(s for s in (minimum, proof) if s)
    pes = data["pes"]
    region = "x".join(map(str, pes)) if isinstance(pes, list) else "–"
    rows = [
        ("cycles", f"{data['cycles']} (predicted {data['predicted_cycles']})"),
        ("operations", str(data["operations"])),
        ("elements", f"{region}, {data['processor_classes']} classes, {data['instruction_words']} instruction words"),
        ("initiation interval", f"{data['initiation_interval']}" + (f" ({interval})" if interval else "")),
        ("control", f"{data['kernel_classes']} kernels, {data['control_signals']} signals"),
        ("files", f"{_bytes(data['symbolic_bytes'])} symbolic, {_bytes(data['concrete_bytes'])} concrete"),
    ]
    times = [(data[f"{what}_seconds"], what) for what in ("compile", "instantiate", "run")]
    shown = ", ".join(f"{what} {_seconds(value)}" for value, what in times if isinstance(value, float))
    return [*rows, ("time", shown)]


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
