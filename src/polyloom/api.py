# SPDX-License-Identifier: Apache-2.0
"""The Python interface, which the command line uses too: compile once, instantiate for any size, run and compare.

`compile` -> `Compiled` -> `.instantiate(N=..., pes=(8, 8))` -> `Instance` -> `.run(**arrays)` -> `Result`. What runs is always
the bytes of the concrete file, read back; what comes out is compared, bit for bit, with the program's own interpreter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from time import perf_counter

import numpy as np
import numpy.typing as npt

from polyloom.diagnostics import MISMATCH, Diagnostic, PolyloomError, input_error
from polyloom.frontend import pla
from polyloom.ir.arguments import random_inputs
from polyloom.ir.interpret import interpret
from polyloom.ir.pla import Program
from polyloom.report import html, text
from polyloom.targets import registry
from polyloom.targets.registry import Arrays, Json, Place, Progress, Report, Simulation, Target

__all__ = ["Compiled", "Instance", "PolyloomError", "Result", "compare", "compile", "decode", "load", "read_program"]


class _Clock:
    seconds = 0.0


@contextmanager
def _timed() -> Generator[_Clock]:
    clock, start = _Clock(), perf_counter()
    yield clock
    clock.seconds = perf_counter() - start


@dataclass(frozen=True)
class Compiled:
    """A symbolic configuration. `program` is None when it was loaded from a file: then runs have nothing to be compared with."""

    target: Target
    on: str | None
    place: Place | None
    data: bytes
    program: Program | None = None
    seconds: float | None = None

    @property
    def kernel(self) -> str:
        return self.target.kernel(self.data)

    @property
    def parameters(self) -> tuple[str, ...]:
        return self.target.parameters(self.data)

    @property
    def symbolic(self) -> Json:
        """The configuration as plain values, as `polyloom show --json` prints it."""
        return self.target.as_json(self.data)

    def save(self, path: str | PathLike[str]) -> None:
        Path(path).write_bytes(self.data)

    def instantiate(
        self, values: Mapping[str, int] | None = None, /, *, pes: tuple[int, int] | None = None, candidate: int | None = None, **more: int
    ) -> Instance:
        """The concrete configuration for parameter values (by keyword, or as a mapping) and `pes` = (rows, columns).

        Errors: PL05xx, exit 1 for wrong arguments and 3 where the region or the machine is too small.
        """
        parameters = {**(values or {}), **more}
        region = pes or ((self.place.rows, self.place.columns) if self.place else registry.REGION)
        with _timed() as clock:
            data = self.target.instantiate(self.data, parameters, region, candidate)
        return Instance(self.target, data, parameters, self, clock.seconds)

    def __repr__(self) -> str:
        return f"<symbolic configuration of {self.kernel}({', '.join(self.parameters)}): {len(self.data)} bytes>"

    def _repr_html_(self) -> str:
        return html.listing(self.target.show(self.data))


@dataclass(frozen=True)
class Instance:
    """A concrete configuration. `parameters` and `compiled` are None when it was loaded from a file."""

    target: Target
    data: bytes
    parameters: Mapping[str, int] | None = None
    compiled: Compiled | None = None
    seconds: float | None = None

    @property
    def kernel(self) -> str:
        return self.target.kernel(self.data)

    @property
    def concrete(self) -> Json:
        """The configuration as plain values, as `polyloom show --json` prints it."""
        return self.target.as_json(self.data)

    def save(self, path: str | PathLike[str]) -> None:
        Path(path).write_bytes(self.data)

    def run(self, arrays: Arrays | None = None, /, *, seed: int = 0, trace: bool = False, **more: npt.ArrayLike) -> Result:
        """Run on the model. Inputs that are not given are made up from `seed`. A difference from the interpreter raises
        PL0812 (exit 4); arrays of a wrong name, shape or type and faults of the model raise PL06xx."""
        result = self.measure({**(arrays or {}), **{name: np.asarray(value) for name, value in more.items()}}, seed=seed, trace=trace)
        if result.difference is not None:
            raise PolyloomError(result.difference)
        return result

    def measure(self, given: Arrays, *, seed: int = 0, trace: bool = False, on: str | None = None) -> Result:
        """Like `run`, but a difference is `Result.difference`. `on` names the machine where a loaded file's is not a shipped one."""
        program = self.compiled.program if self.compiled else None
        made_up = random_inputs(program, self.parameters, seed) if program is not None and self.parameters is not None else {}
        inputs = {**made_up, **given}
        member = on or (self.compiled.place.member if self.compiled and self.compiled.place else None)
        with _timed() as clock:
            simulation = self.target.simulate(self.data, member, inputs, trace)
        if program is None or self.parameters is None:
            return Result(self, simulation, clock.seconds, None, None)
        difference = compare(interpret(program, self.parameters, inputs), simulation.outputs)
        return Result(self, simulation, clock.seconds, difference is None, difference)

    def __repr__(self) -> str:
        values = ", ".join(f"{n}={v}" for n, v in (self.parameters or {}).items())
        return f"<concrete configuration of {self.kernel}({values}): {len(self.data)} bytes>"

    def _repr_html_(self) -> str:
        return html.listing(self.target.show(self.data))


