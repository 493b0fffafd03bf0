# SPDX-License-Identifier: Apache-2.0
"""Concrete configurations as files: round trips, and what every kind of damage is answered with."""

from __future__ import annotations

from tests.files.paper import CONCRETE

from polyloom.targets.tcpa.concrete_file import decode, encode, size_without_names


def test_the_paper_s_configuration_comes_back() -> None:
    data = encode(CONCRETE)
    assert decode(data) == CONCRETE
    assert len(data) % 4 == 0
    assert size_without_names(data) == len(data) - 20
