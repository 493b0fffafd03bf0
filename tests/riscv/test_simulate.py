# SPDX-License-Identifier: Apache-2.0
"""`polyloom simulate` of programs of other tools: they start at their entry, arrays are at symbols and addresses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import Golden
from tests.riscv.elfs import Elf

import polyloom as pl
from polyloom.cli import main
from polyloom.riscv import names
from polyloom.riscv.assemble import assemble
from polyloom.riscv.backend.link import executable

ISA = names.parse_isa("rv64gc")
BITS = Path(__file__).parents[2] / "examples" / "bits.pla"
CODE, DATA = 0x10000, 0x20000
SUM = f"""
li a0, {DATA}
li a1, 3
li a2, 0
loop: lw a3, 0(a0)
add a2, a2, a3
addi a0, a0, 4
addi a1, a1, -1
bnez a1, loop
li a0, {DATA}
sw a2, 12(a0)
li a0, 7
li a7, 93
ecall
"""
"""Adds three words at DATA, stores the sum behind them, and ends with the exit code 7."""
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    monkeypatch.chdir(tmp_path)
    words = assemble(SUM, ISA, CODE).data
    (tmp_path / "sum.bin").write_bytes(words)
    (tmp_path / "data.bin").write_bytes(bytes(16))
    (tmp_path / "sum.elf").write_bytes(Elf(words, size=DATA + 64 - CODE).data)
    (tmp_path / "named.elf").write_bytes(
        executable(b"", CODE, words + bytes(DATA - CODE), ISA, {"code": 0, "data": DATA - CODE})
    )
    pl.compile(BITS, on="tcpa:paper").instantiate(N=4, pes=(1, 1)).save(tmp_path / "bits.plcc")
    np.save(tmp_path / "a.npy", np.array([1, 20, 300], np.int32))

    def run(*words: str) -> tuple[int, str, str]:
        status = main(list(words))
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


def test_an_executable_starts_at_its_entry(call: Call) -> None:
    place = [f"{DATA:#x}=a.npy", f"{DATA + 12:#x}:i32[1]=sum.npy"]
    status, out, err = call(
        "simulate", "sum.elf", "--on", "riscv:rv64gc", "--in", place[0], "--out", place[1], "--json"
    )
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert (found["verified"], found["exit_code"], found["on"]) == (None, 7, "riscv:rv64gc")
    assert found["instructions"] > 15
    assert np.load("sum.npy").tolist() == [321]


def test_raw_words_are_placed_together(call: Call) -> None:
    """The first file is where the program starts."""
    files = [f"sum.bin@{CODE:#x}", f"data.bin@{DATA}"]
    place = [f"{DATA}:i32[3]=a.npy", f"{DATA + 12}:i32[1]=sum.npy"]
    status, _, err = call("simulate", *files, "--on", "riscv:rv64gc", "--in", place[0], "--out", place[1])
    assert (status, err) == (0, "")
    assert np.load("sum.npy").tolist() == [321]


REFUSED = {
    "no-target": ["sum.elf"],
    "target-without-images": ["sum.elf", "--on", "tcpa"],
    "several-of-ours": ["bits.plcc", "bits.plcc"],
    "no-address": ["sum.bin", "--on", "riscv"],
    "elf-with-address": ["sum.elf@16", "--on", "riscv"],
    "overlapping": [f"sum.bin@{CODE}", f"data.bin@{CODE + 8}", "--on", "riscv"],
    "unknown-symbol": ["sum.elf", "--on", "riscv", "--out", "totl:i32[1]=sum.npy"],
    "unknown-type": ["sum.elf", "--on", "riscv", "--out", f"{DATA}:i33[1]=sum.npy"],
    "no-extents": ["sum.elf", "--on", "riscv", "--out", f"{DATA}=sum.npy"],
    "input-type": ["sum.elf", "--on", "riscv", "--in", f"{DATA}:f32=a.npy"],
    "input-shape": ["sum.elf", "--on", "riscv", "--in", f"{DATA}:i32[4]=a.npy"],
    "outside": ["sum.elf", "--on", "riscv", "--in", "0xffff0000=a.npy"],
    "huge-output": ["sum.elf", "--on", "riscv", "--out", f"{DATA}:i32[99999999999999]=sum.npy"],
    "endless": ["sum.elf", "--on", "riscv", "--max-instructions", "5"],
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, call: Call, golden: Golden) -> None:
    status, out, err = call("simulate", *REFUSED[name])
    assert status in (1, 2)
    golden(f"simulate-{name}", f"$ polyloom simulate {' '.join(REFUSED[name])}\nexit {status}\n{out}{err}")


def test_a_file_of_ours_has_a_note_that_tells_its_arguments(call: Call) -> None:
    pytest.importorskip("ziglang", reason="C needs the extra `c`")
    Path("f.c").write_text(
        "struct s { char a; double b[2]; };\n"
        "unsigned char f(int n, int m, struct s p[n], const short x[n * m + 1], _Bool up, float by)\n"
        "{ for (int i = 0; i < n; i++) { p[i].b[1] = x[i] * by; p[i].a = up; } return n + 250; }\n",
        encoding="utf-8",
    )
    form = np.dtype([("a", "i1"), ("b", "<f8", (2,))], align=True)
    np.save("p.npy", np.zeros(3, form))
    np.save("x.npy", np.arange(7, dtype=np.int16))
    values = ["n=3", "m=2", "up=1", "by=0.5"]
    given = ["--in", "p=p.npy", "--in", "x=x.npy", "--out", "p=q.npy", "--out", "return=r.npy"]
    for isa in ("rv64gc", "rv32gc"):
        assert call("compile", "f.c", "--on", f"riscv:{isa}", "-o", "f.elf")[0] == 0
        status, out, err = call("simulate", "f.elf", *values, *given, "--json")
        assert (status, err) == (0, "")
        assert json.loads(out)["parameters"] == {"n": 3, "m": 2, "up": True, "by": 0.5}
        after = np.load("q.npy")
        assert after["a"].tolist() == [1, 1, 1] and after["b"][:, 1].tolist() == [0, 0.5, 1]
        assert (int(np.load("r.npy")), np.load("r.npy").dtype) == (253, np.uint8)
