# SPDX-License-Identifier: Apache-2.0
"""The native interpreter's table is the table of this package."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyloom.riscv.header import header

HEADER = Path(__file__).parents[2] / "native" / "riscv" / "table.hpp"


def test_native_table_is_current(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        HEADER.write_text(header() + "\n", encoding="utf-8")
    assert HEADER.read_text(encoding="utf-8") == header() + "\n"
