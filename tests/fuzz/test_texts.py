# SPDX-License-Identifier: Apache-2.0
"""No construct of C ends in an internal error: every kind of file, constructs one by one and nested, and programs with
changed bytes.

`texts.fuzz_c` does the same for as long as one likes, on all targets.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.fuzz import texts

pytest.importorskip("ziglang", reason="C needs the extra `c`")

PARTS = 48
SHORT = 4
"""In a short run as many of the parts."""
FIXED = [
    *(text.encode() for text in (*texts.WHOLE, *texts.constructs())),
    *(data for data in texts.raw_files() if len(data) < 30000),
]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("part", [pytest.param(k, marks=[pytest.mark.long] * (k >= SHORT)) for k in range(PARTS)])
def test_every_construct(part: int) -> None:
    """Each on a target and with a verb that differ from part to part."""
    for k, text in enumerate(FIXED[part::PARTS]):
        target, verb = texts.TARGETS[(part + k) % 3], ("run", "show", "compile", "run")[(part + k // 3) % 4]
        assert [*texts.tried(text, [target], [verb], differs_by_right=True)] == []


@pytest.mark.parametrize(
    "text", ["void f() {}\n", "void f();\nvoid f() {}\n", "int f() { return 3; }\n", "void f(int n, ...) {}\n"]
)
def test_lists_of_parameters_without_parameters(text: str) -> None:
    """`void f()` was an internal error."""
    assert [*texts.tried(text.encode(), texts.TARGETS, ["run", "show", "compile"])] == []


@pytest.mark.parametrize(
    "text",
    [
        "float f(int n) { return n; }",
        "float f(void) { return 1; }",
        "void f(double a[2]) { a[0] = 2; }",
        "double f(float x) { return x; }",
    ],
)
def test_floats_without_their_extension(text: str) -> None:
    """A constant that is returned was an internal error."""
    found = texts.answer(text.encode(), ["compile", "f.c", "--on", "riscv:rv32imac", "-o", "f.elf"])
    assert found is None
    assert not Path("f.elf").exists()


def test_random_programs() -> None:
    random = Random(1)
    for k in range(8):
        program = texts.random_program(random).encode()
        assert [*texts.tried(program, [texts.TARGETS[k % 3]], ["run"])] == []


def test_changed_programs() -> None:
    random, programs = Random(2), texts.programs()
    for k in range(8):
        text = texts.mutated(random.choice(programs), random)
        assert [
            *texts.tried(text, [texts.TARGETS[k % 3]], ["show" if k % 2 else "compile"], differs_by_right=True)
        ] == []


def test_fuzzing_gives_what_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A verb that fails is a finding with its text and its command."""

    def failing(words: list[str]) -> int:
        raise ZeroDivisionError(words[0])

    monkeypatch.setattr(texts, "main", failing)
    found = list(texts.fuzz_c(0, 1))
    assert len(found) == 3
    assert all(finding.what.startswith("ZeroDivisionError") and finding.words[1].startswith("f.c") for finding in found)


def test_what_is_generated_is_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """All but a few of the random programs get through clang, so that they reach what comes after it."""
    codes = list[str]()

    def kept(words: list[str]) -> int:
        from polyloom.diagnostics import PolyloomError
        from polyloom.frontend.c.clang import syntax_tree
        from polyloom.frontend.source import Options

        try:
            syntax_tree(words[1].partition(":")[0], Options())
        except PolyloomError as error:
            codes.append(error.code)
        return 0

    monkeypatch.setattr(texts, "main", kept)
    random = Random(3)
    for _ in range(30):
        texts.answer(texts.random_program(random).encode(), ["show", "f.c"])
    assert len(codes) < 10, codes


def test_cases_of_generic_selections_are_no_nodes() -> None:
    """A random program within `#pragma scop` found an internal error."""
    text = (
        "void f(int n, int a[n]) {\n  int x = 2;\n  __builtin_assume(n > 1);\n  a[0] = _Generic(x, int: n > 2, "
        "float: 2, default: 3) ? 1 : 2;\n}\n"
    )
    assert [*texts.tried(text.encode(), texts.TARGETS, ["run"])] == []
