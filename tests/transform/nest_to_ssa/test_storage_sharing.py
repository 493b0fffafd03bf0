# SPDX-License-Identifier: Apache-2.0
"""Local arrays that are never live together share storage; others do not; elements are the same."""

from __future__ import annotations

from typing import Any

import numpy as np

import polyloom as pl
from polyloom.ir.nest import Nest
from polyloom.ir.nest_interpret import interpret
from polyloom.transform.nest_to_ssa.storage_sharing import share_storage

N = pl.size("N")


@pl.kernel
def chain(a: pl.i32[N, 4], b: pl.i32[4, 4]) -> Any:
    p = a @ b
    q = (p @ b).reshape(N, 2, 2)
    r = np.einsum("nij,ij->ni", q, b.reshape(2, 2, 2, 2)[0, 0])
    return (r @ b[:2]) @ b


@pl.kernel
def joined(a: pl.i32[N, 4], b: pl.i32[4, 4]) -> Any:
    p, q = a @ b, a @ b.T
    return np.einsum("ni,nj->ij", p, q)


def local_arrays(nest: Nest) -> int:
    return sum(s.role == "local" and bool(s.shape) for s in nest.storage)


def test_a_chain_needs_two_arrays_of_a_size() -> None:
    shared = share_storage(chain.nest)
    assert local_arrays(shared) < local_arrays(chain.nest)
    a, b = np.arange(12, dtype=np.int32).reshape(3, 4), np.arange(16, dtype=np.int32).reshape(4, 4)
    assert np.array_equal(interpret(shared, {"N": 3}, {"a": a, "b": b})["result"], chain(a, b))


def test_arrays_that_live_together_stay_apart() -> None:
    assert share_storage(joined.nest) == joined.nest
