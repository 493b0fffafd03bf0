# SPDX-License-Identifier: Apache-2.0
"""The C library (native/instantiate) against the Python instantiation: the same bytes, or the same diagnostic's
number."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.targets.tcpa.end_to_end.test_examples import REGIONS, SIZES, bounds, mapped
from tests.targets.tcpa.instantiate import samples
from tests.targets.tcpa.instantiate.naive import symbolic
from tests.targets.tcpa.instantiate.oracle import instantiate
from tests.targets.tcpa.instantiate.test_random import mappings, programs

from polyloom import binary
from polyloom._native import instantiate as library
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa.run import instantiation
from polyloom.targets.tcpa.words import concrete_file, symbolic_file
from polyloom.targets.tcpa.words.symbolic import ImmediateOperand, Symbolic

OVERFLOW = 3


def python(configuration: Symbolic, values: Mapping[str, int], rows: int, columns: int) -> tuple[int, bytes]:
    try:
        return 0, concrete_file.encode(instantiate(configuration, values, rows, columns))
    except PolyloomError as error:
        return int(error.diagnostics[0].code.removeprefix("PL")), b""


def native(configuration: Symbolic, values: Mapping[str, int], rows: int, columns: int) -> tuple[int, bytes]:
    data = symbolic_file.encode(configuration)
    made = library.instantiate(data, [values[p] for p in configuration.parameters], rows, columns)
    return made.status, made.file


def same(configuration: Symbolic, values: Mapping[str, int], rows: int, columns: int) -> int:
    status, made = native(configuration, values, rows, columns)
    assert (status, made) == python(configuration, values, rows, columns)
    return status


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("member", ["wide", "paper"])
def test_examples_on_every_region(name: str, member: str) -> None:
    """One region for each size where the oracle takes long: on a machine of long intervals, and in six dimensions."""
    for n, sizes in enumerate(SIZES[name]):
        for region in REGIONS if member == "wide" and name != "conv" else REGIONS[3 + n % 2 : 4 + n % 2]:
            same(mapped(name, member), bounds(name, sizes), *region)


@pytest.mark.parametrize("bits", [0, 1, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF])
def test_immediates_of_all_32_bits(bits: int) -> None:
    """The least one has no magnitude of 31 bits: max(-2147483648, x) is how a maximum begins."""
    fir = mapped("fir", "wide")
    changed = [
        replace(v, operands=tuple(ImmediateOperand(bits) if isinstance(o, ImmediateOperand) else o for o in v.operands))
        for v in fir.nodes
    ]
    assert tuple(changed) != fir.nodes or bits == 0
    assert same(replace(fir, nodes=tuple(changed)), {"N": 9, "T": 4}, 2, 2) == 0


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_random_programs(data: st.DataObject) -> None:
    program, values = data.draw(programs())
    mapping = data.draw(mappings(len(program.dims)))
    same(mapping.of(program), values, *data.draw(st.tuples(st.integers(1, 5), st.integers(1, 5))))


@pytest.mark.long
@given(st.data())
def test_many_random_programs(data: st.DataObject) -> None:
    program, values = data.draw(programs())
    mapping = data.draw(mappings(len(program.dims)))
    same(mapping.of(program), values, *data.draw(st.tuples(st.integers(1, 9), st.integers(1, 9))))


MATMUL = symbolic(samples.MATMUL, rows=0, columns=1, order=(2, 1, 0), interval=1)
BOUNDS = {"N": 5, "M": 7, "K": 3}


@pytest.mark.parametrize(
    ("limit", "code"),
    [
        ({"fifo_depth": 0}, 511),
        ({"branch_flags": 0}, 512),
        ({"control_signals": 0}, 513),
        ({"signal_sets": 0}, 514),
        ({"counter_bits": 1}, 515),
        ({"instruction_words": 1}, 516),
        ({"channels": 0}, 517),
        ({"generator_dimensions": 0}, 518),
        ({"delay_bits": 0}, 519),
        ({"bank_words": 1}, 520),
    ],
)
def test_limits_of_the_machine(limit: dict[str, int], code: int) -> None:
    tight = replace(MATMUL, limits=replace(MATMUL.limits, **limit))
    assert same(tight, BOUNDS, 3, 2) == code
    with pytest.raises(PolyloomError) as wanted:
        instantiate(tight, BOUNDS, 3, 2)
    with pytest.raises(PolyloomError) as found:
        instantiation.instantiate(symbolic_file.encode(tight), tight, [BOUNDS[p] for p in tight.parameters], 3, 2)
    assert found.value.diagnostics == wanted.value.diagnostics


@pytest.mark.parametrize(
    ("values", "region", "codes"),
    [((5, 7, -1), (2, 2), (503, 230)), ((5, 7, 1 << 31), (2, 2), (503, 230)), ((5, 7, 3), (0, 2), (505, 505))],
)
def test_wrong_input(values: tuple[int, ...], region: tuple[int, int], codes: tuple[int, int]) -> None:
    """Python has one code for whatever is wrong with parameters."""
    given = dict(zip("NMK", values, strict=True))
    assert (native(MATMUL, given, *region)[0], python(MATMUL, given, *region)[0]) == codes


def test_the_number_of_values_is_checked() -> None:
    data = symbolic_file.encode(MATMUL)
    assert [library.instantiate(data, [4] * n, 2, 2).status for n in (2, 3, 4)] == [501, 0, 502]


def test_overflow_is_detected() -> None:
    """Python's numbers grow; 64 bits do not hold the address of 2^93 words."""
    status, _ = native(MATMUL, dict.fromkeys("NMK", (1 << 31) - 1), 1, 1)
    assert status == OVERFLOW


def test_truncated_and_altered_files() -> None:
    data = symbolic_file.encode(MATMUL)
    for length in range(0, len(data), 7):
        assert library.instantiate(data[:length], [5, 7, 3], 2, 2).status in (701, 702, 704)
    for place in range(16, len(data), 5):
        altered = bytearray(data)
        altered[place] ^= 1
        assert library.instantiate(bytes(altered), [5, 7, 3], 2, 2).status in (702, 704)


def test_malformed_files_end_in_a_code() -> None:
    """Altered files with a right checksum: an error's number or a configuration, but no crash."""
    data, draw = symbolic_file.encode(MATMUL), random.Random(1)
    statuses: set[int] = set()
    for _ in range(1500):
        altered = bytearray(data)
        for _ in range(draw.randint(1, 3)):
            altered[draw.randrange(56, len(data))] = draw.choice((0, 1, 2, 127, 128, 255, draw.randrange(256)))
        altered[8:16] = binary.fletcher64(bytes(altered[16:])).to_bytes(8, "little")
        made = library.instantiate(bytes(altered), [5, 7, 3], 2, 2)
        assert bool(made.file) == (made.status == 0)
        assert made.position <= len(data)
        statuses.add(made.status)
    assert {0, 705} <= statuses
