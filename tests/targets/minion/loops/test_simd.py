# SPDX-License-Identifier: Apache-2.0
"""Loops on the model: equal to the oracles bit for bit, without hazards, on any number of minions.

`Compiled.run` compares every output with the machine's arithmetic in the order of the source, and raises where one
differs; of integers also with the function itself.
"""

from __future__ import annotations

import random
from typing import Any, cast

import numpy as np
import pytest
from tests.in_turns import in_turns
from tests.targets.minion.loops import kernels

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.python.kernel import Kernel
from polyloom.ir.ssa import NOWHERE
from polyloom.targets.minion.map import frame

SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 1e-45, -1e-39, 2.0**-126, -(2.0**-126), 3.4e38, 0.1, 7.0],
    np.float32,
)


def _run(kernel: Kernel, n: int, m: int, minions: int, **options: Any) -> pl.Result:
    compiled = pl.compile(kernel, f"minion:{minions}", **options)
    sizes: dict[str, Any] = {name: {"N": n, "M": m}[name] for name in compiled.signature.sizes}
    result = compiled.run(seed=n, **sizes)
    assert result.verified
    assert result.data["hazards"] == []
    return result


@pytest.mark.parametrize(("kernel", "alone"), in_turns(kernels.ALL, [True, False], 2))
def test_any_shape_on_any_number_of_minions(kernel: Kernel, alone: bool) -> None:
    rng = random.Random(kernel.name)
    _run(kernel, rng.randint(3, 40), rng.randint(3, 40), 1 if alone else rng.randint(2, 31))


@pytest.mark.parametrize("kernel", [kernels.transposed, kernels.sums], ids=lambda kernel: kernel.name)
def test_two_shires(kernel: Kernel) -> None:
    _run(kernel, 70, 33, 64)


def test_phases_in_a_loop() -> None:
    result = _run(kernels.relaxed, 4000, 3, 4)
    assert result.data["serial"] == ["iterations of `t` share `b[i]`"]


def test_what_cannot_be_shared_out_says_why() -> None:
    result = _run(kernels.prefix, 100, 1, 4)
    assert result.data["serial"] == ["iterations of `i` share `b[i]` and `b[i - 1]`"]


@pytest.mark.parametrize("minions", [1, 5, 64])
def test_a_product_and_what_follows_it(minions: int) -> None:
    result = pl.compile(kernels.layer, f"minion:{minions}").run(N=20, M=33, K=18)
    assert result.verified
    assert result.data["phases"] == ["product", "simd"]
    assert result.data["hazards"] == []


def test_a_missing_barrier_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame, "barrier", _no_barrier)
    with pytest.raises(PolyloomError) as error:
        _run(kernels.transposed, 64, 64, 8)
    assert error.value.code in ("PL1380", "PL0812")


def _no_barrier(team: frame.Team, name: str) -> frame.Part:
    del team, name
    return frame.Part((), NOWHERE)


def test_sums_of_floats_keep_their_order_unless_told_otherwise() -> None:
    kept, free = (cast(dict[str, Any], _run(kernels.dot, 3000, 1, 8, fp=fp).data) for fp in ("contract", "reassociate"))
    assert kept["serial"] == ["iterations of `i` share `c[0]`"]
    assert free["serial"] == []
    assert free["cycles"] < kept["cycles"] / 4


def test_strict_rounds_every_operation() -> None:
    x = 1 + 2.0**-12
    given: dict[str, Any] = {"a": np.array([1 + 2.0**-11, x], np.float32), "b": np.array([-1.0, x], np.float32)}
    found = {fp: pl.compile(kernels.dot, on="minion", fp=fp).run(N=2, **given) for fp in ("strict", "contract")}
    assert {fp: float(run.outputs["c"][0]) for fp, run in found.items()} == {"strict": 0.0, "contract": 2.0**-24}


def test_quotients_and_roots_of_any_bits() -> None:
    rng = np.random.default_rng(2)
    values = rng.integers(0, 2**32, (2, 24, 31), np.uint64).astype(np.uint32).view(np.float32)
    for n in range(14):
        values[0, n, :14], values[1, :14, n] = SPECIAL[n], SPECIAL[n]
    assert pl.compile(kernels.quotients, on="minion:2").run(N=24, M=31, a=values[0], b=values[1]).verified


def test_every_operation_on_special_values() -> None:
    a, b = (grid.ravel() for grid in np.meshgrid(SPECIAL, SPECIAL))
    assert pl.compile(kernels.operations, on="minion:2").run(N=len(a), a=a, b=b).verified


def test_a_missing_flush_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every eviction that is left out makes some hart read what is old."""
    for kernel, sizes in ((kernels.transposed, (20, 30)), (kernels.relaxed, (4000, 2)), (kernels.sums, (40, 40))):
        total = kernels.without_eviction(monkeypatch, None)
        _run(kernel, *sizes, 4)
        count = total()
        assert count > 0
        for left_out in range(count):
            kernels.without_eviction(monkeypatch, left_out)
            with pytest.raises(PolyloomError) as error:
                _run(kernel, *sizes, 4)
            assert (error.value.code, error.value.diagnostics[0].exit_code) == ("PL1380", 70)
        monkeypatch.undo()
