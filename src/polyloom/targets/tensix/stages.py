# SPDX-License-Identifier: Apache-2.0
"""Loops as part of the target's record: each function is called after `owns`, or for a subject of `FORM`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from polyloom.analysis.dataflow import Unlike
from polyloom.diagnostics import input_error
from polyloom.ir.signature import Signature
from polyloom.riscv.image import MAGIC
from polyloom.targets.subject import Subject
from polyloom.targets.target import Execution, Job, Json, Kind
from polyloom.targets.tensix.map.loops.compile import Content, compile_stages
from polyloom.targets.tensix.map.loops.form import CUT, FORM
from polyloom.targets.tensix.map.phases import compile as phases
from polyloom.targets.tensix.map.phases.alternatives import Alternatives, compile_alternatives
from polyloom.targets.tensix.map.spread.compile import compile_spread, no_product
from polyloom.targets.tensix.place import Place
from polyloom.targets.tensix.run import spread as spreading
from polyloom.targets.tensix.run import stages as running
from polyloom.targets.tensix.run.stepped_program import GridProgram, LoopProgram
from polyloom.targets.tensix.run.stepper import TileStepper
from polyloom.targets.tensix.words.arrays import note, spread_note

__all__ = ["CUT", "FORM", "KIND", "compile_subject", "no_product", "owns", "run", "signature", "summary"]

_NESTS: Final = "a tile takes products, element-wise programs, and nests whose statements fit its vector unit"
KIND: Final = Kind(".elf", "programs of a tile's threads")


def owns(data: bytes) -> bool:
    """Whether this is an executable of loops. Errors: PL0703 for one of another version."""
    return data.startswith(MAGIC) and (spread_note.decode(data) or note.decode(data)) is not None


def signature(data: bytes) -> Signature:
    return (spread_note.decode(data) or _note(data)).signature


def _note(data: bytes) -> note.Note:
    found = note.decode(data)
    assert found is not None, "`owns` was asked"
    return found


def compile_subject(subject: Subject, place: Place, values: Mapping[str, int]) -> bytes:
    """Compiler of loops for fixed sizes. Errors: PL1230 for a statement or a row that the vector unit does not
    hold, PL1232 on Blackhole, PL1233, PL1237, PL1238 for what a grid does not take, PL1280.
    """
    if place.member != "wormhole":
        message = f"loops run on Wormhole only: the unpackers of {place.member.capitalize()} are not modelled"
        raise input_error("PL1232", message, help="write --on tensix")
    content = cast("Content | phases.Content | Alternatives", subject.content)
    if place.grid is not None:
        if isinstance(content, Content):
            return compile_spread(content, subject.signature, values, place.grid)
        raise no_product(f"`{subject.signature.name}` is no product")
    try:
        if isinstance(content, Alternatives):
            return compile_alternatives(content, subject.signature, values, subject.watch)
        if isinstance(content, Content):
            return compile_stages(content, subject.signature, values, subject.watch)
        return phases.compile_phases(content, subject.signature, values, subject.watch)
    except Unlike as lack:
        raise input_error("PL1230", lack.message, span=lack.span, help=_NESTS) from None


def run(data: bytes, job: Job) -> Execution:
    """Execution of loops on a tile. Errors: PL1220 to PL1222, PL1234, PL1236."""
    limits = running.Limits(job.options.hazards, job.options.max_cycles, job.trace, job.account)
    if (spread := spread_note.decode(data)) is not None:
        return spreading.run(data, spread, job.inputs, limits)
    return running.run(data, _note(data), job.inputs, limits)


def open_stepper(data: bytes, job: Job) -> TileStepper:
    """Stepper of loops on one tile, or of a product on a grid."""
    if (spread := spread_note.decode(data)) is not None:
        return TileStepper(GridProgram(data, spread, job), job.options.max_cycles)
    return TileStepper(LoopProgram(data, _note(data), job), job.options.max_cycles)


def summary(data: Mapping[str, Json]) -> Sequence[tuple[str, str]]:
    """Summary rows of a run: arithmetic, cycles, and of several stages one row each."""
    operands = f", fidelity {data['fidelity']}, Dst of {data['dest']} bits" if "fidelity" in data else ""
    stages = cast("list[dict[str, Any]]", data["stages"])
    if len(stages) > 1:
        rows = [("arrays", f"{data['format']}{operands}"), ("cycles", str(data["cycles"]))]
        return [*rows, *map(_stage, stages)]
    if stages[0]["what"] == phases.PHASES:
        busy = cast("dict[str, float]", data["utilization"])["vector"]
        statements = f"{data['format']}, phases of {data['tiles']} statements"
        rows = [("elements", statements), ("cycles", f"{data['cycles']}, vector unit busy {busy:.1%}")]
        return [*rows, ("no stages", str(data["reason"]))] if "reason" in data else rows
    if "grid" in data:
        return _grid_rows(data, operands)
    unit, used = stages[0]["unit"], cast("dict[str, float]", data["utilization"])
    what = ("operands", f"{data['format']}{operands}") if operands else ("elements", _elements(data))
    rows = [what, ("cycles", f"{data['cycles']}, {unit} unit busy {used[unit]:.1%}"), *_binding(stages[0])]
    return [*rows, *_port_rows(data)]


def _grid_rows(data: Mapping[str, Json], operands: str) -> Sequence[tuple[str, str]]:
    """Summary rows of a run on a grid: arithmetic, cycles, and what binds."""
    rows, columns = cast("list[int]", data["grid"])
    shares = ", ".join(f"{name} {share:.1%}" for name, share in cast("dict[str, float]", data["shares"]).items())
    return [
        ("operands", f"{data['format']}{operands}"),
        ("cycles", f"{data['cycles']} on {rows} by {columns} tiles"),
        ("busy", f"{shares}: {data['binds']} binds"),
    ]


def _elements(data: Mapping[str, Json]) -> str:
    return f"{data['format']}, {data['tiles']} tiles"


def _binding(stage: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """What binds a stage, the part of the tile that is busiest, and how busy the others are; nothing without work."""
    shares = {name: share for name, share in stage["shares"].items() if share}
    most = max(shares, key=lambda name: shares[name], default=None)
    if most is None:
        return []
    others = ", ".join(f"{name} {share:.1%}" for name, share in shares.items() if name != most)
    return [("bound by", f"{most}, busy {shares[most]:.1%}; {others}")]


def _port_rows(data: Mapping[str, Json]) -> Sequence[tuple[str, str]]:
    """Traffic of a stream between L1 and DRAM, which nothing else has."""
    if "port" not in data:
        return []
    port = cast("list[dict[str, Any]]", data["port"])
    moved = (f"NoC {n} {each['read']} bytes in, {each['written']} out" for n, each in enumerate(port))
    return [("streamed", "; ".join(moved))]


def _stage(data: Mapping[str, Any]) -> tuple[str, str]:
    line = f" of line {data['line']}" if data["line"] else ""
    busy = f"{data['cycles']} cycles, {data['unit']} unit busy {data['busy']:.1%}"
    return f"  {data['array']}", f"{data['what']}{line}: {busy}"
