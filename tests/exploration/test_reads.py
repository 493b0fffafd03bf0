# SPDX-License-Identifier: Apache-2.0
"""What a source includes or imports is a part of it: rows of another header, or of another module, are not taken for
this one's."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import polyloom as pl
from polyloom.exploration.request import Keys, Request, collect_text
from polyloom.exploration.space import Point, Space
from polyloom.frontend.dependencies import source_dependencies
from polyloom.frontend.source import Options

C = """#include "size.h"
#if 0
  #  include <deep/own.h>
#endif
void f(float a[N]) { for (int i = 0; i < N; i++) a[i] = 1; }
"""
PYTHON = """import numpy
import polyloom as pl
from parts.size import M

@pl.kernel
def f(a: pl.f32[M]):
    for i in range(M):
        a[i] = 1.0
"""


@pytest.fixture
def c(tmp_path: Path) -> Path:
    """A C file with a header beside it, which includes another, and one in a folder of -I."""
    (tmp_path / "f.c").write_text(C)
    (tmp_path / "size.h").write_text('#pragma once\n#include "more.h"\n#include "size.h"\n#include <stdio.h>\n')
    (tmp_path / "more.h").write_text("#define N 8\n")
    (tmp_path / "i" / "deep").mkdir(parents=True)
    (tmp_path / "i" / "deep" / "own.h").write_text("")
    return tmp_path / "f.c"


@pytest.fixture
def python(tmp_path: Path) -> Path:
    (tmp_path / "f.py").write_text(PYTHON)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "__init__.py").write_text("")
    (tmp_path / "parts" / "size.py").write_text("from .more import *\n")
    (tmp_path / "parts" / "more.py").write_text("M = 8\n")
    (tmp_path / "parts" / "other.py").write_text("")
    return tmp_path / "f.py"


def names(path: Path, *folders: str) -> list[str]:
    return [str(file.relative_to(path.parent)) for file in source_dependencies(str(path), folders)]


def test_headers(c: Path) -> None:
    assert names(c) == ["more.h", "size.h"]
    assert names(c, str(c.parent / "i")) == ["i/deep/own.h", "more.h", "size.h"]


def test_modules(python: Path) -> None:
    assert names(python) == ["parts/__init__.py", "parts/more.py", "parts/size.py"]


def test_what_cannot_be_read_includes_nothing(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text("import parts\nthis is no Python\n")
    for name in ("f.py", "gone.py", "gone.c"):
        assert source_dependencies(str(tmp_path / name)) == ()


@pytest.mark.parametrize(("made", "changed"), [("c", "more.h"), ("python", "parts/more.py")])
def test_another_text_is_another_key(made: str, changed: str, request: pytest.FixtureRequest) -> None:
    source: Path = request.getfixturevalue(made)
    before = key(source)
    assert key(source) == before
    with (source.parent / changed).open("a") as file:
        file.write("\n")
    assert key(source) != before


def key(source: Any) -> str:
    asked = Request(str(source) if isinstance(source, Path) else source, Space(("tcpa",), ()), Options())
    return Keys(asked, collect_text(asked.source, asked.reading)).of(Point(0, "tcpa", (), ()), "verify", "")


@pytest.mark.parametrize(
    ("made", "changed", "was", "now"), [("c", "more.h", "N 8", "N 16"), ("python", "parts/more.py", "8", "16")]
)
def test_rows_are_computed_again(made: str, changed: str, was: str, now: str, request: pytest.FixtureRequest) -> None:
    """The folder is refused by the name of the file that changed, and a new one gets rows of what is there now."""
    source: Path = request.getfixturevalue(made)

    def explored(folder: str) -> int | None:
        return pl.explore(source, "tcpa:1x1", level="verify", resume=source.parent / folder).rows[0].cycles

    before = explored("s")
    assert explored("s") == before
    other = source.parent / changed
    other.write_text(other.read_text().replace(was, now))
    with pytest.raises(pl.PolyloomError, match="PL1405") as error:
        explored("s")
    assert error.value.diagnostics[0].notes[0].startswith(f"reads was {'more.h' if made == 'c' else 'parts/'}")
    after = explored("t")
    assert before is not None
    assert after is not None
    assert after > before


def test_neighbours_of_the_same_name(tmp_path: Path) -> None:
    """Each file imports its own."""
    for folder, size in (("a", 4), ("b", 8)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "f.py").write_text(PYTHON.replace("parts.size", "sizes_of_f"))
        (tmp_path / folder / "sizes_of_f.py").write_text(f"M = {size}\n")
        (array,) = pl.compile(tmp_path / folder / "f.py", "tcpa:1x1").run().outputs.values()
        assert array.shape == (size,)
    assert "sizes_of_f" not in sys.modules


def test_the_values_of_names_are_part_of_a_kernel() -> None:
    assert key(kernel_of(4)) == key(kernel_of(4)) != key(kernel_of(8))


def kernel_of(size: int) -> Callable[..., None]:
    @pl.kernel
    def f(a: pl.f32[8]) -> None:
        for i in range(size):
            a[i] = 1.0

    return f
