# SPDX-License-Identifier: Apache-2.0
"""What the MLIR front end says about faulty modules: a located diagnostic, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import Golden
from tests.frontend.mlir.faulty import TEXTS

from polyloom.analysis.nest_check import check_with_least_sizes
from polyloom.codes import CODES
from polyloom.diagnostics import INPUT, USAGE, PolyloomError
from polyloom.frontend import mlir
from polyloom.frontend.mlir import load
from polyloom.frontend.source import Options

WHOLE_FILE = ("PL0171", "PL0177")
"""Codes of a file as a whole, which has no place."""


def diagnose(text: str, name: str | None = None) -> PolyloomError:
    Path("f.mlir").write_text(text, encoding="utf-8")
    with pytest.raises(PolyloomError) as caught:
        check_with_least_sizes(load("f.mlir", Options(function=name))[0])
    return caught.value


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", TEXTS)
def test_a_faulty_module_is_explained(name: str, golden: Golden) -> None:
    error = diagnose(TEXTS[name], None if name in ("several functions", "empty", "no MLIR") else "f")
    assert error.exit_code == INPUT
    assert all(d.code in CODES and d.help is not None for d in error.diagnostics)
    assert all(d.span is not None for d in error.diagnostics) or error.code in WHOLE_FILE
    golden(f"{name.replace(' ', '_')}", f"{TEXTS[name]}\n{error}\n")


def test_an_unknown_function_is_named() -> None:
    error = diagnose(TEXTS["several functions"], "hh")
    assert error.code == "PL0171"
    assert "h" in str(error)


def test_without_the_extra_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mlir, "find_spec", dict[str, None]().get)
    error = diagnose(TEXTS["several functions"])
    assert error.code == "PL0177"
    assert error.exit_code == USAGE
    assert "pip install 'xdsl==0.74.0'" in str(error)


ALLOCATED = """func.func @f(%A: memref<4xf32>) -> memref<4xf32> {{
  %r = memref.alloc() : memref<4xf32>
  %zero = arith.constant 0.0 : f32
  {first}
  affine.for %i = 0 to 4 {{
    %a = affine.load %A[%i] : memref<4xf32>
    %b = affine.load %r[%i] : memref<4xf32>
    %c = arith.addf %a, %b : f32
    affine.store %c, %r[%i] : memref<4xf32>
  }}
  return %r : memref<4xf32>
}}
"""


def test_a_result_that_is_read_before_it_is_assigned_is_located() -> None:
    """It is no argument, whose values a caller gives: nobody knows them."""
    first = "affine.for %i = 0 to {} {{ affine.store %zero, %r[%i] : memref<4xf32> }}"
    for text in (ALLOCATED.format(first=""), ALLOCATED.format(first=first.format(3))):
        found = diagnose(text).diagnostics[0]
        assert found.code == "PL0250" and found.span is not None and found.span.line == 7
    Path("f.mlir").write_text(ALLOCATED.format(first=first.format(4)))
    assert load("f.mlir", Options())[0].name == "f"
