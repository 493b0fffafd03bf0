# SPDX-License-Identifier: Apache-2.0
"""Check of a file in stages: what its language has wrong, which is known at once, then what a machine refuses, and the
intervals of its loops (Rau 1994), which take as long as the solver does.

Nothing is run: no function is called, and no model is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from time import perf_counter
from typing import Any, Final, Literal

from polyloom import api, frontend
from polyloom.buffers import unsaved_buffers
from polyloom.diagnostics import Diagnostic, PolyloomError, Source, input_error
from polyloom.editor.hints import Hint, loop_hints
from polyloom.files import read_source
from polyloom.frontend.language_check import check_language, has_kernels
from polyloom.frontend.source import Options
from polyloom.riscv.rvwmo.reader import read_litmus
from polyloom.run.inputs import read_values
from polyloom.targets import registry
from polyloom.targets.target import Place, Target, need

_ASSEMBLY: Final = (".s", ".S", ".asm", ".tts", ".conasm", ".genasm")
"""Endings of texts that a target assembles."""


@dataclass(frozen=True, slots=True)
class Request:
    """Request of a check: the path of a file, how it is read, where it is to run, with the target's options and values
    of its parameters, and the text of the buffer in an editor, None for what is on the disk.
    """

    path: str
    options: Options = field(default_factory=Options)
    on: str | None = None
    own: Mapping[str, Any] = field(default_factory=dict[str, Any])
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """Stage of a check, with the functions that it has looked at, errors before warnings, and how many seconds it
    took.
    """

    name: Literal["language", "machine"]
    functions: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    hints: tuple[Hint, ...] = ()
    seconds: float = 0.0

    @property
    def has_errors(self) -> bool:
        return any(each.exit_code for each in self.diagnostics)


def check(request: Request) -> Iterator[Stage]:
    """Stages of a check, each as soon as it is known; that of the machine only where one is named, and where the
    language has no errors."""
    file = frontend.source_file(request.path)
    with nullcontext() if request.text is None else unsaved_buffers({file: request.text}):
        if request.text is not None and file.endswith(".py") and not has_kernels(file):
            # Another program that the editor has opened: nobody asked to execute it.
            yield Stage("language")
            return
        first = _timed_stage("language", lambda: _check_language(request))
        yield first
        if request.on is not None and not first.has_errors:
            yield _timed_stage("machine", lambda: _check_machine(request, first.functions))


def _timed_stage(name: Literal["language", "machine"], work: Any) -> Stage:
    """Stage of work that gives one; its error becomes its diagnostics."""
    start = perf_counter()
    try:
        found = work()
    except PolyloomError as error:
        found = Stage(name, (), error.diagnostics)
    ordered = sorted(found.diagnostics, key=lambda each: (each.exit_code == 0, _position(each)))
    return replace(found, diagnostics=tuple(ordered), seconds=perf_counter() - start)


def _position(diagnostic: Diagnostic) -> tuple[int, int]:
    return (0, 0) if diagnostic.span is None else (diagnostic.span.line, diagnostic.span.column)


def _check_language(request: Request) -> Stage:
    file = frontend.source_file(request.path)
    if request.text is not None and file.endswith(".c") and not Path(file).exists():
        # The driver of clang asks for the file before it looks at what stands in its place.
        raise input_error("PL0104", f"cannot read {file}: clang reads what was saved once", help="save the file")
    if frontend.is_source(request.path):
        found = list(check_language(request.path, request.options))
        return Stage("language", tuple(name for name, _ in found if name), tuple(d for _, own in found for d in own))
    if file.endswith(".litmus"):
        read_litmus(Source(file, read_source(file, ".litmus").decode("utf-8", "replace")))
    elif file.endswith(".toml"):
        target = registry.default_target() if request.on is None else registry.split_place(request.on)[0]
        need(target, "describe", registry.target_names(lambda each: each.describe is not None))(file)
    elif request.on is None:
        kinds = ", ".join((*frontend.SOURCE_FILES, ".litmus", ".toml"))
        help = f"give a file that ends in one of {kinds}; for others, such as assembly, name a machine with --on"
        raise input_error("PL0810", f"'{file}' is in no language that is checked without a machine", help=help)
    return Stage("language")


def _check_machine(request: Request, functions: Sequence[str]) -> Stage:
    assert request.on is not None
    target, place = registry.split_place(request.on)
    file, chosen = frontend.split_function_name(request.path, request.options)
    if file.endswith((".litmus", ".toml")):
        return Stage("machine")
    if PurePath(file).suffix in _ASSEMBLY and target.assemble is not None:
        text = read_source(file, "assembly").decode("utf-8", "replace")
        target.assemble(text, file, place, target.options(**request.own))
        return Stage("machine")
    names: Sequence[str | None] = functions or (chosen.function,)
    each = [_compile_function(request, file, replace(chosen, function=name), target, place) for name in names]
    diagnostics = tuple(dict.fromkeys(d for stage in each for d in stage.diagnostics))
    return Stage("machine", tuple(functions), diagnostics, tuple(hint for stage in each for hint in stage.hints))


def _compile_function(request: Request, file: str, reading: Options, target: Target, place: Place) -> Stage:
    """Stage of one function: of a target that compiles for each size, only with values of all parameters."""
    own = target.options(**request.own)
    try:
        subject = api.read_subject(file, target, place, reading, own)
        made = api.compile_subject(subject, target, place, own)
        if api.compiles_per_size(target, subject) and {*subject.signature.sizes} <= {*request.values}:
            made.prepare_instance(read_values(subject.signature, request.values)[0])
    except PolyloomError as error:
        return Stage("machine", (), error.diagnostics)
    intervals = target.intervals(made.data) if target.intervals is not None and made.data else ()
    return Stage("machine", (), subject.warnings, loop_hints(intervals, subject, file))
