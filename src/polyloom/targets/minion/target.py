# SPDX-License-Identifier: Apache-2.0
"""The Minion as a target, the record that the registry loads: bare-metal programs are compiled for and run on 1 to
1,024 minions, listed and verified.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from polyloom.diagnostics import input_error
from polyloom.ir.signature import Signature
from polyloom.riscv import source_lines
from polyloom.riscv.assembly.open_files import folder_files
from polyloom.targets.account import Account
from polyloom.targets.minion.compile import compile_plan
from polyloom.targets.minion.machine import load, members, resolve
from polyloom.targets.minion.map.form import FORM
from polyloom.targets.minion.map.phase_work import Content
from polyloom.targets.minion.memory_map import reset_address
from polyloom.targets.minion.options import Options
from polyloom.targets.minion.place import Place, parse_place
from polyloom.targets.minion.run import compiled_file
from polyloom.targets.minion.run.account import CycleCounts, account, instruction_kinds
from polyloom.targets.minion.run.costs import costs
from polyloom.targets.minion.run.run_report import reports
from polyloom.targets.minion.run.simulate import simulate
from polyloom.targets.minion.run.stepper import MinionStepper
from polyloom.targets.minion.words import note as notes
from polyloom.targets.minion.words import show
from polyloom.targets.minion.words.assemble import assemble
from polyloom.targets.minion.words.listing import listing
from polyloom.targets.minion.words.show import is_minion_file
from polyloom.targets.subject import Progress, Subject
from polyloom.targets.target import Execution, Job, Kind, Program, Target

PROGRAM: Final = Kind(".elf", "program of minions")


def _owns(data: bytes) -> Kind | None:
    """Kind of a file that this target wrote, None for others. Compiled loops are also ELF files, so their note is asked
    for first.
    """
    # Compiled files have another kind in the registry, by which their signature is known.
    if compiled_file.owns(data):
        return compiled_file.KIND
    return PROGRAM if is_minion_file(data) else None


def _compile(
    subject: Subject, place: Place, values: Mapping[str, int], options: Options, progress: Progress | None
) -> bytes:
    """Adapter from the driver to `compile_plan`. Errors: PL1330 to PL1349, and those of SIMD loops."""
    if progress is not None:
        progress("compiling", 0.0)
    return compile_plan(cast(Content, subject.content), place, values, options)


def _run(data: bytes, job: Job) -> Execution:
    """Adapter of `run`. Errors: PL1303 for an assembled program, which does not say on how many minions it runs."""
    if compiled_file.owns(data):
        return compiled_file.run(data, job)
    message = "the program does not say on how many minions it runs"
    raise input_error("PL1303", message, help="say it, such as `polyloom simulate k.elf --on minion:32`")


def _open_stepper(data: bytes, job: Job) -> MinionStepper:
    """Stepper of a compiled program. Errors: PL1303 as of `_run`."""
    note = notes.decode(data)
    if note is None:
        message = "the program does not say on how many minions it runs, nor where its arrays are"
        raise input_error("PL1303", message, help="debug a compiled program, or its source")
    return MinionStepper(data, note, job)


def _signature(data: bytes) -> Signature:
    """Signature of a file; an assembled program has an open one, whose arrays are named by --in and --out."""
    if compiled_file.owns(data):
        return compiled_file.signature(data)
    # Open: it takes whatever places the user names.
    return Signature("program", (), (), (), is_open=True)


def _account(program: Program, execution: Execution) -> Account | None:
    """Account of a timed run that counted for it."""
    counted = cast("CycleCounts | None", execution.counted)
    if counted is None or execution.cycles is None:
        return None
    kinds = instruction_kinds(listing(program.data))
    return account(counted, execution.cycles, kinds, source_lines.decode_lines(program.data))


def _assemble(text: str, name: str, place: Place, options: Options) -> bytes:
    return assemble(text, name, reset_address(place.machine), open_file=folder_files(options.include))


TARGET: Final = Target(
    name="minion",
    title="Esperanto's ET-SoC-1: 1 to 1,024 Minions with tensor coprocessors",
    takes=(FORM,),
    kinds=(PROGRAM, compiled_file.KIND),
    owns=_owns,
    place=parse_place,
    signature=_signature,
    compile=_compile,
    run=_run,
    show=lambda data, _: listing(data),
    made=lambda data: compiled_file.compile_facts(data) if compiled_file.owns(data) else {},
    summary=compiled_file.summary,
    report=lambda _, execution: reports(execution.facts, execution.cycles),
    costs=costs,
    account=_account,
    options=Options,
    # Tiles, grids and unrolling depend on sizes, so that each size is a program of its own.
    per_size=True,
    members=members,
    describe=lambda name: resolve(load(name)),
    as_json=show.as_json,
    assemble=_assemble,
    verify=lambda data, _: show.verify(data),
    show_given=show.show_foreign,
    verify_given=show.verify_foreign,
    simulate_given=simulate,
    stepper=_open_stepper,
)
