# SPDX-License-Identifier: Apache-2.0
"""Windows of banks: every address of a generator finds the word of the array that it means, in a range or in a box."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from tests.targets.tcpa.rtl.conftest import TINY, tiny_circuit
from tests.targets.tcpa.rtl.test_cosimulation import KERNELS

from polyloom import api
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa.rtl.bank_windows import BankWindow, bank_windows
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.concrete import Concrete, Generator


def _gemm() -> Concrete:
    compiled = api.compile(KERNELS / "gemm.c", on=f"tcpa:{TINY}:2x2")
    return concrete_file.decode(compiled.instantiate({"n": 3, "m": 8, "k": 5}, pes=(2, 2)).data)


def _windows(concrete: Concrete, bank_words: int) -> list[BankWindow]:
    circuit = tiny_circuit()
    return bank_windows(replace(circuit, machine=replace(circuit.machine, bank_words=bank_words)), concrete)


def _steps(generator: Generator) -> list[tuple[int, ...]]:
    boxes = (product(*(range(a, b + 1) for a, b in zip(s.lower, s.upper, strict=True))) for s in generator.domain)
    return [digits for box in boxes for digits in box]


def _dot(coefficients: tuple[int, ...], digits: tuple[int, ...]) -> int:
    return sum(c * d for c, d in zip(coefficients, digits, strict=True))


@pytest.mark.parametrize("bank_words", [64, 30])
def test_addresses_find_their_words(bank_words: int) -> None:
    concrete = _gemm()
    for window in _windows(concrete, bank_words):
        generator = concrete.generators[window.generator]
        for digits in _steps(generator):
            address = window.base + _dot(window.coefficients, digits)
            assert window.low <= address <= window.high and 0 <= address < bank_words
            assert window.array_word(address) == generator.base + _dot(generator.coefficients, digits)
        assert window.array_word(len(window.words)) < 0


def test_a_box_is_made_where_the_range_is_too_long() -> None:
    """A bank's columns of B, of 5 x 8 elements: with the words between, or alone."""
    concrete = _gemm()
    ranges, boxes = (sum(len(w.words) for w in _windows(concrete, n)) for n in (64, 30))
    assert boxes < ranges
    with pytest.raises(PolyloomError, match=r"PL0640.*words of a bank"):
        _windows(concrete, 5)
