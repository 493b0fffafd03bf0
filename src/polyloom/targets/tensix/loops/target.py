# SPDX-License-Identifier: Apache-2.0
"""What the target's record needs of loops: each function is asked after `owns` or for a subject of `FORM`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from polyloom.diagnostics import input_error
from polyloom.ir.signature import Signature
from polyloom.riscv.image import MAGIC
from polyloom.targets.subject import Subject
from polyloom.targets.target import Execution, Job, Json, Kind
from polyloom.targets.tensix.loops import element_file, element_form, note
from polyloom.targets.tensix.loops import run as running
from polyloom.targets.tensix.loops.compile import compile_product
from polyloom.targets.tensix.loops.form import FORM, Content
from polyloom.targets.tensix.loops.stages import note as stages_note
from polyloom.targets.tensix.loops.stages import run as stages_run
from polyloom.targets.tensix.loops.stages.compile import Content as Stages
from polyloom.targets.tensix.loops.stages.compile import compile_stages

__all__ = ["FORM", "KIND", "compile_subject", "owns", "run", "signature", "summary"]

KIND: Final = Kind(".elf", "programs of a tile's threads")


def owns(data: bytes) -> bool:
    """Whether this is an executable of loops."""
    return data.startswith(MAGIC) and _note(data) is not None


def _note(data: bytes) -> note.Note | element_file.Note | stages_note.Note | None:
    return note.decode(data) or element_file.decode(data) or stages_note.decode(data)


def signature(data: bytes) -> Signature:
    found = _note(data)
    assert found is not None, "`owns` was asked"
    return found.signature


def compile_subject(subject: Subject, member: str, values: Mapping[str, int]) -> bytes:
    """Errors: PL1232 on Blackhole, PL1233, PL1280."""
    if member != "wormhole":
        message = f"loops run on Wormhole only: the unpackers of {member.capitalize()} are not modelled"
        raise input_error("PL1232", message, help="write --on tensix")
    content = cast(Content, subject.content)
    if isinstance(content, element_form.Content):
        return element_file.compile_elements(
            content.pointwise, subject.signature, values, content.format, subject.watch
        )
    if isinstance(content, Stages):
        return compile_stages(content, subject.signature, values, subject.watch)
    return compile_product(content.contraction, subject.signature, values, content.how)


def run(data: bytes, job: Job) -> Execution:
    """Errors: PL1220 to PL1222, PL1234, PL1236."""
    found, options = _note(data), job.options
    assert found is not None, "`owns` was asked"
    limits = running.Limits(options.hazards, options.max_cycles, job.trace)
    if isinstance(found, element_file.Note):
        return element_file.run(data, found, job.inputs, limits)
    if isinstance(found, stages_note.Note):
        return stages_run.run(data, found, job.inputs, limits)
    return running.run(data, found, job.inputs, limits)


def summary(data: Mapping[str, Json]) -> Sequence[tuple[str, str]]:
    """The rows that a reader wants first."""
    used = cast("dict[str, float]", data["utilization"])
    if "stages" in data:
        rows = _of_stages(data)
    elif "fidelity" in data:
        operands = f"{data['format']}, fidelity {data['fidelity']}, Dst of {data['dest']} bits"
        rows = [("operands", operands), ("cycles", f"{data['cycles']}, matrix unit busy {used['matrix']:.1%}")]
    else:
        rows = [("elements", f"{data['format']}, {data['tiles']} tiles")]
        rows.append(("cycles", f"{data['cycles']}, vector unit busy {used['vector']:.1%}"))
    return rows


def _of_stages(data: Mapping[str, Json]) -> list[tuple[str, str]]:
    operands = f", fidelity {data['fidelity']}, Dst of {data['dest']} bits" if "fidelity" in data else ""
    rows = [("arrays", f"{data['format']}{operands}"), ("cycles", str(data["cycles"]))]
    for each in cast("list[dict[str, Any]]", data["stages"]):
        line = f" of line {each['line']}" if each["line"] else ""
        busy = f"{each['cycles']} cycles, {each['unit']} unit busy {each['busy']:.1%}"
        rows.append((f"  {each['array']}", f"{each['what']}{line}: {busy}"))
    return rows
