# SPDX-License-Identifier: Apache-2.0
"""One function of a file, in each of its spellings, and what it declares but does not read: alike on every machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polyloom as pl
from polyloom.targets.entry import BUILT_IN

pytest.importorskip("ziglang", reason="C needs the extra `c`")
C = """
void saxpy(int n, float a, float x[n], float y[n]) { for (int i = 0; i < n; i++) y[i] += a * x[i]; }
void twice(int n, int m, float b, float x[n], float unread[m], float y[n]) {
    for (int i = 0; i < n; i++) y[i] = 2 * x[i];
}
"""
PYTHON = """
import polyloom as pl
n, m = pl.sizes("n m")
@pl.kernel
def twice(b: pl.f32, x: pl.f32[n], unread: pl.f32[m], y: pl.f32[n]) -> None:
    for i in range(n):
        y[i] = x[i] * 2
"""
X = np.arange(8, dtype=np.float32)
UNREAD = np.ones(5, np.float32)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("own.c").write_text(C, encoding="utf-8")
    Path("own.py").write_text(PYTHON, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("on", BUILT_IN)
def test_a_function_of_a_file(on: str, folder: Path) -> None:
    del folder
    for made in (pl.compile("own.c:saxpy", on=on), pl.compile(Path("own.c"), on=on, function="saxpy")):
        assert (made.kernel, made.run(n=4, a=2.0).verified) == ("saxpy", True)
    with pytest.raises(pl.PolyloomError, match=r"name one, as in own\.c:saxpy, or by --function: saxpy, twice"):
        pl.compile("own.c", on=on)
    with pytest.raises(pl.PolyloomError, match="names a function, and so does --function twice"):
        pl.compile("own.c:saxpy", on=on, function="twice")


def test_other_verbs_take_a_function(folder: Path) -> None:
    del folder
    compared = pl.compare("own.c", function="saxpy", on="tcpa:1x2,belt,riscv,minion", n=4)
    assert [row.verified for row in compared.rows] == [True] * 4
    assert len(pl.explore("own.c", function="twice", sweep={"n": [4, 8]}, m=1).rows) == 2


@pytest.mark.parametrize("on", BUILT_IN)
@pytest.mark.parametrize("source", ["own.c:twice", "own.py"])
def test_what_is_not_read_may_be_given(source: str, on: str, folder: Path) -> None:
    del folder
    made = pl.compile(source, on=on)
    more: tuple[dict[str, Any], ...] = ({}, {"unread": UNREAD}, {"b": 2.0}, {"unread": UNREAD, "b": 2.0})
    for given in more:
        result = made.run(n=8, m=5, x=X, **given)
        assert result.verified
        assert np.array_equal(result.outputs["y"], 2 * X)


@pytest.mark.parametrize("on", BUILT_IN)
@pytest.mark.parametrize("source", ["own.c:twice", "own.py"])
def test_it_is_checked_like_any_other(source: str, on: str, folder: Path) -> None:
    del folder
    made = pl.compile(source, on=on)
    with pytest.raises(pl.PolyloomError, match=r"the input `unread` has the shape \(4,\), not \(5,\)"):
        made.run(n=8, m=5, x=X, unread=UNREAD[:4])
    with pytest.raises(pl.PolyloomError, match="the input `unread` has the type int32, not f32"):
        made.run(n=8, m=5, x=X, unread=UNREAD.astype(np.int32))
    with pytest.raises(pl.PolyloomError, match="the array `x` is missing"):
        made.run(n=8, m=5, unread=UNREAD)
    with pytest.raises(pl.PolyloomError, match="has no input `nothing`"):
        made.run(n=8, m=5, x=X, nothing=UNREAD)


WRONG: tuple[Callable[[], object], ...] = (
    lambda: pl.compile("own.py", target="belt"),
    lambda: pl.compare("own.py", machine="belt", n=4, m=4),
    lambda: pl.explore("own.py", target="belt", n=4, m=4),
)


@pytest.mark.parametrize("wrong", WRONG)
def test_a_target_by_another_keyword(wrong: Callable[[], object], folder: Path) -> None:
    del folder
    with pytest.raises(pl.PolyloomError, match=r"(?s)`(target|machine)` does not name a target.*write on=\"belt\""):
        wrong()


def test_a_comparison_without_places(folder: Path) -> None:
    del folder
    with pytest.raises(pl.PolyloomError, match="no place is given"):
        pl.compare("own.py", n=4, m=4)
