# SPDX-License-Identifier: Apache-2.0
"""Nests that are stages where L1 has room for tiles and masks, and phases of vector code where it has not."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

import polyloom as pl
from polyloom.cli.entry import main
from polyloom.diagnostics import PolyloomError
from polyloom.targets.subject import Written
from polyloom.targets.tensix.map.loops.form import FORM
from polyloom.targets.tensix.map.phases.alternatives import Alternatives, lack_of_room
from polyloom.targets.tensix.options import Options

KERNELS = Path(__file__).parents[5] / "examples" / "kernels"
SYMM = KERNELS / "symm.py"


def whats(result: pl.Result) -> list[str]:
    return [str(stage["what"]) for stage in cast("list[dict[str, Any]]", result.data["stages"])]


def test_phases_run_where_tiles_do_not_fit() -> None:
    compiled = pl.compile(SYMM, on="tensix")
    small, large = compiled.run(M=2, N=40), compiled.run(M=2, N=4000)
    assert small.verified and "phases" not in whats(small) and "reason" not in small.data
    assert large.verified and whats(large) == ["phases"]
    assert str(large.data["reason"]).startswith("the stage `C` of line ")
    assert large.outcome.compared_with == ("arithmetic", "equations")


def test_the_choice_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(SYMM), "M=2", "N=4000", "--on", "tensix"]) == 0
    rows = dict(line.strip().split("  ", 1) for line in capsys.readouterr().out.splitlines()[2:5])
    assert rows["elements"].strip() == "fp32, phases of 4 statements"
    assert rows["no stages"].strip().startswith("the stage `C` of line ")


@pytest.mark.parametrize("sizes", [{"M": 2, "N": 4000}, {"M": 400, "N": 400}])
def test_what_fits_in_no_form_is_refused(sizes: dict[str, int]) -> None:
    """Phases compute in 32 bits; a square of 400 fits in neither form."""
    format: Any = "bf16" if sizes["M"] == 2 else None
    sizes = {"M": 2, "N": 8000} if format else sizes
    with pytest.raises(PolyloomError) as error:
        pl.compile(SYMM, on="tensix", format=format).run(sizes)
    assert error.value.code == "PL1233" and "as tiles" in str(error.value)


def test_streams_of_long_sums_are_phases() -> None:
    content = FORM.load(Written(KERNELS / "syrk.py"), None, Options()).content
    assert isinstance(content, Alternatives)
    assert lack_of_room(content.stages, {"N": 500, "M": 3000}) is None
    lack = lack_of_room(content.stages, {"N": 2, "M": 12_000})
    assert lack is not None and "the sum is 375 tiles long" in str(lack)
