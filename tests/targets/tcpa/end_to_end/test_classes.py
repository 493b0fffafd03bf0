# SPDX-License-Identifier: Apache-2.0
"""Processor classes do not grow with the array (the paper, Table 1): tiles of one size on 4x4, 8x8 and 32x32.

The mapping is the one that is fastest on 8x8; on every region its own tile size is kept, so only the number of tiles
changes.
"""

from __future__ import annotations

import pytest
from tests.targets.tcpa.end_to_end.test_examples import mapped
from tests.targets.tcpa.instantiate.library import instantiate

from polyloom.targets.tcpa.words.symbolic import Symbolic

SIDES = (4, 8, 32)
TILE = 8
TILED = {"fir": ("N", "T"), "matmul": ("N", "M"), "conv": ("M", "H")}
FIXED: dict[str, dict[str, int]] = {"fir": {}, "matmul": {"K": 8}, "conv": {"C": 3, "W": 6, "R": 3, "S": 3}}


def _planar(symbolic: Symbolic) -> int:
    """The first stored candidate that maps two dimensions."""
    return next(n for n, c in enumerate(symbolic.candidates) if c.rows is not None and c.columns is not None)


LIMITS = {"fir": (9, 9), "matmul": (2, 4), "conv": (4, 4)}
"""Most classes of perfect and of imperfect tilings."""


# Mapping the convolution on the larger machine takes longer than all others together.
@pytest.mark.parametrize(
    ("name", "member"),
    [
        pytest.param(name, member, marks=pytest.mark.long if (name, member) == ("conv", "wide") else ())
        for name in LIMITS
        for member in ("unit", "wide")
    ],
)
def test_classes_do_not_grow(name: str, member: str) -> None:
    perfect, imperfect = LIMITS[name]
    symbolic = mapped(name, member)
    for missing, limit in ((0, perfect), (1, imperfect)):
        counts = [
            len(
                instantiate(
                    symbolic,
                    FIXED[name] | dict.fromkeys(TILED[name], TILE * side - missing),
                    side,
                    side,
                    candidate=_planar(symbolic),
                ).classes
            )
            for side in SIDES
        ]
        assert counts == counts[:1] * len(SIDES)
        assert counts[0] <= limit


@pytest.mark.parametrize("member", ["unit", "wide"])
def test_bits_has_one_class_on_perfect_tilings(member: str) -> None:
    symbolic = mapped("bits", member)
    assert {len(instantiate(symbolic, {"N": 8 * side}, 1, side).classes) for side in SIDES} == {1}
