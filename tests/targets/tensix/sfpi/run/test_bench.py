# SPDX-License-Identifier: Apache-2.0
"""What `polyloom bench sfpi` counts is within what the project promises; times are measured, not tested."""

from __future__ import annotations

import pytest

from polyloom.cli.bench import sfpi

pytest.importorskip("ziglang", reason="C++ needs the extra `c`")


@pytest.mark.parametrize("case", [*sfpi.CASES, sfpi.SILLY], ids=lambda case: case.file)
def test_words_are_as_few_as_promised(case: sfpi.Case) -> None:
    row = sfpi.row(case)
    assert row["verdict"] == "equal bits" and row["nops"] is not None
    assert isinstance(row["words"], float) and 0 < row["words"] <= case.limit
