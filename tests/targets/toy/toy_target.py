# SPDX-License-Identifier: Apache-2.0
"""A target of the tests: takes a plan, a function, an image; its file, `TOY1` and a JSON object, is interpreted.

The member `slow` takes two cycles per operation. A package outside of Polyloom writes no more than this."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request
from polyloom.diagnostics import Diagnostic, input_error, nearest
from polyloom.frontend import pla
from polyloom.ir.interpret import interpret as interpret_program
from polyloom.ir.pla_text import print_program
from polyloom.ir.plan import single_phase_plan
from polyloom.ir.signature import RESULT, Argument, Extent, Signature, plan_signature
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_read import read as read_ssa
from polyloom.ir.ssa_text import print_ssa
from polyloom.targets.entry import Entry
from polyloom.targets.forms import function, image, loops
from polyloom.targets.options import option
from polyloom.targets.report import Report, Table
from polyloom.targets.subject import Progress, Subject
from polyloom.targets.target import Execution, Job, Json, Kind, Program, Target
from polyloom.targets.trace import Span, Trace

MAGIC = b"TOY1"
KIND = Kind(".toy", "toy program")
MEMBERS = {"fast": 1, "slow": 2}
CODES = {"PL9001": ("broken toy", "The toy's file is not whole. Compile it again.")}


@dataclass(frozen=True, slots=True)
class Options:
    twice: bool = option("run twice", "run", "simulate", default=False)


def place(text: str) -> str:
    if (name := text or "fast") not in MEMBERS:
        raise input_error("PL0805", f"there is no toy '{name}'", help=nearest(name, MEMBERS, "member"))
    return name


def compile(subject: Subject, where: str, values: Mapping[str, int], options: Any, progress: Progress | None) -> bytes:
    made: dict[str, Any] = {"form": subject.form, "member": where, "name": subject.signature.name, "arguments": []}
    if subject.form == "plan":
        made["text"] = print_program(subject.content.phases[0].program)
    elif subject.form == "function":
        made["text"] = print_ssa(subject.content.function)
        made["sizes"], made["scalars"] = subject.signature.sizes, subject.signature.parameters
        given = subject.signature.arguments
        made["arguments"] = [[a.name, a.dtype.str, list(map(str, a.shape)), a.is_input, a.is_output] for a in given]
    else:
        made["text"] = base64.b64encode(b"".join(i.data for i in subject.content)).decode()
    return MAGIC + json.dumps(made).encode()


def read(data: bytes) -> dict[str, Any]:
    try:
        return json.loads(data[4:])
    except ValueError:
        raise input_error("PL9001", "the toy's file is broken", help="compile it again") from None


def signature(data: bytes) -> Signature:
    made = read(data)
    if made["form"] == "plan":
        return plan_signature(single_phase_plan(pla.parse(made["text"], made["name"])))
    if made["form"] == "image":
        return Signature(made["name"], (), (), (), is_open=True)
    arguments = [
        Argument(name, np.dtype(kind), tuple(Extent.read(e) or Extent() for e in extents), given, result)
        for name, kind, extents, given, result in made["arguments"]
    ]
    return Signature(made["name"], tuple(made["scalars"]), tuple(made["sizes"]), tuple(arguments))


def run(data: bytes, job: Job) -> Execution:
    made = read(data)
    outputs, operations = [FORMS[made["form"]](made, job, signature(data)) for _ in range(1 + job.options.twice)][-1]
    cycles = operations * MEMBERS[made["member"]]
    spans = tuple(Span("toy", "unit", f"step {n}", n, 3) for n in range(min(operations, 9))) if job.trace else ()
    return Execution(outputs, cycles, operations, {"joy": operations % 7}, Trace(spans), detail=cycles)


def run_plan(made: Mapping[str, Any], job: Job, known: Signature) -> tuple[dict[str, Any], int]:
    program = pla.parse(made["text"], made["name"])
    return dict(interpret_program(program, job.values, job.inputs)), len(program.equations)


def run_function(made: Mapping[str, Any], job: Job, known: Signature) -> tuple[dict[str, Any], int]:
    given = {a.name: job.inputs[a.name].copy() for a in known.inputs}
    found = interpret(read_ssa(made["text"]), [v.item() if v.ndim == 0 else v for v in given.values()])
    result = known.argument(RESULT)
    outputs = {} if result is None or found is None else {RESULT: np.array(found, result.dtype)}
    return outputs | {a.name: given[a.name] for a in known.outputs if a.name in given}, len(made["text"].split("\n"))


def run_image(made: Mapping[str, Any], job: Job, known: Signature) -> tuple[dict[str, Any], int]:
    """Every name of `--out` is the sum of the image's bytes."""
    data = np.frombuffer(base64.b64decode(made["text"]), np.uint8)
    return {name: np.array(data.sum(), np.int64) for name in job.wanted}, data.size


FORMS = {"plan": run_plan, "function": run_function, "image": run_image}


def report(program: Program, execution: Execution) -> Sequence[Report]:
    return [Report(tables=(Table("Toys", ("cycles",), ((str(execution.detail),),)),))]


def verify(data: bytes, where: Any) -> Sequence[Diagnostic]:
    return [] if read(data).get("name") else [Diagnostic("PL9001", "the toy has no name")]


def facts(program: Program, execution: Execution | None) -> Mapping[str, Json]:
    return {"toy_bytes": len(program.data)}


def arguments(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="who plays")


def execute(options: Request) -> Answer:
    return Answer({"player": options.name}, f"{options.name} plays")


TARGET = Target(
    name="toy", title="a toy", kinds=(KIND,), place=place, options=Options, signature=signature,
    takes=(loops.PLAN, function.form(lambda _place, _options: function.Model("riscv64-unknown-elf", 8)), image.IMAGE),
    owns=lambda data: KIND if data.startswith(MAGIC) else None, members=lambda: tuple(MEMBERS), compile=compile,
    run=run, show=lambda data, _: read(data)["text"], facts=facts, report=report, verify=verify,
    summary=lambda data: [("joy", str(data["joy"]))],
)  # fmt: skip
ENTRY = Entry(
    "toy", "toy_target:TARGET", "toy:slow", verbs={"play": ("play with the toy", "toy_target")},
    bench={"toys": "toy_target:rows"}, codes="toy_target:CODES", names={"toy_place": "toy_target:place"},
)  # fmt: skip


def rows() -> list[dict[str, object]]:
    return [{"toy": name, "cycles": cycles} for name, cycles in MEMBERS.items()]
