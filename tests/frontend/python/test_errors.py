# SPDX-License-Identifier: Apache-2.0
"""What the Python front end says about faulty kernels: always a located diagnostic, never a traceback."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.conftest import Golden
from tests.frontend.python.faulty import BODIES, FILES, texts

from polyloom.codes import CODES
from polyloom.diagnostics import INPUT, PolyloomError
from polyloom.frontend.python import load, load_kernel
from polyloom.frontend.source import Options

TEXTS = texts()
ELSEWHERE = {"PL0145"}
"""Codes that no file shows: they have tests of their own."""


def diagnose(text: str, name: str | None = None) -> PolyloomError:
    Path("f.py").write_text(text, encoding="utf-8")
    with pytest.raises(PolyloomError) as caught:
        load("f.py", Options(function=name))
    return caught.value


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", TEXTS)
def test_faulty_file_is_explained(name: str, golden: Golden) -> None:
    error = diagnose(TEXTS[name])
    assert error.exit_code == INPUT
    assert all(d.code in CODES and d.help is not None for d in error.diagnostics)
    assert all(d.span is not None for d in error.diagnostics) or name in FILES
    golden(f"errors/{name}", str(error))


def test_every_code_is_shown_by_a_faulty_file() -> None:
    shown = {d.code for text in TEXTS.values() for d in diagnose(text).diagnostics}
    assert {code for code in CODES if "PL0131" <= code <= "PL0149"} <= shown | ELSEWHERE


def test_names_choose_a_kernel(golden: Golden) -> None:
    Path("f.py").write_text(FILES["several_kernels"], encoding="utf-8")
    assert load_kernel("f.py", "g").name == "g"
    golden("errors/unknown_kernel", str(diagnose(FILES["several_kernels"], "ff")))


def test_unreadable_files_are_refused() -> None:
    with pytest.raises(PolyloomError, match="PL0104"):
        load("absent.py", Options())
    Path("binary.py").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PolyloomError, match="PL0104"):
        load("binary.py", Options())


@pytest.mark.parametrize("count", [20000, 100000])
def test_deep_nesting_is_refused_without_a_traceback(count: int) -> None:
    """Sums of thousands of terms are no longer too deep (test_deep.py); Python's own parser has an end."""
    body = "x[0] = " + "- " * count + "x[0]"
    assert "error[PL0103]: f.py: an expression or a statement is nested too deeply" in str(
        diagnose(TEXTS["while"].replace("while alpha > 0.5:\n        x[0] = 1.0", body))
    )


def test_columns_count_characters() -> None:
    text = TEXTS["unknown_name"].replace("x[i] = alhpa", "x[i] = 0.0; 'ä€'; x[i] = alhpa")
    found = diagnose(text).diagnostics[-1].span
    assert found is not None and text[found.start : found.end] == "alhpa"


CALL = """import polyloom as pl

N, T = pl.sizes("N T")


@pl.kernel
def f(x: pl.f32[N], y: pl.f32[N + 1], gain: pl.f32, shift: pl.i8) -> None:
    for t in range(T):
        for i in range(N):
            x[i] = gain * y[i + 1]
"""
X, Y = np.zeros(4, np.float32), np.zeros(5, np.float32)
CALLS: dict[str, tuple[tuple[object, ...], dict[str, object]]] = {
    "missing": ((X, Y), {"T": 1}),
    "too_many": ((X, Y, 1.0, 1, 2), {}),
    "twice": ((X, Y, 1.0, 1), {"x": X, "T": 1}),
    "unknown": ((X, Y, 1.0, 1), {"TT": 1}),
    "no_size": ((X, Y, 1.0, 1), {}),
    "size_not_integer": ((X, Y, 1.0, 1), {"T": 1.5}),
    "size_negative": ((X, Y, 1.0, 1), {"T": -1}),
    "type": ((X.astype(np.float64), Y, 1.0, 1), {"T": 1}),
    "list": (([0.0] * 4, Y, 1.0, 1), {"T": 1}),
    "dimensions": ((X.reshape(2, 2), Y, 1.0, 1), {"T": 1}),
    "shape": ((X, X.copy(), 1.0, 1), {"T": 1}),
    "scalar_range": ((X, Y, 1.0, 128), {"T": 1}),
    "scalar_type": ((X, Y, "one", 1), {"T": 1}),
    "shared": ((Y[:-1], Y, 1.0, 1), {"T": 1}),
}


@pytest.mark.parametrize("name", CALLS)
def test_faulty_call_is_explained(name: str, golden: Golden) -> None:
    Path("f.py").write_text(CALL, encoding="utf-8")
    given, named = CALLS[name]
    with pytest.raises(PolyloomError, match="PL0145") as caught:
        load_kernel("f.py")(*given, **named)
    golden(f"errors/call_{name}", str(caught.value))


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("division", "    b[0] = b[0] // b[1]"),
        ("outside", "    for i in range(N + 1):\n        b[i] = 0"),
        (
            "undefined",
            "    for i in range(N):\n        if b[i] > 0:\n            v = 1\n        b[i] = v\n        v = 2",
        ),
    ],
)
def test_fault_of_a_run_is_explained(name: str, body: str, golden: Golden) -> None:
    Path("f.py").write_text(
        f"import polyloom as pl\n\nN = pl.size('N')\n\n\n@pl.kernel\ndef f(b: pl.i32[N]) -> None:\n{body}\n",
        encoding="utf-8",
    )
    with pytest.raises(PolyloomError) as caught:
        load_kernel("f.py")(np.zeros(3, np.int32))
    golden(f"errors/run_{name}", str(caught.value))


def test_bodies_and_files_are_different() -> None:
    assert not BODIES.keys() & FILES.keys()
