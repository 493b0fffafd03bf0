# SPDX-License-Identifier: Apache-2.0
"""Instantiations that the tests ask a device for, and harness.c's messages: little-endian words, described there."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tests.frontend.python.helpers import KERNELS
from tests.kernels.running import compiled
from tests.kernels.sizes import MINI, PRIMES
from tests.targets.tcpa.end_to_end.test_examples import SIZES, bounds, mapped
from tests.targets.tcpa.instantiate import samples
from tests.targets.tcpa.instantiate.naive import symbolic

from polyloom._native import instantiate as native
from polyloom.targets.tcpa.words import symbolic_file
from polyloom.targets.tcpa.words.phases import stages

PRODUCT: Final = symbolic(samples.MATMUL, rows=0, columns=1, order=(2, 1, 0))
MATMUL: Final = symbolic_file.encode(PRODUCT)
LIMITS: Final = (
    "fifo_depth",
    "branch_flags",
    "control_signals",
    "signal_sets",
    "counter_bits",
    "instruction_words",
    "channels",
    "delay_bits",
    "bank_words",
)
_HEAD: Final = 36


@dataclass(frozen=True, slots=True)
class Case:
    """A symbolic file, the values of its parameters in its order, and a region."""

    name: str
    file: bytes
    values: tuple[int, ...]
    region: tuple[int, int]

    def message(self) -> bytes:
        padded = self.file + bytes(-len(self.file) % 4)
        return (
            struct.pack("<I", len(self.file))
            + padded
            + struct.pack(f"<I{len(self.values)}q2I", len(self.values), *self.values, *self.region)
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the library says; `position` is that of a fault in the symbolic file, `refused` (kind, index, side,
    place)."""

    status: int
    position: int
    refused: tuple[int, ...]
    made: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """An outcome on a device, with the bytes of scratch and stack that it took at most."""

    outcome: Outcome
    scratch: int
    stack: int


def on_host(case: Case) -> Outcome:
    made = native.instantiate(case.file, case.values, *case.region)
    return Outcome(made.status, made.position, (made.kind, made.index, made.side, made.place), made.file)


def answers(data: bytes) -> Iterator[Answer]:
    """What harness.c wrote."""
    at = 0
    while at < len(data):
        status, position, *refused, size, scratch, stack = struct.unpack_from("<9I", data, at)
        at += _HEAD
        yield Answer(Outcome(status, position, tuple(refused), data[at : at + size]), scratch, stack)
        at += size + -size % 4


def examples(names: Sequence[str], member: str, regions: Sequence[tuple[int, int]]) -> Iterator[Case]:
    """Programs of `examples/` at all their sizes."""
    for name in names:
        configuration = mapped(name, member)
        file = symbolic_file.encode(configuration)
        for sizes in SIZES[name]:
            values = bounds(name, sizes)
            yield from (
                Case(f"{name} {sizes}", file, tuple(values[p] for p in configuration.parameters), region)
                for region in regions
            )


def convolutions(regions: Sequence[tuple[int, int]]) -> Iterator[Case]:
    """Six dimensions, mapped by hand: compiling them takes seconds."""
    file = symbolic_file.encode(symbolic(samples.CONV, rows=1, columns=2, order=(5, 4, 3, 2, 1, 0)))
    return (Case(f"conv {sizes}", file, sizes, region) for sizes in SIZES["conv"] for region in regions)


def kernels(names: Iterable[str], regions: Sequence[tuple[int, int]]) -> Iterator[Case]:
    """Every phase of functions of `examples/kernels/`."""
    for name in names:
        for number, file in enumerate(stages.phase_files(compiled(KERNELS / f"{name}.py", name, "f32").data)):
            parameters = symbolic_file.decode(file).parameters
            for sizes in (MINI[name], PRIMES[name]):
                values = tuple(sizes[p.upper()] for p in parameters)
                yield from (Case(f"{name} phase {number} {values}", file, values, region) for region in regions)


def refusals() -> Iterator[Case]:
    """Wrong requests, limits of a small machine, bounds that overflow, and malformed files."""
    for values, region in (
        ((5, 7), (2, 2)),
        ((5, 7, 3, 1), (2, 2)),
        ((5, 7, -1), (2, 2)),
        ((5, 7, 1 << 31), (2, 2)),
        ((5, 7, 3), (0, 2)),
    ):
        yield Case(f"values {values} on {region}", MATMUL, values, region)
    yield Case("large bounds", MATMUL, ((1 << 31) - 1,) * 3, (1, 1))
    for limit in LIMITS:
        tight = replace(PRODUCT, limits=replace(PRODUCT.limits, **{limit: 0}))
        yield Case(f"{limit} of 0", symbolic_file.encode(tight), (5, 7, 3), (3, 2))
    for length in range(0, len(MATMUL), 37):
        yield Case(f"the first {length} bytes", MATMUL[:length], (5, 7, 3), (2, 2))
    for place in range(16, len(MATMUL), 29):
        altered = bytes([*MATMUL[:place], MATMUL[place] ^ 1, *MATMUL[place + 1 :]])
        yield Case(f"byte {place} altered", altered, (5, 7, 3), (2, 2))
