# SPDX-License-Identifier: Apache-2.0
"""Symbolic configurations as files: round trips, compactness, and what every kind of damage is answered with."""

from __future__ import annotations

from tests.files.paper import SYMBOLIC

from polyloom.targets.tcpa.symbolic_file import decode, encode, size_without_names


def test_the_paper_s_configuration_comes_back() -> None:
    data = encode(SYMBOLIC)
    assert decode(data) == SYMBOLIC
    assert len(data) % 4 == 0
    print(size_without_names(data), len(data))
