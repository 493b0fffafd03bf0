# SPDX-License-Identifier: Apache-2.0
"""Moves between Src and Dst hold the matrix unit: MOVD2A a cycle, MOVD2B three, for all but their like; what reads Dst
waits four cycles for MOVB2D wherever it wrote."""

import pytest
from tests.targets.tensix.tile.tools import words

from polyloom.targets.tensix import python as tensix


@pytest.mark.parametrize(
    "text, cycles",
    [
        ("MOVD2A\nMOVD2A", 1),
        ("MOVD2A\nZEROSRC", 2),
        ("MOVD2B\nMOVD2B", 1),
        ("MOVD2B\nZEROSRC", 4),
        ("MOVB2D dst=64\nMOVD2A", 4),
        ("MOVB2D dst=64\nZEROSRC", 1),
        ("MOVB2D dst=64\nZEROSRC\nMOVD2A", 4),
    ],
)
def test_distance_of_moves(text: str, cycles: int) -> None:
    tile = tensix.Tile()
    tile.push("t1", words("SETDVALID 3\n" + text))
    tile.native.tracing = True
    tile.run(1_000)
    issued = [event[0] for event in tile.native.events if event[3] == 4]
    assert issued[-1] - issued[0] == cycles
