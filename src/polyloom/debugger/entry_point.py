# SPDX-License-Identifier: Apache-2.0
"""`pl.debug`: a debugger for a source, a compiled program or a file of any machine."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any, cast

from polyloom import api
from polyloom.debugger.commands import Debugger
from polyloom.frontend import source_file
from polyloom.run.inputs import Fill
from polyloom.run.instance import Instance
from polyloom.stepping.open import open_session
from polyloom.stepping.session import LIMIT
from polyloom.targets import registry
from polyloom.targets.target import need


def debug(
    program: Any,
    values: Mapping[str, Any] | None = None,
    /,
    *,
    on: str | None = None,
    seed: int = 0,
    fill: Fill | None = None,
    **more: Any,
) -> Debugger:
    """Debugger of a program before its first cycle: of a source or a kernel on the machine `on`, of an `Instance`, or
    of a saved file. `values` and `more` are sizes, scalars and arrays by name; what is not given is made up from
    `seed`, as runs do. `execute` takes the commands of `polyloom debug`. Errors: those of compiling, PL0801 for a
    machine without a stepper.
    """
    given = {**(values or {}), **more}
    if isinstance(program, Instance):
        return open_debugger(program, given, seed=seed, fill=fill)
    path = fspath(cast("str | PathLike[str]", program)) if isinstance(program, str | PathLike) else ""
    if path and is_program(path):
        loaded = api.load(path)
        assert isinstance(loaded, Instance)
        return open_debugger(loaded, given, seed=seed, fill=fill)
    compiled = api.compile(cast(Any, program), on)
    # Sizes are part of the compiled instance, all else is an input of its run.
    sizes = {name: int(value) for name, value in given.items() if name in compiled.parameters}
    rest = {name: value for name, value in given.items() if name not in sizes}
    return open_debugger(compiled.prepare_instance(sizes), rest, seed=seed, fill=fill)


def is_program(path: str) -> bool:
    """Whether a path names a program file instead of a source."""
    return not source_file(path).endswith((".py", ".c", ".pla", ".h", ".mlir", ".onnx"))


def open_debugger(
    instance: Instance,
    given: Mapping[str, Any],
    *,
    seed: int = 0,
    fill: Fill | None = None,
    limit: int = LIMIT,
) -> Debugger:
    """Debugger of a program that is ready to run; its snapshots and its history take at most `limit` bytes."""
    target = instance.target
    opened = need(target, "stepper", registry.target_names(lambda t: t.stepper is not None))
    job, subject = instance.job(given, seed=seed, fill=fill), instance.origin.subject
    session = open_session(opened, instance.data, job, subject, limit)
    texts = dict(subject.texts) if subject is not None else dict(instance.origin.texts)
    return Debugger(session, texts)
