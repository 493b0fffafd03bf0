# SPDX-License-Identifier: Apache-2.0
"""Nests that are unrolled by residue classes mean what they meant, and need no steps where their accesses met at a
stride only."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.frontend.python.helpers import arguments, assert_same, meaning
from tests.kernels.strided import Writer
from tests.transform.nest.text import nest

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.python import load_kernel
from polyloom.ir import nest_verify
from polyloom.ir.nest import assignments
from polyloom.ir.numbers import NUMPY
from polyloom.transform import plan
from polyloom.transform.residues import COPIES, STATEMENTS, unroll_by_residues

PARITY = """
for k in range(M):
  for r in range(2):
    if 2 * k + r < M:
      s[2 * k + r + 1] = s[1] + t[2 * k + r]
      if r == 0:
        s[2 * k + r] -= t[2 * k + r]
"""
EVEN = """
for i in range(N):
  a[2 * i] = a[2 * i + 1] + b[i]
  b[i] = a[i] - b[i]
"""


def test_the_meaning_stays(tmp_path: Path) -> None:
    unrolled = 0
    for seed in range(60):
        path = tmp_path / f"kernel{seed}.py"
        path.write_text(Writer(seed).kernel(), encoding="utf-8")
        try:
            known = load_kernel(str(path)).nest
        except PolyloomError:  # not every kernel is a nest
            continue
        made = unroll_by_residues(known)
        if made is None:
            continue
        unrolled += 1
        nest_verify.verify(made)
        assert len(list(assignments(made.body))) <= STATEMENTS
        for size in (3, 4, 7):
            inputs = arguments(known, {"N": size})
            assert_same(meaning(known, {"N": size}, inputs), meaning(made, {"N": size}, inputs))
    assert unrolled >= 10


def test_places_of_a_strip_become_classes() -> None:
    known = nest("s[M + 1]; t[M]", PARITY, assume="M >= 1")
    system, made = plan(known)
    assert system is not None
    assert not made.loops
    inputs = {"s": np.arange(8, dtype=NUMPY["i32"]), "t": np.arange(5, 12, dtype=NUMPY["i32"])}
    unrolled = unroll_by_residues(known)
    assert unrolled is not None
    assert_same(meaning(known, {"M": 7}, inputs), meaning(unrolled, {"M": 7}, inputs))


def test_who_reads_what_is_written_at_a_stride_is_unrolled() -> None:
    unrolled = unroll_by_residues(nest("a[2 * N + 1]; b[N]", EVEN))
    assert unrolled is not None
    assert len(list(assignments(unrolled.body))) == 4


@pytest.mark.parametrize("factor", [1, COPIES + 1])
def test_no_more_copies_than_help(factor: int) -> None:
    body = f"for i in range(N):\n  a[{factor} * i] = a[i] + 1\n"
    assert unroll_by_residues(nest(f"a[{factor} * N + 1]", body)) is None
