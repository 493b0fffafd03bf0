# SPDX-License-Identifier: Apache-2.0
"""The Minion as a target: bare-metal programs are run on 1 to 1,024 minions, listed and verified."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NoReturn

from polyloom.ir.signature import Signature
from polyloom.targets.minion.machine import load, members, resolve
from polyloom.targets.minion.options import Options
from polyloom.targets.minion.place import Place, place
from polyloom.targets.minion.simulate import simulate
from polyloom.targets.subject import Progress, Subject
from polyloom.targets.target import Execution, Job, Kind, Target, lack


def _owns(data: bytes) -> Kind | None:
    del data
    return None


def _nothing() -> NoReturn:
    lack("the target minion compiles nothing yet", ())


def _compile(
    subject: Subject, place: Place, values: Mapping[str, int], options: Options, progress: Progress | None
) -> bytes:
    del subject, place, values, options, progress
    _nothing()


def _run(data: bytes, job: Job) -> Execution:
    del data, job
    _nothing()


def _signature(data: bytes) -> Signature:
    del data
    _nothing()


def _show(data: bytes, options: Any) -> str:
    del data, options
    _nothing()


PROGRAM: Final = Kind(".elf", "program of minions")


TARGET: Final = Target(
    name="minion",
    title="Esperanto's ET-SoC-1: 1 to 1,024 Minions with tensor coprocessors",
    takes=(),
    kinds=(PROGRAM,),
    owns=_owns,
    place=place,
    example="minion:32",
    signature=_signature,
    compile=_compile,
    run=_run,
    show=_show,
    options=Options,
    per_size=True,
    members=members,
    describe=lambda name: resolve(load(name)),
    simulate_given=simulate,
)
