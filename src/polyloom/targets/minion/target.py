# SPDX-License-Identifier: Apache-2.0
"""The Minion as a target: bare-metal programs are run on 1 to 1,024 minions, listed and verified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from polyloom.diagnostics import input_error
from polyloom.ir.signature import Signature
from polyloom.targets.minion.machine import load, members, resolve
from polyloom.targets.minion.options import Options
from polyloom.targets.minion.place import Place, place
from polyloom.targets.minion.run import compiled as loops
from polyloom.targets.minion.run.costs import costs
from polyloom.targets.minion.run.run_report import reports
from polyloom.targets.minion.run.simulate import simulate
from polyloom.targets.minion.words import show
from polyloom.targets.minion.words.assemble import assemble
from polyloom.targets.minion.words.listing import listing
from polyloom.targets.minion.words.show import is_own
from polyloom.targets.report import Report
from polyloom.targets.subject import Progress, Subject
from polyloom.targets.target import Execution, Job, Kind, Program, Target

PROGRAM: Final = Kind(".elf", "program of minions")


def _owns(data: bytes) -> Kind | None:
    if loops.owns(data):
        return loops.KIND
    return PROGRAM if is_own(data) else None


def _compile(
    subject: Subject, place: Place, values: Mapping[str, int], options: Options, progress: Progress | None
) -> bytes:
    if progress is not None:
        progress("compiling", 0.0)
    return loops.compile_subject(subject, place, values, options)


def _run(data: bytes, job: Job) -> Execution:
    if loops.owns(data):
        return loops.run(data, job)
    message = "the program does not say on how many minions it runs"
    raise input_error("PL1303", message, help="say it, such as `polyloom simulate k.elf --on minion:32`")


def _signature(data: bytes) -> Signature:
    if loops.owns(data):
        return loops.signature(data)
    return Signature("program", (), (), (), is_open=True)


def _report(program: Program, execution: Execution) -> Sequence[Report]:
    return reports(execution.facts, execution.cycles, listing(program.data))


def _assemble(text: str, name: str, place: Place, options: Options) -> bytes:
    del place, options
    return assemble(text, name)


TARGET: Final = Target(
    name="minion",
    title="Esperanto's ET-SoC-1: 1 to 1,024 Minions with tensor coprocessors",
    takes=(loops.FORM,),
    kinds=(PROGRAM, loops.KIND),
    owns=_owns,
    place=place,
    signature=_signature,
    compile=_compile,
    run=_run,
    show=lambda data, _: listing(data),
    made=lambda data: loops.made(data) if loops.owns(data) else {},
    summary=loops.summary,
    report=_report,
    costs=costs,
    options=Options,
    per_size=True,
    members=members,
    describe=lambda name: resolve(load(name)),
    as_json=show.as_json,
    assemble=_assemble,
    verify=lambda data, _: show.verify(data),
    show_given=show.given,
    verify_given=show.verify_given,
    simulate_given=simulate,
)
