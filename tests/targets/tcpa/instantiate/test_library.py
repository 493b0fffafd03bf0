# SPDX-License-Identifier: Apache-2.0
"""The C library's own interface: sizes beforehand, classes in threads, one candidate, given tiles, placed arrays,
reasons of refusals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import Golden
from tests.made_up import random_inputs
from tests.targets.tcpa.end_to_end.test_examples import SIZES, bounds, example, mapped
from tests.targets.tcpa.instantiate import oracle, samples
from tests.targets.tcpa.instantiate.naive import Program, symbolic
from tests.targets.tcpa.instantiate.test_random import mappings, programs

from polyloom._native import instantiate as library
from polyloom.cli.bench.regions import loop
from polyloom.diagnostics import PolyloomError
from polyloom.ir.interpret import interpret
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.run import instantiation, model
from polyloom.targets.tcpa.run.verify import verify_concrete
from polyloom.targets.tcpa.words import concrete_file, symbolic_file
from polyloom.targets.tcpa.words.concrete import Place
from polyloom.targets.tcpa.words.symbolic import Symbolic

MATMUL = symbolic(samples.MATMUL, rows=0, columns=1, order=(2, 1, 0), interval=1)
VALUES = (5, 7, 3)
DATA = symbolic_file.encode(MATMUL)

Strides = Callable[[Sequence[int]], tuple[int, ...]]


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_sizes_suffice_for_random_programs(data: st.DataObject) -> None:
    """And the bytes of several threads are those of one."""
    program, values = data.draw(programs())
    configuration = data.draw(mappings(len(program.dims))).of(program)
    file, given_values = symbolic_file.encode(configuration), [values[p] for p in configuration.parameters]
    region = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    made = library.instantiate(file, given_values, *region)
    status, output, scratch, _ = library.query(file, given_values, *region)
    assert status == made.status
    if made.status == 0:
        assert output >= len(made.file)
        assert scratch >= made.scratch
        assert library.instantiate(file, given_values, *region, threads=3).file == made.file


@cache
def fir() -> tuple[Symbolic, bytes, list[int]]:
    configuration = mapped("fir", "wide")
    values = bounds("fir", (64, 32))
    return configuration, symbolic_file.encode(configuration), [values[p] for p in configuration.parameters]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_give_the_same_bytes(threads: int) -> None:
    _, data, values = fir()
    assert library.instantiate(data, values, 4, 4, threads=threads).file == library.instantiate(data, values, 4, 4).file


def test_scratch_and_sizes_do_not_grow_with_the_elements() -> None:
    """Equal tiles on more elements: border accesses alone, so that one scratch suffices for all, and wrappers are those
    of the borders."""
    configuration = mapped("fir", "ideal")
    data = symbolic_file.encode(configuration)
    found = [library.query(data, [8 * n] * len(configuration.parameters), n, n) for n in (8, 32, 256)]
    assert {status for status, *_ in found} == {0}
    assert len({scratch for _, _, scratch, _ in found}) == 1


TRIANGLE = symbolic(samples.TRIANGLE, rows=0, columns=1, order=(1, 0), interval=1)


@pytest.mark.parametrize(
    ("configuration", "values"), [(MATMUL, [9, 11, 5]), (TRIANGLE, [11])], ids=["matmul", "triangle"]
)
@given(st.data())
@settings(max_examples=40, deadline=None)
def test_addresses_that_do_not_fit_are_known_beforehand(
    configuration: Symbolic, values: list[int], data: st.DataObject
) -> None:
    """The status of the sizes is that of the configuration; addresses have 32 bits, signed."""
    strides = st.integers(-(1 << 29), 1 << 29)
    bases = st.integers(0, 64).map(lambda room: (1 << 31) - room) | st.integers(0, 1 << 31)
    places = [(tuple(data.draw(strides) for _ in a.shape), data.draw(bases), 0) for a in configuration.arrays]
    region = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    request = (symbolic_file.encode(configuration), values, *region, None, None, places)
    made = library.instantiate(*request)
    assert made.status in (0, 706)
    assert library.query(*request)[0] == made.status


@pytest.mark.long
def test_more_signals_than_a_file_has_are_named() -> None:
    with pytest.raises(PolyloomError, match="318 control signals are needed, but a configuration has at most 256"):
        loop("lu").instance((8, 8), 0, perfect=False)


def test_every_candidate_can_be_asked_for() -> None:
    configuration, data, values = fir()
    for candidate in range(len(configuration.candidates)):
        made = library.instantiate(data, values, 2, 2, candidate)
        assert made.status == 0
        assert made.candidate == candidate
        assert concrete_file.decode(made.file).extents == tuple(
            made.sizes(2)[m] for m in configuration.candidates[candidate].order
        )
    assert library.instantiate(data, values, 2, 2, len(configuration.candidates)).status == 815


def test_tile_sizes_can_be_given() -> None:
    made = library.instantiate(DATA, VALUES, 2, 2, sizes=(3, 4, 3))
    assert made.sizes(3) == (3, 4, 3)
    assert concrete_file.decode(made.file).extents == (3, 4, 3)
    with pytest.raises(PolyloomError) as caught:
        instantiation.instantiate(DATA, MATMUL, VALUES, 2, 2, sizes=(2, 4, 3))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == "tiles of 2x4x3 do not cover the iteration space, or a dependence is longer"
    assert diagnostic.help == "choose sizes with i >= 3, j >= 4, k >= 3"


FAR = Program(
    ("i",),
    ("N",),
    ("N",),
    {"in": ("N",), "out": ("N",)},
    ("s = move in(i) if 1 - i >= 0", "s = add in(i) s[-2] if i - 2 >= 0", "out(i) = move s"),
)


def test_given_tiles_are_at_least_as_long_as_dependences() -> None:
    """A value goes to the next tile, never beyond."""
    configuration = symbolic(FAR, rows=None, columns=0, order=(0,), interval=2)
    data = symbolic_file.encode(configuration)
    with pytest.raises(PolyloomError) as caught:
        instantiation.instantiate(data, configuration, (6,), 1, 6, sizes=(1,))
    with pytest.raises(PolyloomError) as expected:
        oracle.instantiate(configuration, {"N": 6}, 1, 6, sizes=(1,))
    assert str(caught.value) == str(expected.value)
    assert caught.value.diagnostics[0].help == "choose sizes with i >= 2"
    assert [library.instantiate(data, (6,), 1, n, sizes=(size,)).status for n, size in ((6, 2), (3, 2), (1, 6))] == [
        0,
        0,
        0,
    ]


def _row_major(shape: Sequence[int]) -> tuple[int, ...]:
    return ()


def _column_major(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(prod(shape[:m]) for m in range(len(shape)))


def _padded(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(prod(n + 3 for n in shape[m + 1 :]) for m in range(len(shape)))


@pytest.mark.parametrize("name", ["fir", "matmul"])
@pytest.mark.parametrize(("strides_of", "base"), [(_row_major, 100), (_column_major, 0), (_padded, 12)])
def test_a_configuration_with_placed_arrays_gives_the_same_outputs(name: str, strides_of: Strides, base: int) -> None:
    configuration, machine = mapped(name, "wide"), machine_file.load("wide")
    values = bounds(name, SIZES[name][0])
    data, ordered = symbolic_file.encode(configuration), [values[p] for p in configuration.parameters]
    plain = concrete_file.decode(library.instantiate(data, ordered, 2, 2).file)
    layouts = [(strides_of(a.shape), base, 7 + n) for n, a in enumerate(plain.arrays)]
    file = library.instantiate(data, ordered, 2, 2, layouts=layouts).file
    arrays = concrete_file.decode(file).arrays
    assert [a.place for a in arrays] == [Place(bank, base) for _, base, bank in layouts]
    assert [a.strides for a in arrays] == [
        strides or a.strides for (strides, _, _), a in zip(layouts, plain.arrays, strict=True)
    ]
    assert [d.render() for d in verify_concrete.verify(file, machine)] == []
    program = example(name)
    inputs = random_inputs(program, values, 1)
    result = model.run(file, machine, inputs).outputs
    for output, array in interpret(program, values, inputs).items():
        np.testing.assert_array_equal(result[output], array, strict=True)


def test_an_array_without_elements_lies_anywhere() -> None:
    """Its row-major strides may be 0, which no element shares."""
    configuration = mapped("matmul", "wide")
    values = [bounds("matmul", (4, 0, 4))[p] for p in configuration.parameters]
    layouts = [((), 12, 7 + n) for n in range(len(configuration.arrays))]
    file = library.instantiate(symbolic_file.encode(configuration), values, 2, 2, layouts=layouts).file
    assert any(a.shape[1] == a.strides[0] == 0 for a in concrete_file.decode(file).arrays)
    assert verify_concrete.verify(file, machine_file.load("wide")) == ()


@pytest.mark.parametrize(
    ("strides", "bases", "banks", "message"),
    [((), (0, 15, 40), (5, 5, 5), "share words of bank 5"), ((1, 1), (0, 0, 0), (0, 1, 2), "share a word")],
)
def test_places_that_overlap_are_noticed(
    strides: tuple[int, ...], bases: tuple[int, ...], banks: tuple[int, ...], message: str
) -> None:
    configuration = mapped("matmul", "wide")
    layouts = [(strides, base, bank) for base, bank in zip(bases, banks, strict=True)]
    file = library.instantiate(symbolic_file.encode(configuration), [4, 4, 4], 2, 2, layouts=layouts).file
    assert any(message in d.message for d in verify_concrete.verify(file, machine_file.load("wide")))


LIMITS: list[dict[str, int]] = [
    {"fifo_depth": 4},
    {"branch_flags": 0},
    {"control_signals": 0},
    {"signal_sets": 0},
    {"counter_bits": 1},
    {"instruction_words": 1},
    {"channels": 1},
    {"generator_dimensions": 0},
    {"delay_bits": 0},
    {"bank_words": 1},
]


def refusal(limit: dict[str, int]) -> str:
    tight = replace(MATMUL, limits=replace(MATMUL.limits, **limit))
    with pytest.raises(PolyloomError) as caught:
        instantiation.instantiate(symbolic_file.encode(tight), tight, VALUES, 3, 2)
    (diagnostic,) = caught.value.diagnostics
    return f"{limit}\n{diagnostic.code}, exit {caught.value.exit_code}: {diagnostic.message}\nhelp: {diagnostic.help}\n"


def test_refusals_name_what_is_exceeded(golden: Golden) -> None:
    golden("refusals", "\n".join(map(refusal, LIMITS)))


def test_a_status_has_a_message() -> None:
    assert library.status_message(0) == "done"
    assert {library.status_message(n) for n in (*range(501, 507), *range(510, 521), *range(701, 707))}.isdisjoint(
        {"unknown status"}
    )
