# SPDX-License-Identifier: Apache-2.0
"""What the target's record needs of loops: each function is asked after `owns` or for a subject of `FORM`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from polyloom.diagnostics import input_error
from polyloom.ir.signature import Signature
from polyloom.riscv.image import MAGIC
from polyloom.targets.subject import Subject
from polyloom.targets.target import Execution, Job, Json, Kind
from polyloom.targets.tensix.loops import element_file, element_form, note
from polyloom.targets.tensix.loops import run as running
from polyloom.targets.tensix.loops.compile import compile_product
from polyloom.targets.tensix.loops.form import FORM, Content

__all__ = ["FORM", "KIND", "compile_subject", "owns", "run", "signature", "summary"]

KIND: Final = Kind(".elf", "programs of a tile's threads")


def owns(data: bytes) -> bool:
    """Whether this is an executable of loops."""
    return data.startswith(MAGIC) and _note(data) is not None


def _note(data: bytes) -> note.Note | element_file.Note | None:
    return note.decode(data) or element_file.decode(data)


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
    return compile_product(content.contraction, subject.signature, values, content.how)


def run(data: bytes, job: Job) -> Execution:
    """Errors: PL1220 to PL1222, PL1234, PL1236."""
    found, options = _note(data), job.options
    assert found is not None, "`owns` was asked"
    limits = running.Limits(options.hazards, options.max_cycles, job.trace)
    if isinstance(found, element_file.Note):
        return element_file.run(data, found, job.inputs, limits)
    return running.run(data, found, job.inputs, limits)


def summary(data: Mapping[str, Json]) -> Sequence[tuple[str, str]]:
    """The rows that a reader wants first."""
    used = cast("dict[str, float]", data["utilization"])
    if "fidelity" in data:
        operands = f"{data['format']}, fidelity {data['fidelity']}, Dst of {data['dest']} bits"
        rows = [("operands", operands), ("cycles", f"{data['cycles']}, matrix unit busy {used['matrix']:.1%}")]
    else:
        rows = [("elements", f"{data['format']}, {data['tiles']} tiles")]
        rows.append(("cycles", f"{data['cycles']}, vector unit busy {used['vector']:.1%}"))
    if "max_error" in data:
        error = f"{data['max_error']:.3g} at most, {data['max_ulp']} ulp; the bound is {data['bound']:.3g}"
        rows.append(("error", error))
    return rows
