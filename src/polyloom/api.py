# SPDX-License-Identifier: Apache-2.0
"""The Python interface, which the command line uses too: compile once, instantiate for any size, run and compare.

`compile` -> `Compiled` -> `.instantiate(N=..., pes=(8, 8))` -> `Instance` -> `.run(**arrays)` -> `Result`. What runs is always
the bytes of the concrete file, read back; what comes out is compared with the interpreter of the equations, bit for bit, and
with the user's own function.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from os import PathLike, fspath
from time import perf_counter
from typing import Any, Final, TypeVar, cast

import numpy as np
import numpy.typing as npt

from polyloom import files, frontend
from polyloom.diagnostics import INPUT, INTERNAL, Diagnostic, PolyloomError, input_error
from polyloom.frontend.python.kernel import Kernel
from polyloom.frontend.source import Options, Source
from polyloom.ir.arguments import Signature, random_inputs, scalar
from polyloom.ir.pla import Program
from polyloom.ir.plan import Plan
from polyloom.ir.plan_interpret import interpret
from polyloom.report import html, text
from polyloom.report.compare import compare, compare_roughly, describe_array
from polyloom.targets import phase_views, phases, registry, stages
from polyloom.targets.phases import Choice, Execution
from polyloom.targets.registry import Arrays, Event, Json, Place, Progress, Report, Target

__all__ = ["Compiled", "Instance", "Options", "PolyloomError", "Result", "compare", "compile", "decode", "load", "source_of"]

T = TypeVar("T")
_AGAIN: Final = "compile the program again; if the file is as the compiler wrote it, report it with the program"
_DRAWN: Final = 500_000
"""Operations of a run that is repeated with a trace only to be drawn."""


class _Clock:
    seconds = 0.0


@contextmanager
def _timed() -> Generator[_Clock]:
    clock, start = _Clock(), perf_counter()
    yield clock
    clock.seconds = perf_counter() - start


@dataclass(frozen=True)
class _File:
    """A configuration of either kind: its bytes, and the target that can read them."""

    target: Target
    data: bytes

    @property
    def kernel(self) -> str:
        return phases.kernel(self.target, self.data)

    @property
    def _json(self) -> Json:
        return phase_views.as_json(self.target, self.data)

    @property
    def listing(self) -> str:
        """What `polyloom show` prints."""
        return phase_views.show(self.target, self.data)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file, whole or not at all. Errors: PL0808."""
        files.write({fspath(path): self.data})

    def _repr_html_(self) -> str:
        return html.listing(self.listing)


@dataclass(frozen=True)
class Compiled(_File):
    """A symbolic configuration. `source` is None when it was loaded from a file, called `path`: then runs have nothing to be compared with."""

    on: str | None = None
    place: Place | None = None
    source: Source | None = None
    seconds: float | None = None
    path: str | None = None

    @property
    def parameters(self) -> tuple[str, ...]:
        return phases.parameters(self.target, self.data)

    @property
    def symbolic(self) -> Json:
        """The configuration as plain values, as `polyloom show --json` prints it."""
        return self._json

    def instantiate(
        self, values: Mapping[str, int] | None = None, /, *, pes: tuple[int, int] | None = None, candidate: Choice[int] = None, **more: int
    ) -> Instance:
        """The concrete configuration for parameter values (by keyword, or as a mapping) and `pes` = (rows, columns).

        `candidate` is the number of a stored one, `{2: 0}` that of phase 2; without it the best is taken.
        Errors: PL0230, PL0505, PL0805 and PL0815 for wrong arguments, PL051x (exit 3) where the region or the machine is too small.
        """
        parameters = _named(values, more, "PL0230", "N=16")
        asked = registry.region(pes) if pes is not None else (self.place.rows, self.place.columns) if self.place else registry.REGION
        with _timed() as clock, _blamed(self.path):
            data = phases.instantiate(self.target, self.data, parameters, asked, candidate)
        return Instance(self.target, data, parameters, self, clock.seconds, asked)

    def __repr__(self) -> str:
        return f"<symbolic configuration of {self.kernel}({', '.join(self.parameters)}): {len(self.data)} bytes>"


