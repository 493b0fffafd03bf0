# SPDX-License-Identifier: Apache-2.0
"""Instantiation equals brute force on mappings that do without the mapper; and the comparison can fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.targets.tcpa.instantiate import samples
from tests.targets.tcpa.instantiate.library import instantiate
from tests.targets.tcpa.instantiate.naive import UNLIMITED, Program, reference, symbolic
from tests.targets.tcpa.instantiate.test_random import mappings, programs
from tests.targets.tcpa.oracle.compare import differences
from tests.targets.tcpa.oracle.naive_machine import fitting

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa.run import model
from polyloom.targets.tcpa.run.predict import predicted_cycles
from polyloom.targets.tcpa.run.verify import verify_concrete
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.concrete import Concrete
from polyloom.targets.tcpa.words.symbolic import Symbolic

CASES: list[tuple[Program, dict[str, int], int | None, int | None, tuple[int, ...], int, tuple[int, int]]] = [
    (samples.BITS, {"N": 16}, None, 0, (0,), 2, (1, 3)),
    (samples.BITS, {"N": 7}, 0, None, (0,), 3, (3, 1)),
    (samples.MATMUL, {"N": 5, "M": 7, "K": 3}, 0, 1, (0, 1, 2), 1, (2, 3)),
    (samples.MATMUL, {"N": 4, "M": 4, "K": 2}, 1, 0, (2, 0, 1), 1, (4, 4)),
    (samples.FIR, {"N": 9, "T": 5}, 0, 1, (1, 0), 2, (2, 3)),
    (samples.JACOBI, {"T": 6, "N": 11}, None, 1, (1, 0), 3, (1, 4)),
    (samples.TRIANGLE, {"N": 9}, 0, 1, (0, 1), 2, (3, 3)),
]


def mapped(case: int, hop_delay: int = 0) -> tuple[Symbolic, dict[str, int], Concrete]:
    program, values, rows, columns, order, interval, region = CASES[case]
    result = symbolic(
        program,
        rows=rows,
        columns=columns,
        order=order,
        interval=interval,
        limits=replace(UNLIMITED, hop_delay=hop_delay),
    )
    return result, values, instantiate(result, values, *region)


@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize("hop_delay", [0, 1])
def test_instantiation_equals_brute_force(case: int, hop_delay: int) -> None:
    result, values, concrete = mapped(case, hop_delay)
    assert differences(result, values, 0, concrete) == []


def test_the_comparison_notices_what_is_wrong() -> None:
    result, values, concrete = mapped(2)
    element, generator = concrete.classes[0], concrete.generators[0]
    programs = (element.programs[0][:1] * len(element.programs[0]), *element.programs[1:])
    wrong = (
        replace(
            concrete,
            classes=(replace(element, feedback_depths=(9, *element.feedback_depths[1:])), *concrete.classes[1:]),
        ),
        replace(
            concrete, classes=(replace(element, input_depths=(9, *element.input_depths[1:])), *concrete.classes[1:])
        ),
        replace(concrete, generators=(replace(generator, base=generator.base + 1), *concrete.generators[1:])),
        replace(concrete, generators=(replace(generator, delay=generator.delay + 1), *concrete.generators[1:])),
        replace(concrete, generators=concrete.generators[1:]),
        replace(concrete, classes=(*concrete.classes, replace(element, programs=programs))),
        replace(concrete, element_class=(concrete.element_class[0][::-1], *concrete.element_class[1:])),
    )
    assert [bool(differences(result, values, 0, w)) for w in wrong] == [True] * len(wrong)


@given(st.data())
@settings(max_examples=50)
def test_random_mappings(data: st.DataObject) -> None:
    """Words equal the enumeration, the static check is silent, the native model computes what the program means, in
    time."""
    program, values = data.draw(programs())
    mapping = data.draw(mappings(len(program.dims)))
    bound, machine = fitting(mapping.of(program), mapping.latency)
    try:
        concrete = instantiate(bound, values, *data.draw(st.tuples(st.integers(1, 4), st.integers(1, 4))))
    except PolyloomError as error:
        assert error.diagnostics[0].code in {"PL0510", "PL0512"}
        return
    assert differences(bound, values, 0, concrete) == []
    encoded = concrete_file.encode(concrete)
    generator = np.random.default_rng(1)
    inputs = {
        a.name: generator.integers(-999, 999, a.shape).astype(np.int32) for a in concrete.arrays if not a.is_output
    }
    meaning = reference(
        program, values, {(name, i): int(a[i]) for name, a in inputs.items() for i in np.ndindex(a.shape)}
    )
    silent = {a.name for a in concrete.arrays if a.is_output and 0 not in a.shape} - {name for name, _ in meaning}
    found = [d.code for d in verify_concrete.verify(encoded, machine)]
    assert found == ["PL0650"] * len(silent if all(concrete.extents) else ())  # an output that no iteration writes
    result = model.run(encoded, machine, inputs)
    assert {(name, i): int(result.outputs[name][i]) & 0xFFFFFFFF for name, i in meaning} == meaning
    assert result.cycles <= predicted_cycles(concrete)
