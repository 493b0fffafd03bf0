# SPDX-License-Identifier: Apache-2.0
"""The list of `make silicon` and how it reads the vendor's table, which needs a download that continuous integration
does not make."""

from __future__ import annotations

import numpy as np
import pytest
from tests.targets.tensix.sfpi.vendor.references import REFERENCES, UNCLAIMED
from tests.targets.tensix.sfpi.vendor.silicon import LIST, Cell, Operation, cells, operations, variants

TABLE = """\
Sine:  # measured by: a sweep
  - {in: Float16_b, out: Float16_b, dest: "No", max_ulp: 2}  # max 1 ULP
  - {in: Float16_b, out: Float16_b, approx: "Yes", dest: "Yes", max_ulp: 2}  # 1 (790 steps over every lane)
  - {in: Float16, out: Float16_b, max_ulp: 2}  # max 3 ULP
Cosine:
  - {in: Float16_b, out: Float16_b, metric: tolerance}  # not measurable: 3 lanes; max 7 ULP over the 9 measurable lanes
  - {in: Float16_b, out: Float16_b, max_ulp: 0}
"""


def test_cells_are_those_of_bf16_with_the_distance_over_all_values() -> None:
    assert list(cells(TABLE)) == [
        Cell("Sine", None, 16, 1), Cell("Sine", True, 32, 790), Cell("Cosine", None, None, 7),
    ]  # fmt: skip
    assert list(variants(Cell("Cosine", None, None, 7))) == [(False, 16), (False, 32), (True, 16), (True, 32)]
    assert Cell("Sine", True, 32, 790).name == "Sine approximate 32"


def test_a_reason_belongs_to_a_cell_of_the_operation_before_it() -> None:
    text = "# what\nSine | metal trig | sine<{A}>() | init()\n- Sine 16: why\nNone | llk none | none() |\n"
    assert list(operations(text)) == [
        Operation("Sine", "metal", "trig", "sine<{A}>()", "init()", (("Sine 16", "why"),)),
        Operation("None", "llk", "none", "none()", None),
    ]


def test_every_operation_has_a_reference() -> None:
    found = list(operations(LIST.read_text(encoding="utf-8")))
    assert {operation.name for operation in found} == set(REFERENCES)
    assert set(UNCLAIMED) <= set(REFERENCES)
    assert len(found) == len(REFERENCES) > 80
    for operation in found:
        assert all(cell.startswith(operation.name) and reason for cell, reason in operation.reasons)


@pytest.mark.parametrize("name", REFERENCES)
def test_a_reference_is_finite_where_its_operation_is(name: str) -> None:
    with np.errstate(all="ignore"):
        found = REFERENCES[name](np.array([0.25, 0.75]) + (1 if name == "Acosh" else 0))
    assert found.shape == (2,)
    assert np.isfinite(found).all()
