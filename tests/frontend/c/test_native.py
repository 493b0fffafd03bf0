# SPDX-License-Identifier: Apache-2.0
"""The function itself as the oracle: options reach the compiler, libraries are kept, and what goes wrong there stays
there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.frontend.python.helpers import assert_same, meaning

from polyloom import api
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.c import clang, load
from polyloom.frontend.source import Options

pytest.importorskip("ziglang", reason="C needs the extra `c`")


def write(folder: Path, text: str, name: str = "program.c") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_single_constants_are_single_in_both(tmp_path: Path) -> None:
    path = write(
        tmp_path, "void f(int n, float A[n]) {\n  for (int i = 0; i < n; i++) A[i] = A[i] * 0.1 + 1e-3 / A[i];\n}\n"
    )
    inputs, found = {"A": np.linspace(0.1, 7, 50, dtype=np.float32)}, list[str]()
    for single in (False, True):
        nest, reference = load(path, Options(single_constants=single))
        assert_same(meaning(nest, {"n": 50}, inputs), reference({"n": 50}, inputs))
        found.append(str(nest.body))
    assert "f64" in found[0] and "f64" not in found[1]


def test_includes_and_defines_reach_both(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    write(tmp_path / "include", "static inline int twice(int x) { return 2 * x; }\n", "twice.h")
    text = (
        '#include "twice.h"\nstatic void kernel_f(int n, int A[n]) {\n  for (int i = 0; i < n; i++) A[i] = A[i] * '
        "FACTOR + 1;\n}\n"
    )
    options = Options(includes=(str(tmp_path / "include"),), defines=("FACTOR=3",))
    _, reference = load(write(tmp_path, text), options)
    assert reference({"n": 3}, {"A": np.array([1, 2, 3], np.int32)})["A"].tolist() == [4, 7, 10]


def test_a_library_is_made_once_for_each_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    clang.clear_caches()
    unit = "void __polyloom_entry(void **a) {{ *(int *)a[0] = {}; }}\n"
    first, again, other = (clang.shared_library(unit.format(number), Options()) for number in (1, 1, 2))
    clang.clear_caches()
    assert first == again != other
    assert sorted(first.parent.glob("*.so")) == sorted({first, other})
    assert list(tmp_path.iterdir()) == [first.parent]


def test_a_fault_of_the_function_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, "void f(int n, int A[n]) {\n  for (int i = 0; i < n; i++) A[i] = *(volatile int *)0;\n}\n")
    text = Path(path).read_text(encoding="utf-8").replace("*(volatile int *)0", "A[i]")
    sound = write(tmp_path, text, "sound.c")
    nest, reference = load(sound, Options())
    Path(sound).write_text(Path(path).read_text(encoding="utf-8"), encoding="utf-8")
    assert nest.name == "f"
    with pytest.raises(PolyloomError, match="PL0167"):
        reference({"n": 3}, {"A": np.zeros(3, np.int32)})


def test_a_function_without_a_body_is_named(tmp_path: Path) -> None:
    text = (
        "int size(int);\nvoid f(int n, int A[n]) {\n  if (A == 0 && size(n) > 0) return;\n"
        "  for (int i = 0; i < n; i++) A[i] = i;\n}\n"
    )
    _, reference = load(write(tmp_path, text), Options())
    with pytest.raises(PolyloomError, match=r"`f` cannot be linked: `size` has no body") as refused:
        reference({"n": 3}, {"A": np.zeros(3, np.int32)})
    assert "--with FILE" in str(refused.value)


def test_a_returned_pointer_is_no_result(tmp_path: Path) -> None:
    text = (
        "int *up(int n, const int x[n], int y[n]) {\n  for (int i = 0; i < n; i++) *y++ = x[i] + 1;\n  return y;\n}\n"
    )
    path = write(tmp_path, text)
    nest, reference = load(path, Options())
    assert [s.name for s in nest.storage if s.role == "argument"] == ["x", "y"]
    x = np.arange(3, dtype=np.int32)
    assert reference({"n": 3}, {"x": x, "y": x})["y"].tolist() == [1, 2, 3]
    for on in ("riscv", "tcpa"):
        run = api.compile(path, on).run(n=3, x=x)
        assert run.verified
        assert run.outputs["y"].tolist() == [1, 2, 3]


def test_outputs_that_are_not_given_begin_with_zeros(tmp_path: Path) -> None:
    _, reference = load(
        write(tmp_path, "void f(int n, int A[n]) {\n  for (int i = 1; i < n; i++) A[i] = i;\n}\n"), Options()
    )
    assert reference({"n": 4}, {})["A"].tolist() == [0, 1, 2, 3]
    assert reference({"n": 0}, {})["A"].shape == (0,)


def test_positions_count_characters(tmp_path: Path) -> None:
    path = write(tmp_path, "/* größer */ void f(int n, int A[n]) { /* über */ while (n) A[0] = 1; }\n")
    with pytest.raises(PolyloomError) as caught:
        load(path, Options(function="f"))
    span = caught.value.diagnostics[0].span
    assert span is not None
    assert span.source.text[span.start : span.end] == "while (n) A[0] = 1"


def test_where_clang_ends_without_a_word_the_message_says_what_to_do(tmp_path: Path) -> None:
    path = write(tmp_path, f"int f(int a) {{ return {'~' * 300000} a; }}\n")
    with pytest.raises(PolyloomError, match=r"PL0151(.|\n)*(split them|nesting level)"):
        load(path, Options())
