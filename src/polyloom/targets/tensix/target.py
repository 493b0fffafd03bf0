# SPDX-License-Identifier: Apache-2.0
"""The Tensix tile as a target: words and programs of its cores are assembled, listed and verified; loops are compiled
and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from polyloom.diagnostics import Diagnostic, input_error
from polyloom.targets.subject import Progress, Subject
from polyloom.targets.target import Execution, Given, Job, Json, Kind, Target
from polyloom.targets.tensix import program
from polyloom.targets.tensix.assemble import assemble
from polyloom.targets.tensix.encode import to_bytes
from polyloom.targets.tensix.isa import MEMBERS
from polyloom.targets.tensix.loops import target as loops
from polyloom.targets.tensix.options import Options
from polyloom.targets.tensix.place import Place, describe, include, place
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
    subject: Subject, place: Place, values: Mapping[str, int], options: Any, progress: Progress | None
) -> bytes:
    del options, progress
    return loops.compile_subject(subject, place.member, values)


def _run(data: bytes, job: Job) -> Execution:
    return loops.run(data, job)


def _owns(data: bytes) -> Kind | None:
    return loops.KIND if loops.owns(data) else None


def _verify_own(data: bytes, place: Place | None) -> Sequence[Diagnostic]:
    given = Given("", data, place or Place("wormhole"), Options())
    return verify(program.read(given), given.place.member)


def _listing(data: bytes, options: Any) -> str:
    return program.listing(program.read(Given("", data, Place("wormhole"), options)), "wormhole")


TARGET: Final = Target(
    name="tensix",
    title="a Tensix tile of Tenstorrent's Wormhole",
    takes=(loops.FORM,),
    kinds=(loops.KIND,),
    owns=_owns,
    place=place,
    example="tensix:wormhole",
    signature=loops.signature,
    compile=_compile,
    run=_run,
    show=_listing,
    options=Options,
    per_size=True,
    summary=loops.summary,
    members=lambda: MEMBERS,
    describe=describe,
    assemble=_assemble,
    show_given=_show,
    verify=_verify_own,
    verify_given=_verify,
    simulate_given=simulate,
    include=include,
)
