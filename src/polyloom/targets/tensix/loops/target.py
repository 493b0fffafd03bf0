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
from polyloom.targets.tensix.loops import run as running
from polyloom.targets.tensix.loops.compile import compile_product
from polyloom.targets.tensix.loops.form import FORM, Content
from polyloom.targets.tensix.loops.note import decode

__all__ = ["FORM", "KIND", "compile_subject", "owns", "run", "signature", "summary"]

KIND: Final = Kind(".elf", "programs of a tile's threads")


def owns(data: bytes) -> bool:
    """Whether this is an executable of loops."""
    return data.startswith(MAGIC) and decode(data) is not None


def signature(data: bytes) -> Signature:
    found = decode(data)
    assert found is not None, "`owns` was asked"
    return found.signature


def compile_subject(subject: Subject, member: str, values: Mapping[str, int]) -> bytes:
    """Errors: PL1232 on Blackhole, PL1233."""
    if member != "wormhole":
        message = f"products run on Wormhole only: the matrix unit of {member.capitalize()} is not modelled"
        raise input_error("PL1232", message, help="write --on tensix")
    content = cast(Content, subject.content)
    return compile_product(content.contraction, subject.signature, values, content.how)


def run(data: bytes, job: Job) -> Execution:
    """Errors: PL1220 to PL1222, PL1234, PL1236."""
    found, options = decode(data), job.options
    assert found is not None, "`owns` was asked"
    limits = {"hazards": options.hazards, "max_cycles": options.max_cycles}
    return running.run(data, found, job.inputs, trace=job.trace, **limits)


def summary(data: Mapping[str, Json]) -> Sequence[tuple[str, str]]:
    """The rows that a reader wants first."""
    used = cast("dict[str, float]", data["utilization"])
    rows = [
        ("operands", f"{data['format']}, fidelity {data['fidelity']}, Dst of {data['dest']} bits"),
        ("cycles", f"{data['cycles']}, matrix unit busy {used['matrix']:.1%}"),
    ]
    if "max_error" in data:
        rows.append(
            ("error", f"{data['max_error']:.3g} at most, {data['max_ulp']} ulp; the bound is {data['bound']:.3g}")
        )
    return rows
