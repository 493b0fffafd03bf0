# SPDX-License-Identifier: Apache-2.0
"""The trace of a hart: every instruction on the lane of its class, in the group of its function; a cut is told."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import polyloom as pl
from polyloom.cli import main
from polyloom.riscv import names
from polyloom.riscv.isa import instruction_table
from polyloom.riscv.model import Machine
from polyloom.riscv.timing.instruction_class import CLASSES, instruction_class
from polyloom.targets.riscv import target

pytest.importorskip("ziglang", reason="C needs the extra `c`")
C = """
__attribute__((noinline)) static float half(float x) { return x / 2; }
void f(int n, const int a[n], int b[n], float y[n]) {
    for (int i = 0; i < n; i++) {
        b[i] = a[i] / (i + 1) * 3;
        y[i] = half(a[i]);
    }
}
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("f.c").write_text(C, encoding="utf-8")
    return "f.c:f"


def test_every_class_is_a_lane_and_every_instruction_has_one() -> None:
    found = {row.mnemonic: instruction_class(row.mnemonic) for row in instruction_table() if row.expansion is None}
    assert set(found.values()) == set(CLASSES)
    assert {m for m, kind in found.items() if kind == "load"} == {
        *("lb", "lh", "lw", "lbu", "lhu", "lwu", "ld", "flw", "fld")
    }
    assert {m for m, kind in found.items() if kind == "branch"} == {"beq", "bne", "blt", "bge", "bltu", "bgeu"}
    assert all(kind == "atomic" for m, kind in found.items() if m.startswith(("amo", "lr.", "sc.")))
    assert (found["addw"], found["divuw"], found["mulhu"], found["fence.i"]) == (
        *("integer", "divide", "multiply", "system"),
    )


@pytest.mark.parametrize("on", ["riscv:rv64gc", "riscv:rv32gc"])
def test_a_span_for_each_instruction(on: str, source: str) -> None:
    made = pl.compile(source, on=on)
    plain, traced = made.run(n=9), made.prepare_instance({}).run(n=9, trace=True)
    assert traced.verified
    assert traced.data["instructions"] == plain.data["instructions"] == len(traced.trace.spans)
    assert [span.start for span in traced.trace.spans] == list(range(len(traced.trace.spans)))
    assert traced.trace.notice == ""
    by_group = Counter(span.group for span in traced.trace.spans)
    assert set(by_group) == {"f", "half"} and by_group["half"] == 9 * by_group["half"] // 9
    lanes = Counter((span.group, span.lane) for span in traced.trace.spans)
    assert lanes["f", "divide"] == 9
    assert lanes["half", "float"] == 9
    source_lines = {dict(span.arguments)["source"] for span in traced.trace.spans if span.lane == "divide"}
    assert source_lines == {"f.c:5"}


def test_the_activity_counts_them_by_class(source: str) -> None:
    result = pl.compile(source, on="riscv").prepare_instance({}).run(n=9, trace=True)
    lanes = Counter((span.group, span.lane) for span in result.trace.spans)
    assert result.activity is not None
    counted = {
        (group.name, lane): count
        for group in result.activity.groups
        for lane, count in zip(group.lanes, result.activity.counts[group.name], strict=True)
    }
    assert counted == dict(lanes)
    assert "what is called a cycle is one instruction" in result.page()


def test_a_long_run_says_what_is_missing(
    source: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(target, "LONGEST", 100)
    words = ["run", source, "n=50", "--on", "riscv", "--trace", "t.json", "--report", "t.html"]
    assert main(words) == 0
    printed = capsys.readouterr()
    count = int(printed.out.partition("instructions ")[2].split()[0])
    notice = f"the trace has the first 100 of {count:,} instructions"
    assert f"warning[PL0823]: {notice}\n" in printed.err
    made = json.loads(Path("t.json").read_text())
    assert made["otherData"] == {"notice": notice}
    assert sum(event["ph"] == "X" for event in made["traceEvents"]) == 100
    assert f"T{notice[1:]}." in Path("t.html").read_text()
    assert main([*words[:-4], "--trace", "t.vcd", "--json"]) == 0
    assert Path("t.vcd").read_text().startswith(f"$comment {notice} $end\n")
    assert notice in capsys.readouterr().err


def test_a_program_of_other_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.s").write_text("_start: li a0, 3\nagain: addi a0, a0, -1\nbnez a0, again\nli a7, 93\necall\n")
    assert main(["asm", "p.s", "--on", "riscv", "-o", "p.elf"]) == 0
    assert main(["simulate", "p.elf", "--on", "riscv", "--trace", "p.json"]) == 0
    spans = [event for event in json.loads(Path("p.json").read_text())["traceEvents"] if event["ph"] == "X"]
    assert len(spans) == 9
    assert [span["name"].split()[0].removeprefix("c.") for span in spans[:3]] == ["addi", "addi", "bne"]


@given(n=st.integers(0, 40), record=st.integers(0, 200), seed=st.integers(0, 3))
def test_a_recorded_run_is_any_run(n: int, record: int, seed: int) -> None:
    """However many instructions are kept, all is as without; those that are kept are the first ones."""
    random = np.random.default_rng(seed)
    text = "li a1, 0\nloop: add a1, a1, a0\naddi a0, a0, -1\nbgtz a0, loop\nli a7, 93\nmv a0, a1\necall\n"
    from polyloom.riscv.assemble import assemble
    from polyloom.riscv.backend.link import assembly_executable
    from polyloom.riscv.image import elf_image

    isa = names.parse_isa("rv64gc" if random.integers(2) else "rv32imac")
    data = assembly_executable(assemble(text, isa, 0x10000, "p.s"), isa)

    def run(record: int) -> tuple[Machine, object, list[int]]:
        machine = Machine(elf_image(data, isa))
        machine.set_x(10, n)
        done = machine.run(record=record)
        return machine, (done.exit_code, done.instructions, machine.x), done.executed.tolist()

    _, whole, every = run(10**6)
    _, plain, none = run(0)
    _, some, first = run(record)
    assert whole == plain == some
    assert (none, first) == ([], every[:record])
    assert len(every) == 3 + 3 * max(n, 1) + 1
