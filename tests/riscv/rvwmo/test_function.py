# SPDX-License-Identifier: Apache-2.0
"""`polyloom litmus FILE.c`: the document's claim from C, in both directions, and what it says where no test can be
made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.conftest import Golden

from polyloom.cli import main

pytest.importorskip("llvmlite", reason="C functions need polyloom[c]")
pytest.importorskip("ziglang", reason="C functions need polyloom[c]")

EXAMPLE = Path(__file__).parents[3] / "examples" / "litmus" / "select.c"
REFUSED = """
#include <stdatomic.h>
int scalar(volatile int *x, volatile int *y, int n) { int r = *x; *y = n; return r; }
int product(volatile int *x, volatile int *y) { int r = *x;
  *y = r * r; return r; }
int chosen(volatile int *x, volatile int *y) { switch (*x) { case 1: *y = 1; break; case 2: *y = 5; break;
    case 7: *y = *x; } return 0; }
int plain(int *x, volatile int *y) { int r = *x; *y = 1; return r; }
int one(volatile int *x) { return *x + *x; }
int five(volatile int *x, volatile int *y) { if (*x == 5) *y = 1; return 0; }
int mixed(volatile int *x, volatile short *y) { int r = *x; int s = y[1]; *y = 1; return r + s; }
int acquire(atomic_int *x, atomic_int *y) {
  int r = atomic_load_explicit(x, memory_order_acquire);
  atomic_store_explicit(y, 1, memory_order_relaxed);
  return r ? 7 : 0; }
__attribute__((noinline)) static void put(volatile int *x) { *x = 1; }
int calling(volatile int *x, volatile int *y) { if (*x) put(y); return 0; }
"""
ERRORS = {
    "no function": "litmus refused.c",
    "a parameter without a value": "litmus refused.c:scalar",
    "an unknown parameter": "litmus refused.c:scalar n=1 m=2",
    "a multiplication": "litmus refused.c:product",
    "a switch": "litmus refused.c:chosen",
    "no volatile load": "litmus refused.c:plain",
    "one location": "litmus refused.c:one",
    "nothing stored for 1": "litmus refused.c:five",
    "a call": "litmus refused.c:calling",
    "mixed sizes": "litmus refused.c:mixed",
    "RV32": "litmus refused.c:one --isa rv32gc",
    "an unknown set": "litmus refused.c:one --isa rv64gc_zicnd",
    "another order": "litmus refused.c:one --ordering fences",
    "against a log": "litmus refused.c:one --against herd.log",
    "two files": "litmus refused.c:one other.c",
}


def verdicts(words: str, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    assert main(["litmus", *words.split(), "--json"]) == 0
    return {each["name"].split("+")[1]: each["verdict"] for each in json.loads(capsys.readouterr().out)}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "store --ssa 0",
            {"LB": "Sometimes", "S": "Sometimes"},
        ),  # of clang's making: constant arms are selected at -O0, too
        ("store", {"LB": "Sometimes", "S": "Sometimes"}),
        ("store --isa rv64gc", {"LB": "Sometimes", "S": "Sometimes"}),
        ("store --ordering branch", {"LB": "Never", "S": "Never"}),
        ("store --ordering fence", {"LB": "Never", "S": "Never"}),
        ("store_selected", {"LB": "Never", "S": "Never"}),
        ("load_selected", {"MP": "Never"}),
        ("load_selected --ssa 0", {"MP": "Sometimes"}),
    ],
)
def test_the_claim(words: str, expected: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    name, *options = words.split()
    assert verdicts(" ".join([f"{EXAMPLE}:{name}", *options]), capsys) == expected


def test_what_the_other_hart_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The function stores where it reads 5. A branch decides whether, which is order enough."""
    (tmp_path / "refused.c").write_text(REFUSED)
    assert verdicts(f"{tmp_path}/refused.c:five x=5 --ssa 0", capsys) == {"LB": "Never", "S": "Never"}


def test_a_call_that_becomes_part_of_its_caller(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As its refusal says."""
    (tmp_path / "refused.c").write_text(REFUSED)
    assert verdicts(f"{tmp_path}/refused.c:calling -D noinline= --ssa 0", capsys) == {"LB": "Never", "S": "Never"}


def test_orders_of_c(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "refused.c").write_text(REFUSED)
    assert verdicts(f"{tmp_path}/refused.c:acquire", capsys) == {"LB": "Never", "S": "Never"}


def test_emitted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """What is printed is a test that the checker reads and judges alike."""
    assert main(["litmus", f"{EXAMPLE}:store", "--ordering", "branch", "--emit", "--json"]) == 0
    for each in json.loads(capsys.readouterr().out):
        (tmp_path / "one.litmus").write_text(each["test"])
        assert main(["litmus", str(tmp_path / "one.litmus")]) == 0
        assert capsys.readouterr().out.startswith(f"{each['name']}: Never")


def test_errors(
    golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "refused.c").write_text(REFUSED)
    parts: list[str] = []
    for name, words in ERRORS.items():
        status = main(words.split())
        captured = capsys.readouterr()
        assert captured.out == ""
        parts.append(f"# {name}: polyloom {words}\nexit {status}\n{captured.err}")
    golden("function-errors", "\n".join(parts))
