# SPDX-License-Identifier: Apache-2.0
"""Every block of docs/language.md is a program, and the reference names every operation."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.frontend.pla.helpers import ROOT

from polyloom.frontend.pla import parse
from polyloom.ir.interpret import interpret
from polyloom.ir.operations import CONVERSIONS, OPERATIONS

TEXT = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```pla\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_block_is_a_program(block: str) -> None:
    parse(block, "language.md")


def test_the_running_example_extracts_bits() -> None:
    assert interpret(parse(BLOCKS[0]), {"N": 5}, {"in": np.array(22, np.int32)})["bits"].tolist() == [0, 1, 1, 0, 1]


def test_every_operation_is_documented() -> None:
    for operation in (*OPERATIONS, *CONVERSIONS):
        spelled = f"{operation.symbol} " if operation.symbol else operation.name
        assert spelled in TEXT
