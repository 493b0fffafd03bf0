# SPDX-License-Identifier: Apache-2.0
"""The Tensix tile as a target: words and programs of its cores are assembled, listed, verified and simulated; vector
kernels are compiled for core T1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from polyloom.diagnostics import Diagnostic, input_error
from polyloom.riscv.image import MAGIC
from polyloom.targets.subject import Progress, Subject
from polyloom.targets.target import Execution, Given, Json, Kind, Program, Target
from polyloom.targets.tensix import program
from polyloom.targets.tensix.assemble import assemble
from polyloom.targets.tensix.encode import to_bytes
from polyloom.targets.tensix.isa import MEMBERS
from polyloom.targets.tensix.options import Options
from polyloom.targets.tensix.place import Place, describe, include, place
from polyloom.targets.tensix.sfpi import kernel
from polyloom.targets.tensix.sfpi import note as notes
from polyloom.targets.tensix.sfpi.form import KERNEL, content
from polyloom.targets.tensix.sfpi.listing import listing
from polyloom.targets.tensix.simulate import simulate
from polyloom.targets.tensix.verify import verify


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
    return verify(program.read(given), given.place.member)


def _compile(
    subject: Subject, place: Place, values: Mapping[str, int], options: Options, progress: Progress | None
) -> bytes:
    del values
    if progress is not None:
        progress("compiling", 0.0)
    return kernel.compile_kernel(content(subject), subject.signature.name, place.member, options, subject.watch)


def _owns(data: bytes) -> Kind | None:
    return _KERNEL if data.startswith(MAGIC) and notes.decode(data) is not None else None


def _show_own(data: bytes, options: Any) -> str:
    del options
    return listing(data)


def _verify_own(data: bytes, place: Place | None) -> Sequence[Diagnostic]:
    """For the member that the file names."""
    member = kernel.note_of(data).member if place is None else place.member
    return verify(program.read(Given("kernel.elf", data, Place(member), Options())), member)


def _facts(given: Program, execution: Execution | None) -> Mapping[str, Json]:
    """What a run tells stands in the execution."""
    return {} if execution is not None else kernel.program_facts(kernel.note_of(given.data))


_KERNEL: Final = Kind(".elf", "vector kernel for a Tensix tile")


TARGET: Final = Target(
    name="tensix",
    title="a Tensix tile of Tenstorrent's Wormhole",
    takes=(KERNEL,),
    kinds=(_KERNEL,),
    owns=_owns,
    place=place,
    example="tensix:wormhole",
    signature=kernel.signature,
    compile=_compile,
    run=kernel.execute,
    show=_show_own,
    facts=_facts,
    made=lambda data: kernel.program_facts(kernel.note_of(data)),
    summary=kernel.summary,
    verify=_verify_own,
    options=Options,
    members=lambda: MEMBERS,
    describe=describe,
    assemble=_assemble,
    show_given=_show,
    verify_given=_verify,
    simulate_given=simulate,
    include=include,
)
