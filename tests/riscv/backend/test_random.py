# SPDX-License-Identifier: Apache-2.0
"""Random functions mean the same before and after legalization, and as machine code, on every instruction set."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.riscv.backend.programs import SLOTS, functions
from tests.riscv.backend.programs import programs as whole
from tests.riscv.backend.test_functions import copied, equal
from tests.transform.ssa import programs
from tests.transform.ssa.native import arguments, same

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_interpret import Argument, interpret
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_text import print_ssa
from polyloom.ir.ssa_verify import verify
from polyloom.riscv import names
from polyloom.riscv.backend.compile import compile_function
from polyloom.riscv.backend.legalize import legalize
from polyloom.riscv.backend.run import call
from polyloom.transform.ssa.construct import construct

FLOATING = ("rv64gc", "rv64gc_zicond_zbb", "rv32gc", "rv32imafd_zbb", "rv32gc_zicond", "rv64gc+sfb")
INTEGER = ("rv64i", "rv64i_zicond", "rv32i", "rv32imac", "rv32i_zbb", "rv64imc_zbb", "rv32i+sfb", "rv64imc_zbb+sfb")


def _check(function: Function, isa: str, seed: int) -> None:
    machine, random = names.parse_isa(isa), np.random.default_rng(seed)
    verify(function)
    assert read(print_ssa(function)) == function
    values: list[Argument] = [random.integers(-9, 9, 2 * SLOTS).astype("i4"), *arguments(function, random)[1:]]
    original, legal, ours = copied(values), copied(values), copied(values)
    try:
        expected = interpret(function, original, 50_000)
    except PolyloomError:
        assume(False)
        return
    rewritten = verify(legalize(function, machine))
    assert same(interpret(rewritten, legal, 5_000_000), expected)
    assert same(call(compile_function(function, machine).elf, machine, function, ours, limit=10**6).result, expected)
    assert equal(original, legal)
    assert equal(original, ours)


@given(functions(), st.sampled_from(FLOATING), st.integers(0, 9))
@settings(max_examples=20)
def test_all_types(function: Function, isa: str, seed: int) -> None:
    _check(function, isa, seed)


@given(functions(floats=False), st.sampled_from(INTEGER), st.integers(0, 9))
@settings(max_examples=20)
def test_integers_without_what_instruction_sets_lack(function: Function, isa: str, seed: int) -> None:
    _check(function, isa, seed)


@given(whole(), st.sampled_from(FLOATING), st.integers(0, 9))
@settings(max_examples=12)
def test_calls(function: Function, isa: str, seed: int) -> None:
    _check(function, isa, seed)


@given(whole(floats=False), st.sampled_from(INTEGER), st.integers(0, 9))
@settings(max_examples=10)
def test_calls_of_integers(function: Function, isa: str, seed: int) -> None:
    _check(function, isa, seed)


@given(programs.functions(), st.sampled_from((*FLOATING, *INTEGER)), st.integers(-50, 50))
@settings(max_examples=15)
def test_any_jumps(function: Function, isa: str, n: int) -> None:
    """Irreducible control flow too; with variables in memory, and with values."""
    machine = names.parse_isa(isa)
    for each in (function, construct(function)):
        try:
            expected = interpret(each, [n], 50_000)
        except PolyloomError:
            assume(False)
            return
        assert call(compile_function(each, machine).elf, machine, each, [n], limit=10**6).result == expected


@pytest.mark.long
@given(functions(), st.sampled_from(FLOATING), st.integers(0, 2**32))
def test_all_types_at_length(function: Function, isa: str, seed: int) -> None:
    _check(function, isa, seed)


@pytest.mark.long
@given(functions(floats=False), st.sampled_from(INTEGER), st.integers(0, 2**32))
def test_integers_at_length(function: Function, isa: str, seed: int) -> None:
    _check(function, isa, seed)


@pytest.mark.long
@given(whole(), st.sampled_from(FLOATING), st.integers(0, 2**32))
def test_calls_at_length(function: Function, isa: str, seed: int) -> None:
    _check(function, isa, seed)


@pytest.mark.long
@given(whole(floats=False), st.sampled_from(INTEGER), st.integers(0, 2**32))
def test_calls_of_integers_at_length(function: Function, isa: str, seed: int) -> None:
    _check(function, isa, seed)