@dataclass(frozen=True)
class Instance(_File):
    """A concrete configuration. `parameters`, `compiled` and `region`, what was asked for, are None when it was loaded from a file."""

    parameters: Mapping[str, int] | None = None
    compiled: Compiled | None = None
    seconds: float | None = None
    region: tuple[int, int] | None = None

    @property
    def signature(self) -> Signature:
        """The arrays of the configuration; it has no parameters."""
        return stages.read(self.target, self.data)

    @property
    def concrete(self) -> Json:
        """The configuration as plain values, as `polyloom show --json` prints it."""
        return self._json

    def run(self, arrays: Mapping[str, npt.ArrayLike] | None = None, /, *, seed: int = 0, trace: bool = False, **more: npt.ArrayLike) -> Result:
        """Run on the model. Inputs that are not given are made up from `seed`; a scalar may be a plain number. A difference from
        the equations or from the source raises PL0812 (exit 4); wrong inputs raise PL0231, PL0232, or, like faults, PL06xx."""
        result = self.measure(self._arrays(_named(arrays, more, "PL0231", "x=numpy.ones(16)")), seed=seed, trace=trace)
        if result.differences:
            raise PolyloomError(*result.differences)
        return result

    def measure(self, given: Arrays, *, seed: int = 0, trace: bool = False, on: str | None = None, progress: Progress | None = None) -> Result:
        """Like `run`, but differences are in the result. `on` names the machine where a loaded file's is not a shipped one."""
        tell = progress or registry.silent
        tell("running", 0.0)
        source, values = self.compiled.source if self.compiled else None, self.parameters
        made_up = random_inputs(source.plan, values, seed) if source is not None and values is not None else {}
        inputs = {**made_up, **given}
        member = on or (self.compiled.place.member if self.compiled and self.compiled.place else None)
        simulate = partial(phases.simulate, self.target, self.data, member, inputs)
        try:
            with _timed() as clock:
                execution = simulate(trace, _third(progress))
        except PolyloomError:
            if source is not None and values is not None:
                interpret(source.plan, values, inputs)  # what data are to blame for, the equations refuse at the user's line
            raise
        if source is None or values is None:
            return Result(self, execution, clock.seconds, None, (), simulate)
        differences = _differences(source, values, inputs, execution.outputs, tell)
        return Result(self, execution, clock.seconds, not differences, differences, simulate)

    def _arrays(self, given: Mapping[str, Any]) -> Arrays:
        scalars = {a.name: a for a in self.signature.inputs if not a.shape}
        return {n: scalar(scalars[n], v) if n in scalars and isinstance(v, int | float) else np.asarray(v) for n, v in given.items()}

    def __repr__(self) -> str:
        values = ", ".join(f"{n}={v}" for n, v in (self.parameters or {}).items())
        return f"<concrete configuration of {self.kernel}({values}): {len(self.data)} bytes>"


@dataclass(frozen=True)
class Result:
    """What a run gave. `verified` is None when there was no program to compare with."""

    instance: Instance
    execution: Execution
    seconds: float
    verified: bool | None
    differences: tuple[Diagnostic, ...] = field(repr=False)
    _simulate: Callable[..., Execution] = field(repr=False)

    @property
    def outputs(self) -> Arrays:
        return self.execution.outputs

    @property
    def cycles(self) -> int:
        """Of all phases, and of the transfers between them."""
        return self.execution.cycles

    @cached_property
    def views(self) -> tuple[Report, ...]:
        """Pressure, reservation table, array and control flow of every phase as data."""
        return phase_views.reports(self.instance.target, self._symbolic, self.instance.data)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """What every unit did. A run without a trace is repeated with one, unless it is long: then nothing."""
        return self.execution.events or (self._simulate(True).events if self.execution.operations <= _DRAWN else ())

    @property
    def _symbolic(self) -> bytes | None:
        return self.instance.compiled.data if self.instance.compiled else None

    @cached_property
    def data(self) -> dict[str, Json]:
        """What `polyloom run --json` prints."""
        instance, compiled = self.instance, self.instance.compiled
        facts, alone = phase_views.facts(instance.target, self._symbolic, instance.data)
        ran = zip(alone, self.execution.phases, self.execution.transfers, strict=True)
        return {
            "verified": self.verified,
            "kernel": instance.kernel,
            "on": compiled.on if compiled else None,
            "parameters": dict(instance.parameters) if instance.parameters is not None else None,
            "cycles": self.cycles,
            "operations": self.execution.operations,
            "compile_seconds": compiled.seconds if compiled else None,
            "run_seconds": self.seconds,
            "outputs": {name: describe_array(array) for name, array in self.outputs.items()},
            "region": list(instance.region) if instance.region else None,
            **facts,
            "instantiate_seconds": instance.seconds,
            "phases": [{**own, "cycles": phase.cycles, "transfer_cycles": transfer} for own, phase, transfer in ran],
        }

    def report(self) -> str:
        """The text that `polyloom run` prints."""
        return text.page(self.data, self.views)

    def page(self) -> str:
        """The HTML page that `polyloom run --report` writes."""
        return html.document(self.data, self.views, self.events, self.instance.listing)

    def _repr_html_(self) -> str:
        return html.body(self.data, self.views, self.events)