@dataclass(frozen=True)
class Result:
    """What a run gave. `verified` is None when there was no program to compare with."""

    instance: Instance
    simulation: Simulation
    seconds: float
    verified: bool | None
    difference: Diagnostic | None = field(repr=False)

    @property
    def outputs(self) -> Arrays:
        return self.simulation.outputs

    @property
    def cycles(self) -> int:
        return self.simulation.cycles

    @cached_property
    def view(self) -> Report:
        """Pressure, reservation table, array and control flow as data."""
        compiled = self.instance.compiled
        return self.instance.target.report(compiled.data if compiled else None, self.instance.data)

    @cached_property
    def data(self) -> dict[str, Json]:
        """What `polyloom run --json` prints."""
        instance, compiled = self.instance, self.instance.compiled
        return {
            "verified": self.verified,
            "kernel": instance.kernel,
            "on": compiled.on if compiled else None,
            "parameters": dict(instance.parameters) if instance.parameters is not None else None,
            "cycles": self.cycles,
            "operations": self.simulation.operations,
            "compile_seconds": compiled.seconds if compiled else None,
            "run_seconds": self.seconds,
            "outputs": {name: describe_array(array) for name, array in self.outputs.items()},
            **instance.target.facts(compiled.data if compiled else None, instance.data),
            "instantiate_seconds": instance.seconds,
        }

    def report(self) -> str:
        """The text that `polyloom run` prints."""
        return text.page(self.data, self.view)

    def _repr_html_(self) -> str:
        return html.body(self.data, self.view)


def compile(
    program: Program | str | PathLike[str], on: str = "tcpa", *, mapping: str | PathLike[str] | None = None, progress: Progress | None = None
) -> Compiled:
    """Compile a program (or the file of one) symbolically for `on`, such as "tcpa:unit"; errors PL01xx to PL04xx."""
    target, place = registry.split_place(on)
    loaded = program if isinstance(program, Program) else read_program(fspath(program))
    chosen = None if mapping is None else (_read_text(fspath(mapping)), fspath(mapping))
    with _timed() as clock:
        data = target.compile(loaded, place.member, chosen, progress)
    return Compiled(target, on, place, data, loaded, clock.seconds)


def read_program(path: str) -> Program:
    """The program in a source file, told by its ending."""
    if not path.endswith(".pla"):
        raise input_error("PL0810", f"'{path}' is not a program", help="give a file of equations whose name ends in .pla")
    return pla.load(path)


def _read_text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a path with a zero byte
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise input_error("PL0807", f"cannot read '{path}': {reason}", help="give an existing text file in UTF-8") from None


def load(path: str | PathLike[str]) -> Compiled | Instance:
    """A symbolic or concrete configuration that was saved; which one, its first bytes tell."""
    return decode(fspath(path), Path(path).read_bytes())


def decode(name: str, data: bytes) -> Compiled | Instance:
    """`load` for bytes; errors PL0810 and PL07xx, in which the file is called `name`."""
    target, kind = registry.kind_of(name, data)
    target.kernel(data)
    return Compiled(target, None, None, data) if kind.symbolic else Instance(target, data)


def compare(expected: Arrays, got: Arrays) -> Diagnostic | None:
    """The first difference in bits, as PL0812 (exit 4); NaNs are alike."""
    for name, want in expected.items():
        have = got[name]
        wrong = np.argwhere(_bits(want) != _bits(have))
        if len(wrong):
            index = tuple(int(n) for n in wrong[0])
            where = f"{name}[{', '.join(map(str, index))}]" if index else name
            message = f"{where} differs from the reference: expected {want[index]}, got {have[index]}"
            return Diagnostic("PL0812", message, MISMATCH, notes=(f"{len(wrong)} of {want.size} elements of {name} differ",))
    return None


def _bits(array: npt.NDArray[np.generic]) -> npt.NDArray[np.int64]:
    """Integers that are equal exactly for equal bits, and for any two NaNs."""
    if array.dtype != np.float32:
        return array.astype(np.int64)
    values = array.astype(np.float32)
    return np.where(np.isnan(values), -1, values.view(np.uint32).astype(np.int64))


def describe_array(array: npt.NDArray[np.generic]) -> dict[str, Json]:
    """Shape, dtype, and the SHA-256 of the elements in row-major order, little-endian."""
    data = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes()
    return {"shape": list(array.shape), "dtype": str(array.dtype), "sha256": hashlib.sha256(data).hexdigest()}
