# SPDX-License-Identifier: Apache-2.0
"""Summary of a run on the array, from its data: what a reader wants first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from polyloom.targets.target import Json


def summary(data: Mapping[str, Json]) -> Sequence[tuple[str, str]]:
    """Rows of (what, value)."""
    classes = f"{data['processor_classes']} classes, {data['instruction_words']} instruction words"
    return [
        ("cycles", f"{data['cycles']} (predicted {data['predicted_cycles']})"),
        *_time_row(data.get("time")),
        ("operations", str(data["operations"])),
        *_energy(data.get("energy")),
        ("elements", f"{elements(data['pes'], data['region'])}, {classes}"),
        *_phases(data["phases"]),
        ("control", f"{data['kernel_classes']} kernel classes, {data['control_signals']} signals"),
        ("files", f"{_bytes(data['symbolic_bytes'])} symbolic, {_bytes(data['concrete_bytes'])} concrete"),
    ]


def brief(facts: Mapping[str, Json]) -> str:
    """What there is to say of a configuration in a line."""
    shown = elements(facts["pes"], facts["region"])
    return (
        f"{shown} elements, {facts['processor_classes']} processor classes, predicted {facts['predicted_cycles']} "
        "cycles"
    )


def elements(used: Json, asked: Json) -> str:
    """`4x1 of 4x4`, where a mapping on fewer elements than there are is the fastest that is stored."""
    texts = ["x".join(map(str, region)) for region in (used, asked) if isinstance(region, list)]
    return " of ".join(dict.fromkeys(texts)) or "–"


def _time_row(time: Json) -> list[tuple[str, str]]:
    """Whole time and its parts, where it is more than that of the array."""
    if not isinstance(time, dict) or time["total"] == time["array"]:
        return []
    seconds = f", {cast(float, time['seconds']) * 1e6:,.4g} us" if "seconds" in time else ""
    parts = f"configuration {time['configuration']}, fill {time['fill']}, array {time['array']}"
    beside = f"DMA {time['dma']}, of which the array waits for {time['wait']}"
    return [("whole time", f"{time['total']} cycles{seconds}: {parts}, {beside}, drain {time['drain']}")]


def _energy(energy: Json) -> list[tuple[str, str]]:
    """Shares of energy, the greatest first."""
    if not isinstance(energy, dict):
        return []
    shares = sorted(cast("dict[str, float]", energy["shares"]).items(), key=lambda item: -item[1])
    return [("energy", ", ".join(f"{name.replace('_', ' ')} {share:.1%}" for name, share in shares if share))]


def _phases(phases: Json) -> list[tuple[str, str]]:
    """The initiation interval; of several phases, each one's with its cycles."""
    rows = [row for row in phases if isinstance(row, dict)] if isinstance(phases, list) else []
    if len(rows) == 1 and rows[0]["steps"] == 1:
        return [("initiation interval", _interval(rows[0]))]
    return [(f"phase {row['phase']}", f"{_cycles(row)}, initiation interval {_interval(row)}") for row in rows]


def _interval(row: Mapping[str, Json]) -> str:
    if row["minimum_initiation_interval"] is None:
        return str(row["initiation_interval"])
    proof = "proved minimal" if row["proved_minimal"] else "not proved minimal"
    return f"{row['initiation_interval']} (at least {row['minimum_initiation_interval']}, {proof})"


def _cycles(row: Mapping[str, Json]) -> str:
    moved = f" after {row['transfer_cycles']} of transfers" if row["transfer_cycles"] else ""
    steps = f" in {row['steps']} steps" if row["steps"] != 1 else ""
    return f"{row['cycles']} cycles{steps}{moved}"


def _bytes(value: Json) -> str:
    return "–" if value is None else f"{value} bytes"
