# SPDX-License-Identifier: Apache-2.0
"""Target record of the Tensix tile: words and programs of its cores are assembled, listed, verified and simulated;
vector kernels are compiled for core T1, loops for T0, T1 and T2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from polyloom.diagnostics import Diagnostic, input_error
from polyloom.ir.signature import Signature
from polyloom.riscv import source_lines
from polyloom.riscv.image import MAGIC
from polyloom.targets.account import Account
from polyloom.targets.stepper import Stepper
from polyloom.targets.subject import Progress, Subject
from polyloom.targets.target import Execution, Given, Job, Json, Kind, Program, Target
from polyloom.targets.tensix import kernel
from polyloom.targets.tensix import stages as loops
from polyloom.targets.tensix.kernel_form import KERNEL, kernel_content
from polyloom.targets.tensix.options import Options
from polyloom.targets.tensix.place import Place, describe, include, place
from polyloom.targets.tensix.run.account import CycleCounts, account
from polyloom.targets.tensix.run.costs import costs
from polyloom.targets.tensix.run.simulate import simulate
from polyloom.targets.tensix.source import note as notes
from polyloom.targets.tensix.source.listing import listing
from polyloom.targets.tensix.source.lower.compile import PASSES
from polyloom.targets.tensix.words import program
from polyloom.targets.tensix.words.assemble import assemble
from polyloom.targets.tensix.words.encode import to_bytes
from polyloom.targets.tensix.words.isa import MEMBERS, Member
from polyloom.targets.tensix.words.verify import verify


def _assemble(text: str, name: str, place: Place, options: Options) -> bytes:
    """Raw words, in the form that is asked for."""
    words = assemble(text, name, place.member).words
    if not words:
        help = "write at least one, such as `SFPNOP`"
        raise input_error("PL1200", f"{name} has no instruction", help=help)
    return to_bytes(words, options.form)


def _show(given: Given) -> tuple[str, Json]:
    found = program.read(given)
    listing = program.listing(found, given.place.member)
    words: list[Json] = [item.word for item in found.items if item.is_tensix]
    labels: dict[str, Json] = {name: address for address, name in found.labels.items()}
    return listing, {"member": given.place.member, "tensix": words, "symbols": labels, "listing": listing}


def _verify(given: Given) -> Sequence[Diagnostic]:
    return [*source_lines.findings(given.data), *verify(program.read(given), given.place.member)]


def _compile(
    subject: Subject, place: Place, values: Mapping[str, int], options: Options, progress: Progress | None
) -> bytes:
    if progress is not None:
        progress("compiling", 0.0)
    if subject.form == loops.FORM.name:
        return loops.compile_subject(subject, place, values)
    if place.grid is not None:
        raise loops.no_product(f"`{subject.signature.name}` is a vector kernel, which runs on one tile")
    return kernel.compile_kernel(kernel_content(subject), subject.signature.name, place.member, options, subject.watch)


def _run(data: bytes, job: Job) -> Execution:
    return loops.run(data, job) if loops.owns(data) else kernel.execute(data, job)


def _open_stepper(data: bytes, job: Job) -> Stepper:
    return loops.open_stepper(data, job) if loops.owns(data) else kernel.open_stepper(data, job)


def _signature(data: bytes) -> Signature:
    return loops.signature(data) if loops.owns(data) else kernel.signature(data)


def _owns(data: bytes) -> Kind | None:
    if loops.owns(data):
        return loops.KIND
    return _KERNEL if data.startswith(MAGIC) and notes.decode(data) is not None else None


def _show_executable(data: bytes, options: Any) -> str:
    # A program of three threads is listed as an ELF file; a kernel's listing knows its source.
    if loops.owns(data):
        return program.listing(program.read(Given("loops.elf", data, Place("wormhole"), options)), "wormhole")
    return listing(data)


def _verify_executable(data: bytes, place: Place | None) -> Sequence[Diagnostic]:
    """Static findings for the member that the file names."""
    member = _member(data) if place is None else place.member
    return _verify(Given("program.elf", data, Place(member), Options()))


def _member(data: bytes) -> Member:
    return "wormhole" if loops.owns(data) else kernel.read_note(data).member


def _facts(given: Program, execution: Execution | None) -> Mapping[str, Json]:
    """What a run tells stands in the execution."""
    # Facts of a run stand in the execution already.
    return _program_facts(given.data) if execution is None else {}


def _account(program: Program, execution: Execution) -> Account | None:
    """Account of a run that counted for it."""
    counted = cast("CycleCounts | None", execution.counted)
    if counted is None or execution.cycles is None:
        return None
    lines = (
        source_lines.decode_lines(program.data) if loops.owns(program.data) else kernel.read_note(program.data).lines
    )
    return account(counted, execution.cycles, lines)


def _program_facts(data: bytes) -> Mapping[str, Json]:
    return {} if loops.owns(data) else kernel.program_facts(kernel.read_note(data))


def _summary(data: Mapping[str, Json]) -> Sequence[tuple[str, str]]:
    return loops.summary(data) if "tiles" in data else kernel.summary(data)


_KERNEL: Final = Kind(".elf", "vector kernel for a Tensix tile")


TARGET: Final = Target(
    name="tensix",
    title="a Tensix tile of Tenstorrent's Wormhole",
    takes=(KERNEL, loops.FORM),
    kinds=(_KERNEL, loops.KIND),
    owns=_owns,
    place=place,
    signature=_signature,
    compile=_compile,
    run=_run,
    show=_show_executable,
    facts=_facts,
    made=_program_facts,
    summary=_summary,
    account=_account,
    costs=lambda made, execution: costs(made, execution, _member(made.data)),
    verify=_verify_executable,
    stepper=_open_stepper,
    options=Options,
    # Loops of a tile are compiled for numbers: tile counts stand in its programs.
    per_size=True,
    members=lambda: MEMBERS,
    describe=describe,
    assemble=_assemble,
    show_given=_show,
    verify_given=_verify,
    simulate_given=simulate,
    lists=(KERNEL.name,),
    passes=(loops.CUT, *PASSES),
    include=include,
)
