# SPDX-License-Identifier: Apache-2.0
"""`--ignore`: what is left out, what is said of it, and what is refused; `--with`: functions of other files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.conftest import Golden

from polyloom import api
from polyloom.diagnostics import PolyloomError
from polyloom.frontend import c
from polyloom.frontend.c.calls.ignore import notes, remove_ignored
from polyloom.frontend.source import Options
from polyloom.ir.nest_interpret import interpret

pytest.importorskip("ziglang", reason="C needs the extra `c`")

TIMED = """#include <stdio.h>
#include <time.h>
#define STOP(x) stop(x)
float checksum(const char *name);
static double seconds;
static void stop(double *x) { *x = (double)clock(); }
void timed(int n, int A[n]) {
  double begin, end = 0.0, took;
  stop(&begin);
  for (int turn = 0; turn < 100; turn++) {
    for (int i = 0; i < n; i++) A[i] = A[i] + 1;
  }
  STOP(&end);
  took = end - begin;
  took *= 1e-6;
  if (n > 3) printf("%d took %f\\n", n, took);
  (void)printf("done\\n");
}
float checked(int n, int A[n]) {
  for (int i = 0; i < n; i++) A[i] = A[i] + 1;
  return checksum(__func__);
}
void used(int n, int A[n]) {
  long now = clock();
  for (int i = 0; i < n; i++) A[i] = (int)now;
}
void counts(int n, int A[n]) {
  for (int turn = 0; turn < 10; turn++)
    for (int i = 0; i < n; i++) A[i] += turn;
}
"""


@pytest.fixture
def timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("timed.c").write_text(TIMED, encoding="utf-8")
    return "timed.c"


def test_text_without_what_is_ignored(timed: str, golden: Golden) -> None:
    options = Options("timed", ignore=("stop", "STOP", "printf", "turn"))
    text = dict(remove_ignored(timed, options).instead)[timed]
    assert text.count("\n") == TIMED.count("\n")
    shown = "\n".join(line.rstrip() for line in text.split("\n"))
    golden("ignored", "\n\n".join([shown, *(note.render() for note in notes(timed, options))]) + "\n")


def test_runs_are_compared_with_the_function_without_it(timed: str) -> None:
    nest, reference = c.load(timed, Options("timed", ignore=("stop", "STOP", "printf", "turn")))
    inputs = {"A": np.arange(5, dtype=np.int32)}
    expected = np.arange(1, 6, dtype=np.int32)
    assert np.array_equal(reference({"n": 5}, inputs)["A"], expected)
    assert np.array_equal(interpret(nest, {"n": 5}, inputs)["A"], expected)


def test_a_value_that_is_returned_may_be_ignored(timed: str) -> None:
    options = Options("checked", ignore=("checksum",))
    nest, reference = c.load(timed, options)
    found = reference({"n": 5}, {"A": np.arange(5, dtype=np.int32)})
    assert found["return"] == 0 and np.array_equal(found["A"], np.arange(1, 6))
    assert interpret(nest, {"n": 5}, {"A": np.arange(5, dtype=np.int32)})["return"] == 0
    assert [note.message for note in notes(timed, options)] == ["the call of `checksum` is left out, and 0 returned"]


def test_notes_are_warnings_of_a_compilation(timed: str) -> None:
    compiled = api.compile(timed, options=Options("timed", ignore=("stop", "STOP", "printf", "turn")))
    assert compiled.subject is not None
    assert {warning.code for warning in compiled.subject.warnings} == {"PL0168"}
    assert all(warning.exit_code == 0 for warning in compiled.subject.warnings)


def test_what_is_needed_cannot_be_ignored(timed: str, golden: Golden) -> None:
    texts = list[str]()
    for name, ignore in (("used", "clock"), ("counts", "turn")):
        with pytest.raises(PolyloomError) as caught:
            c.load(timed, Options(name, ignore=(ignore,)))
        texts.append(str(caught.value))
    golden("ignored_refusals", "\n\n".join(texts))


def test_functions_of_other_files_are_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scale.h").write_text("#define BY 3\n", encoding="utf-8")
    Path("scale.c").write_text(
        '#include "scale.h"\nint scaled(int x) { int y = x * BY; if (y > 9) y = 9; return y; }\n', encoding="utf-8"
    )
    Path("main.c").write_text(
        "int scaled(int x);\nvoid f(int n, int A[n]) { for (int i = 0; i < n; i++) A[i] = scaled(A[i]); }\n",
        encoding="utf-8",
    )
    with pytest.raises(PolyloomError):
        c.load("main.c", Options("f"))
    options = Options("f", companions=("scale.c",))
    nest, reference = c.load("main.c", options)
    inputs = {"A": np.arange(5, dtype=np.int32)}
    found = reference({"n": 5}, inputs)["A"]
    assert np.array_equal(found, [0, 3, 6, 9, 9])
    assert np.array_equal(interpret(nest, {"n": 5}, inputs)["A"], found)
    compiled = api.compile("main.c", "riscv", options=options)
    assert np.array_equal(compiled.run(n=5, A=inputs["A"]).outputs["A"], found)
