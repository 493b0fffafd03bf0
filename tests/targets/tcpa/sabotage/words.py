# SPDX-License-Identifier: Apache-2.0
"""Damage to the words of a configuration, and who notices it.

A word is changed, the checksum is repaired, and then one of three must object: the static check, a fault of the model,
or the comparison of the outputs with the right ones, for a few sets of inputs.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from polyloom.binary import CHECKED, fletcher64
from polyloom.diagnostics import PolyloomError
from polyloom.ir.numbers import NUMPY
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.run import model
from polyloom.targets.tcpa.run.verify import verify_concrete
from polyloom.targets.tcpa.words import concrete_file, listing

Arrays = dict[str, npt.NDArray[Any]]
CHECKSUM = range(8 // 4, CHECKED // 4)
"""The words of the checksum itself."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A right configuration with inputs and the outputs that belong to them."""

    name: str
    data: bytes
    machine: Machine
    runs: tuple[tuple[Arrays, Arrays], ...]


def repaired(data: bytes) -> bytes:
    """`data` with the checksum that belongs to it."""
    return data[:8] + fletcher64(data[CHECKED:]).to_bytes(8, "little") + data[CHECKED:]


def damages(data: bytes, word: int, rng: random.Random) -> Iterator[bytes]:
    """The file with one word changed: its lowest, its highest and a random bit, one more, one less."""
    at = 4 * word
    value = int.from_bytes(data[at : at + 4], "little")
    for changed in {
        value ^ 1,
        value ^ 1 << 31,
        value ^ 1 << rng.randrange(32),
        (value + 1) % (1 << 32),
        (value - 1) % (1 << 32),
    }:
        yield repaired(data[:at] + changed.to_bytes(4, "little") + data[at + 4 :])


def noticed_at_rest(subject: Subject, data: bytes) -> str | None:
    """The code of what `verify` finds in `data`."""
    found = verify_concrete.verify(data, subject.machine)
    return found[0].code if found else None


def noticed_by(subject: Subject, data: bytes) -> str | None:
    """Who objects to `data` in the place of the subject's file: a diagnostic's code, "outputs", or nobody."""
    return noticed_at_rest(subject, data) or noticed_by_running(subject.runs, subject.machine, data)


def noticed_by_running(runs: Sequence[tuple[Arrays, Arrays]], machine: Machine, data: bytes) -> str | None:
    """A fault's code, "outputs" when they differ, else None."""
    for inputs, wanted in runs:
        try:
            outputs = model.run(data, machine, inputs).outputs
        except PolyloomError as error:
            return error.diagnostics[0].code
        if outputs.keys() != wanted.keys() or any(not np.array_equal(outputs[name], wanted[name]) for name in wanted):
            return "outputs"
    return None


def difference(data: bytes, other: bytes) -> str:
    """The lines of the listing that differ."""
    before, after = (listing.show_concrete(concrete_file.decode(d)).splitlines() for d in (data, other))
    return "; ".join(f"{a.strip()} -> {b.strip()}" for a, b in zip(before, after, strict=True) if a != b)


def runs_of(data: bytes, machine: Machine, seeds: Sequence[int]) -> tuple[tuple[Arrays, Arrays], ...]:
    """Inputs, and the outputs of the undamaged configuration (which other tests compare with the meaning): zeros, of
    which a changed constant makes something else, then in turn few distinct values, which are often equal, and any
    bits."""
    arrays = [a for a in concrete_file.decode(data).arrays if not a.is_output]
    found: list[tuple[Arrays, Arrays]] = []
    for seed in seeds:
        generator = np.random.default_rng(seed)
        most = 0 if seed == 0 else 2 if seed % 2 else 1 << 30
        inputs: Arrays = {}
        for a in arrays:
            values = (
                generator.uniform(-9, 9, a.shape)
                if a.dtype == "f32" and most > 2
                else generator.integers(-most, most, a.shape, endpoint=True)
            )
            inputs[a.name] = np.asarray(values).astype(NUMPY[a.dtype])
        found.append((inputs, model.run(data, machine, inputs).outputs))
    return tuple(found)
