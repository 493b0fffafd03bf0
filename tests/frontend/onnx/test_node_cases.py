# SPDX-License-Identifier: Apache-2.0
"""Node tests of the package onnx on RISC-V and the array: a sample of those that pass, with `-m long` all of them."""

from __future__ import annotations

import os
from random import Random

import pytest
from tests.frontend.onnx import node_cases
from tests.frontend.onnx.node_cases import LISTS, PLACES

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

LEAST = {"riscv": 560, "tcpa": 400}
"""How many have to pass."""
SAMPLE = {"riscv": 10, "tcpa": 6}


def listed(place: str) -> list[str]:
    return (LISTS / f"{place}.txt").read_text(encoding="utf-8").split()


@pytest.mark.parametrize("place", PLACES)
def test_the_lists_are_as_long_as_they_have_to_be(place: str) -> None:
    names = listed(place)
    assert names == sorted(set(names))
    assert len(names) >= LEAST[place]


def test_a_sample_passes_and_numbers_that_differ_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One test, in one process: the package takes seconds to make its cases."""
    for place in PLACES:
        assert set(listed(place)) <= node_cases.cases().keys()
        # Short ones: a sample is about the reader, and every family is in it.
        slow = ("attention", "3d", "convtranspose", "quantize")
        names = [name for name in listed(place) if not any(word in name for word in slow)]
        for name in Random(7).sample(names, SAMPLE[place]):
            found = node_cases.run_case(name, place)
            assert found.passed, f"{name}: {found.reason}"
    notice_other_numbers()
    end_native_code(monkeypatch)


def notice_other_numbers() -> None:
    """Sabotage: expected outputs that are others."""
    case = node_cases.cases()["test_add"]
    given, expected = case.data_sets[0]
    source = node_cases.read_case(case, given)
    assert not isinstance(source, str)
    found = node_cases.run_source(source, case, given, "riscv")
    assert node_cases.compare(case, "sum", found, expected[0]) == ""
    assert "other numbers" in node_cases.compare(case, "sum", found, expected[0] * 1.01)
    assert "expected float64" in node_cases.compare(case, "sum", found, expected[0].astype("f8"))
    assert "no output" in node_cases.compare(case, "total", found, expected[0])


def end_native_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of time ends a case in native code, which looks at no signal of Python's."""

    def count(name: str, place: str) -> int:
        return sum(range(10**15))

    def leave(name: str, place: str) -> None:
        os._exit(3)

    monkeypatch.setattr(node_cases, "SECONDS", 1)
    monkeypatch.setattr(node_cases, "run_case", count)
    found = node_cases.measure_case(("test_add", "riscv"))
    assert (found.passed, found.reason) == (False, "more than 1 s")
    monkeypatch.setattr(node_cases, "run_case", leave)
    assert node_cases.measure_case(("test_add", "riscv")).reason == "ended without an answer"


@pytest.mark.long
@pytest.mark.parametrize("place", PLACES)
def test_every_listed_case_passes(place: str) -> None:
    failed = [found for name in listed(place) if not (found := node_cases.run_case(name, place)).passed]
    assert not failed
