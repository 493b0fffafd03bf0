# SPDX-License-Identifier: Apache-2.0
"""Facts of belt programs and runs: the keys of `run --json`, and the rows that a reader wants first
(docs/targets/belt.md, Loops)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from polyloom.targets.belt.run.model import Run
from polyloom.targets.belt.words import belt_file, facts_json
from polyloom.targets.belt.words.program import Program
from polyloom.targets.report import LoopInterval
from polyloom.targets.target import Execution, Json
from polyloom.targets.target import Program as Made

_TOP: Final = {
    **{key: key for key in ("initiation_interval", "minimum_initiation_interval", "proved_minimal")},
    "interval_bound_by": "bound_by",
    **{key: key for key in ("stages", "spills", "rounds", "belt_high_water")},
}
"""Keys of the program, and of the loop with most cycles, whose they are."""
Facts = dict[str, Json]


def loop_objects(program: Program, run: Run | None = None) -> list[Facts]:
    """JSON object per loop of the source; `passes` is how often its first bundle ran, None without a run or where it is
    not pipelined."""
    found: list[Facts] = []
    for loop in facts_json.parse_facts(program).loops:
        first = loop["first_bundle"]
        executed = () if run is None else run.executed.get(str(loop["routine"]), ())
        found.append({**loop, "passes": executed[first] if executed and isinstance(first, int) else None})
    return found


def main_loop(found: Sequence[Facts]) -> Facts:
    """Pipelined loop with the most cycles, passes times interval; without a run, the first one that is pipelined."""
    pipelined = [loop for loop in found if loop["pipelined"]]
    if not pipelined:
        return {}
    return max(pipelined, key=_loop_cycles)


def _loop_cycles(loop: Facts) -> int:
    passes, interval = cast("int | None", loop["passes"]), cast("int | None", loop["initiation_interval"])
    return (passes or 0) * (interval or 0)


def program_facts(data: bytes, run: Run | None = None) -> Facts:
    """Keys of a file, and of a run of it."""
    program = belt_file.read(data).program
    found = loop_objects(program, run)
    first = main_loop(found)
    bundles = sum(len(routine.bundles) for routine in program.routines)
    return {
        **{key: first.get(of_loop) for key, of_loop in _TOP.items()},
        "bundles": bundles,
        "belt_bytes": len(data),
        "loops": cast("Json", found),
    }


def compile_facts(data: bytes) -> Facts:
    """Keys of `compile --json`; nothing of what is text."""
    return program_facts(data) if belt_file.owns(data) else {}


def run_facts(program: Made, execution: Execution | None) -> Facts:
    return program_facts(program.data, execution.detail if execution is not None else None)


def summary(data: Mapping[str, Json]) -> Sequence[tuple[str, str]]:
    """Rows of the summary: cycles, operations, a row per loop, size."""
    rows = [("cycles", str(data["cycles"])), ("operations", str(data["operations"]))]
    for loop in cast("list[Facts]", data["loops"]):
        rows.append((f"loop, line {loop['line']}", _loop_text(loop)))
    rows.append(("program", f"{data['bundles']} bundles, {data['belt_bytes']} bytes"))
    return rows


def _loop_text(loop: Facts) -> str:
    """Text of a loop: why it is open code, or interval, stages, lanes, spills and passes."""
    if not loop["pipelined"]:
        return f"open code: {_REASONS.get(str(loop['reason']), loop['reason'])}"
    proof = "proved minimal" if loop["proved_minimal"] else "not proved minimal"
    passes = "" if loop["passes"] is None else f", {loop['passes']} passes"
    spilled = f", {loop['spills']} spilled" if loop["spills"] else ""
    vectors = f", {loop['lanes']} lanes" if loop["lanes"] != 1 else ""
    interval = f"initiation interval {loop['initiation_interval']} ({proof})"
    return f"{interval}, {loop['stages']} stages{vectors}{spilled}{passes}"


_REASONS: Final = {
    "ratio": "pipelining gains less than --spl asks for",
    "never": "--spl never",
    "stations": "more loads than stations",
    "scratch": "its frames do not fit into scratch",
    "belt": "its values do not fit onto the belt",
    "schedule": "no solver found a schedule",
    "none": "its first passes would take Nones for values",
}
"""What the words of `reason` mean (`LoopFacts`)."""


def loop_intervals(data: bytes) -> Sequence[LoopInterval]:
    """Interval of each loop of a file (Rau 1994), at its line; of one that is not pipelined, why."""
    found = loop_objects(belt_file.read(data).program)
    return tuple(_interval(loop) for loop in found if loop["line"])


def _interval(loop: Facts) -> LoopInterval:
    interval, line = cast("int | None", loop["initiation_interval"]), cast(int, loop["line"])
    why = loop["bound_by"] if loop["pipelined"] else loop["reason"]
    return LoopInterval((line,), interval, bool(loop["proved_minimal"]), str(why))
