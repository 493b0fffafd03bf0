# SPDX-License-Identifier: Apache-2.0
"""Every refusal of the C front end: the faulty files in `errors/` and what a person reads about them."""

from __future__ import annotations

from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from tests.conftest import Golden
from tests.frontend.c.helpers import HERE

from polyloom.codes import CODES
from polyloom.diagnostics import INPUT, USAGE, PolyloomError
from polyloom.frontend.c import clang, load
from polyloom.frontend.source import Options

pytest.importorskip("ziglang", reason="C needs the extra `c`")

FAULTY = sorted((HERE / "errors").glob("*.c"))
ELSEWHERE = {"PL0150", "PL0167", "PL0168"}
"""Codes that no faulty text shows: they have tests of their own."""


def diagnose(path: Path, options: Options) -> PolyloomError:
    with pytest.raises(PolyloomError) as caught:
        load(path.name, options)
    return caught.value


@pytest.fixture(autouse=True)
def in_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE / "errors")


def test_faulty_text_is_explained(golden: Golden) -> None:
    shown = set[str]()
    texts = list[str]()
    for path in FAULTY:
        error = diagnose(path, Options())
        assert error.exit_code == INPUT
        assert all(d.span is not None or d.code == "PL0152" for d in error.diagnostics)
        shown |= {d.code for d in error.diagnostics}
        texts.append(str(error))
    golden("errors", "\n\n".join(texts))
    assert shown | ELSEWHERE == {code for code in CODES if "PL0150" <= code <= "PL0169"}


def test_options_are_explained(golden: Golden) -> None:
    cases = [
        ("several_functions.c", Options(function="h")),
        ("several_functions.c", Options(function="kernel")),
        ("bare_pointer.c", Options(shapes=("A",))),
        ("bare_pointer.c", Options(shapes=("C=n", "A=n"))),
        ("bare_pointer.c", Options(shapes=("A=k", "B=n,m"))),
        ("bare_pointer.c", Options(shapes=("A=n", "B=n"))),
        ("bare_pointer.c", Options(shapes=("A=n", "A=m"))),
        ("step_of_parameter.c", Options(values=("step",))),
        ("step_of_parameter.c", Options(values=("step=x",))),
        ("step_of_parameter.c", Options(values=("A=2",))),
        ("step_of_parameter.c", Options(values=("step=2", "step=3"))),
        ("half_operation.c", Options(defines=("_Float16=long double",))),
        ("absent.c", Options()),
    ]
    golden("options", "\n\n".join(str(diagnose(Path(name), options)) for name, options in cases))


def test_bare_pointers_are_read_with_their_shapes() -> None:
    nest, _ = load("bare_pointer.c", Options(shapes=("A=n", "B=n,m")))
    assert [tuple(map(str, s.shape)) for s in nest.storage] == [("n",), ("n", "m")]


def test_without_the_extra_c_files_are_refused(monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    def absent(name: str) -> None:
        return None

    monkeypatch.setattr(clang, "find_spec", absent)
    clang.clear_caches()
    error = diagnose(Path("step.c"), Options())
    clang.clear_caches()
    assert error.exit_code == USAGE
    golden("missing", str(error))


def test_a_broken_extra_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def elsewhere(name: str) -> ModuleSpec:
        return ModuleSpec(name, None, origin=str(tmp_path / "__init__.py"))

    monkeypatch.setattr(clang, "find_spec", elsewhere)
    clang.clear_caches()
    error = diagnose(Path("step.c"), Options())
    clang.clear_caches()
    assert (error.exit_code, error.diagnostics[0].code) == (USAGE, "PL0150")
    assert "clang cannot be started: No such file or directory" in str(error)
