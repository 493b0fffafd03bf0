# SPDX-License-Identifier: Apache-2.0
"""Executions counted by prefixes of the memory order agree with those counted location by location, and large tests are
judged."""

from __future__ import annotations

import pytest
from hypothesis import given
from tests.riscv.rvwmo.oracle import Program, text
from tests.riscv.rvwmo.test_oracle import programs

from polyloom._native import riscv
from polyloom.cli.bench.litmus import generate_test
from polyloom.diagnostics import PolyloomError, Source
from polyloom.riscv.rvwmo import Verdict, executions, judge
from polyloom.riscv.rvwmo.litmus import Litmus
from polyloom.riscv.rvwmo.reader import read_litmus


def by_location(test: Litmus) -> Verdict:
    def refused(*_: object) -> None: ...

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executions, "count_executions", refused)
        return judge(test)


@given(programs())
def test_agree_on_all_kinds_of_operations(program: Program) -> None:
    test = read_litmus(Source("test", text(program)))
    assert judge(test) == by_location(test)


@pytest.mark.parametrize("kind", [(2, 4, 3, 0.5), (2, 6, 2, 0.3), (3, 4, 3, 0.5), (4, 3, 2, 1.0)])
def test_agree(kind: tuple[int, int, int, float]) -> None:
    tests = [generate_test(*kind, seed) for seed in range(12)]
    assert [judge(test) for test in tests] == [by_location(test) for test in tests]


@pytest.mark.long
@pytest.mark.parametrize("locations", [2, 3, 6])
def test_four_harts_of_six_operations(locations: int) -> None:
    """With many fences, with few and without, the bound on work suffices for these."""
    for seed in range(1000, 1024):
        verdict = judge(generate_test(4, 6, locations, (0.0, 0.3, 0.6, 1.0)[seed % 4], seed))
        assert verdict.positive + verdict.negative > 0


def test_four_harts_of_six_operations_between_fences() -> None:
    """Hundreds of millions of executions, more than can be looked at one by one."""
    verdict = judge(generate_test(4, 6, 2, 1.0, 1007))
    assert verdict.positive + verdict.negative == 646_024_190


def test_the_bound_holds_for_prefixes() -> None:
    with pytest.raises(PolyloomError, match="PL0944"):
        judge(generate_test(4, 6, 2, 1.0, 1007), 10_000)


def event(number: int, writes: bool, field: int = -1) -> tuple[int, int, int, int, int, int, int, int, bool, bool, int]:
    """One of four, by four harts, to a location whose operations come after those of all locations before."""
    location, hart = divmod(number, 4)
    return ((1 << 4 * location) - 1, 0, 0, (1 << 64) - 1, -1, hart, location, int(writes), writes, False, field)


def test_counts_beyond_64_bits() -> None:
    """Three stores have six orders, and a load four stores to read: at fifteen locations more than fits 64 bits."""
    found, _ = riscv.executions([event(n, n % 4 < 3) for n in range(60)], [(0, -1, False)] * 15, 1 << 20, 1 << 20)
    assert found is not None
    assert [high << 64 | low for _, low, high in found] == [(6 * 4) ** 15]


@pytest.mark.parametrize("field", [-2, 21])
def test_what_is_out_of_range_is_refused(field: int) -> None:
    with pytest.raises(ValueError, match="range"):
        riscv.executions([event(0, writes=False, field=field)], [(0, 0, False)], 100, 100)
