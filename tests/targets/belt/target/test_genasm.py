# SPDX-License-Identifier: Apache-2.0
"""Assembled genasm is the file that the source compiles to: it takes and gives arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polyloom import npy
from polyloom.cli import main
from polyloom.cli.bench.loops import loops

MEMBERS = ("gold", "tin", "hex4")
UPPER = """#include <stdint.h>
void upper(int n, uint8_t s[restrict n]) {
  for (int i = 0; i < n; i++)
    if (s[i] >= 'a' && s[i] <= 'z') s[i] -= 32;
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ziglang", reason="C needs the extra `c`")
    monkeypatch.chdir(tmp_path)
    Path("upper.c").write_text(UPPER, encoding="utf-8")


def equal_bytes(source: str, on: str, *own: str) -> None:
    assert main(["compile", source, *own, "--on", on, "-o", "one.belt"]) == 0
    assert main(["compile", source, *own, "--on", on, "--emit", "genasm", "-o", "one.genasm"]) == 0
    assert main(["asm", "one.genasm", "--on", on, "-o", "again.belt"]) == 0
    assert Path("one.belt").read_bytes() == Path("again.belt").read_bytes()


def test_arrays_go_in_and_out() -> None:
    equal_bytes("upper.c", "belt:silver")
    Path("s.npy").write_bytes(npy.encode(np.frombuffer(b"Hello, world", np.uint8)))
    assert main(["simulate", "again.belt", "n=12", "--in", "s=s.npy", "--out", "s=made.npy"]) == 0
    assert np.load("made.npy").tobytes() == b"HELLO, WORLD"


# Each loop on one of the members; with `-m long` on all of them.
@pytest.mark.parametrize(
    ("member", "first", "step"),
    [
        *((member, 10 * n, 30) for n, member in enumerate(MEMBERS)),
        *(pytest.param(member, 0, 6, marks=pytest.mark.long) for member in MEMBERS),
    ],
)
def test_bytes_are_those_of_the_compiled_file(member: str, first: int, step: int) -> None:
    for loop in tuple(loops())[first::step]:
        equal_bytes(loop.path, f"belt:{member}", "--function", loop.name)


def test_vectors_too() -> None:
    loop = next(loop for loop in loops() if loop.name == "copy")
    equal_bytes(loop.path, "belt:silver", "--function", "copy", "--vectorize")


@pytest.mark.parametrize(
    ("signature", "told"),
    [
        ("signature {", "the signature is not written as a file's note has it"),
        ('signature {"arguments":[],"name":"upper","sizes":[]}', "the signature has other arguments"),
        (
            'signature {"arguments":[{"name":"n","output":false,"type":"<i8"},'
            '{"extents":["n"],"name":"s","output":true,"type":"|u1"}],"name":"upper","sizes":["n"]}',
            "the signature has other arguments",
        ),
    ],
)
def test_a_signature_that_does_not_fit(signature: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "upper.c", "--on", "belt:silver", "--emit", "genasm", "-o", "upper.genasm"]) == 0
    first, rest = Path("upper.genasm").read_text(encoding="utf-8").split("\n", 1)
    assert first.startswith("signature ")
    Path("upper.genasm").write_text(f"{signature}\n{rest}", encoding="utf-8")
    assert main(["asm", "upper.genasm", "--on", "belt:silver", "-o", "again.belt"]) == 1
    said = capsys.readouterr().err
    assert f"error[PL1007]: {told}" in said and "upper.genasm:1:1" in said


def test_without_a_signature_everything_is_a_number() -> None:
    assert main(["compile", "upper.c", "--on", "belt:silver", "--emit", "genasm", "-o", "upper.genasm"]) == 0
    Path("upper.genasm").write_text(
        Path("upper.genasm").read_text(encoding="utf-8").split("\n", 1)[1], encoding="utf-8"
    )
    assert main(["asm", "upper.genasm", "--on", "belt:silver", "-o", "again.belt"]) == 0
    assert main(["simulate", "again.belt", "n=0", "s=0"]) == 0