def compile(
    source: Source | Kernel | Plan | Program | str | PathLike[str],
    on: str = "tcpa",
    *,
    mapping: Choice[str | PathLike[str]] = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> Compiled:
    """Compile a program (or the file of one, or a kernel) symbolically for `on`, such as "tcpa:unit"; errors PL01xx to PL04xx.

    `mapping` is the file of a mapping of your own, `{2: path}` that of phase 2."""
    target, place = registry.split_place(on)
    loaded = source_of(source, options)
    chosen = {n: _mapping(path) for n, path in mapping.items()} if isinstance(mapping, Mapping) else None if mapping is None else _mapping(mapping)
    with _timed() as clock:
        data = phases.compile(target, loaded.plan, place.member, chosen, progress)
    return Compiled(target, data, on, place, loaded, loaded.seconds + clock.seconds)


def source_of(source: Source | Kernel | Plan | Program | str | PathLike[str], options: Options | None = None) -> Source:
    """The source that a value of any of these kinds is, or that a file holds."""
    if isinstance(source, Source):
        return source
    if isinstance(source, Kernel):
        return frontend.of_nest(source.nest, source.reference, source.path, reassociate=bool(options and options.reassociate))
    if isinstance(source, Plan | Program):
        return frontend.of_plan(source)
    try:
        path = fspath(source)
    except TypeError:
        raise input_error("PL0810", f"{source!r} is not a program", help="give the path of one, or a function with `@pl.kernel` above it") from None
    return frontend.load(path, options)


def _named(given: object, more: Mapping[str, T], code: str, example: str) -> dict[str, T]:
    """What is given by name: in a mapping, and by keyword."""
    if given is not None and not isinstance(given, Mapping):
        raise input_error(code, f"{given!r} has no name", help=f"give everything by name, as in {example}")
    return {**cast("Mapping[str, T]", given or {}), **more}


def _mapping(path: str | PathLike[str]) -> tuple[str, str]:
    """The text of a mapping, and its name."""
    try:
        return files.read(path).decode("utf-8-sig"), fspath(path)
    except UnicodeDecodeError:
        raise input_error("PL0807", f"cannot read '{path}': it is not UTF-8 text", help="give an existing text file in UTF-8") from None


def load(path: str | PathLike[str]) -> Compiled | Instance:
    """A symbolic or concrete configuration that was saved; which one, its first bytes tell. Errors: PL0807, PL0810 and PL07xx."""
    data = files.read(path)
    return decode(fspath(path), data)


def decode(name: str, data: bytes) -> Compiled | Instance:
    """`load` for bytes; errors PL0810 and PL07xx, in which the file is called `name`."""
    target, symbolic = stages.kind_of(name, data)
    return Compiled(target, data, path=name) if symbolic else Instance(target, data)


@contextmanager
def _blamed(path: str | None) -> Generator[None]:
    """What would be a defect of the compiler's own mapping is the fault of the file where the mapping comes from one, as is whatever is malformed."""
    try:
        yield
    except PolyloomError as error:
        if path is None:
            raise
        raise PolyloomError(*(_of_file(d, path) for d in error.diagnostics)) from None


def _of_file(diagnostic: Diagnostic, path: str) -> Diagnostic:
    if diagnostic.exit_code != INTERNAL and not diagnostic.code.startswith("PL07"):
        return diagnostic
    exit_code, help = (INPUT, _AGAIN) if diagnostic.exit_code == INTERNAL else (diagnostic.exit_code, diagnostic.help)
    return replace(diagnostic, exit_code=exit_code, notes=(*diagnostic.notes, f"in the file '{path}'"), help=help)


def _third(progress: Progress | None) -> Progress | None:
    """The first third of what is told."""
    return None if progress is None else lambda step, fraction: progress(step, fraction / 3)


def _differences(source: Source, values: Mapping[str, int], inputs: Arrays, got: Arrays, tell: Progress = registry.silent) -> tuple[Diagnostic, ...]:
    """From the equations, bit for bit; then from the user's own function, where there is one."""
    what = "the reference" if source.nest is None else "its equations"
    tell("interpreting the equations", 1 / 3)
    found = [compare(interpret(source.plan, values, inputs), got, what)]
    if source.nest is not None:
        tell("calling the function itself", 2 / 3)
        expected = source.reference(values, inputs)
        held = {n: inputs.get(n, np.zeros_like(a)) for n, a in expected.items() if n not in got}  # assigned to in loops that are never executed
        found.append((compare if source.exact else compare_roughly)(expected, {**held, **got}, f"the source, {source.path}"))
    return tuple(d for d in found if d is not None)
