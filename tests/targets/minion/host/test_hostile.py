# SPDX-License-Identifier: Apache-2.0
"""Damaged executables: they load or are refused by a diagnostic, and nothing else happens."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from tests.targets.minion.host.programs import CODE, END, Elf, Load, made

from polyloom.diagnostics import PolyloomError
from polyloom.targets.minion.machine import load as machine
from polyloom.targets.minion.target import TARGET
from polyloom.targets.minion.words import show
from polyloom.targets.minion.words.program import load
from polyloom.targets.target import Loaded

CHIP = machine("et-soc-1")
WHOLE = (
    made(f"start:\n{END}", {0: ("k.s", 1)}),
    Elf([Load(CODE), Load(CODE + 0x1000, b"data", 6, 64)]).data,
)


def loaded(data: bytes) -> None:
    load([Loaded("k.elf", data, None)], (), None, CHIP)


def listed(data: bytes) -> None:
    if TARGET.owns(data) is not None:
        TARGET.show(data, None)
        show.as_json(data)
        show.verify(data)


@pytest.mark.parametrize(("what", "times"), [(loaded, 1500), (listed, 250)])
@pytest.mark.parametrize("whole", WHOLE)
def test_damaged_files(whole: bytes, what: Callable[[bytes], None], times: int) -> None:
    """Bytes of the headers, tables and note are changed, lost and repeated."""
    draw = random.Random(7)
    passed = 0
    for _ in range(times):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 6)):
            at = draw.choice(
                [draw.randrange(len(data)), draw.randrange(64 + 56 * 2), draw.randrange(len(data) // 2, len(data))]
            )
            data[at] = draw.choice([0, 0xFF, 0x80, 1, draw.randrange(256)])
        if draw.random() < 0.2:
            del data[draw.randrange(len(data)) :]
        try:
            what(bytes(data))
            passed += 1
        except PolyloomError as error:
            assert error.diagnostics[0].help
    assert passed
