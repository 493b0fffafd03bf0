# SPDX-License-Identifier: Apache-2.0
"""`simulate --on minion` from the command line to files: the examples, what JSON tells, and how runs end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import Golden
from tests.targets.minion.host.conftest import Call
from tests.targets.minion.host.programs import END, FAIL, made

from polyloom.cli.examples import folder
from polyloom.targets.minion.words.assemble import assemble

Simulate = Callable[[str], dict[str, Any]]


def example(name: str) -> None:
    text = (folder() / "minion" / f"{name}.s").read_text(encoding="utf-8")
    Path(f"{name}.elf").write_bytes(assemble(text, f"{name}.s"))


@pytest.fixture
def simulate(call: Call) -> Simulate:
    """The data of a run that passes."""

    def run(words: str) -> dict[str, Any]:
        status, out, err = call("simulate", *words.split(), "--json")
        assert (status, err) == (0, ""), out + err
        return json.loads(out)

    return run


def test_hello(simulate: Simulate) -> None:
    """Printed in the order of cycles, and of minions within one."""
    example("hello")
    data = simulate("hello.elf --on minion:4")
    assert sorted(data["printed"].replace("\n", "")) == ["0", "1", "2", "3"]
    assert (data["stop"], data["minions"], data["hazards"]) == ("passed", 4, [])


def test_selftest(simulate: Simulate) -> None:
    """Macros, sections, a trap handler: every check of the program passes."""
    example("selftest")
    assert simulate("selftest.elf --on minion")["stop"] == "passed"


@pytest.mark.parametrize("time", ["", "--functional"])
def test_tile(simulate: Simulate, time: str) -> None:
    """Whole numbers, whose product is exact."""
    example("tile")
    draw = np.random.default_rng(5)
    a, b = (draw.integers(-50, 50, (16, 16)).astype(np.float32) for _ in range(2))
    np.save("a.npy", a)
    np.save("b.npy", b)
    data = simulate(f"tile.elf --on minion --in a=a.npy --in b=b.npy --out c=c.npy:16x16:f32 {time}")
    assert np.array_equal(np.load("c.npy"), a @ b)
    assert data["hazards"] == []
    assert (data["cycles"] is None) == bool(time)
    assert data["outputs"] == {"c": {"dtype": "float32", "shape": [16, 16]}}


@pytest.mark.parametrize("words", [["run"], ["compile", "-o", "out.elf"]], ids=["run", "compile"])
def test_an_executable_is_no_source(call: Call, words: list[str]) -> None:
    example("tile")
    status, _, err = call(*words, "tile.elf", "--on", "minion")
    assert (status, err.splitlines()[:2]) == (
        1,
        [
            "error[PL0810]: 'tile.elf' is a program of minions, which is no source",
            "help: write `polyloom simulate tile.elf`",
        ],
    )


def test_allreduce(simulate: Simulate) -> None:
    example("allreduce")
    x = np.zeros((32, 16), np.float32)
    x[:, :8] = np.random.default_rng(6).integers(-99, 99, (32, 8))
    np.save("x.npy", x)
    data = simulate("allreduce.elf --on minion:32 --in x=x.npy --out y=y.npy:32x16:f32")
    assert np.array_equal(np.load("y.npy")[:, :8], np.tile(x[:, :8].sum(0), (32, 1)))
    assert data["hazards"] == []


def test_barrier(simulate: Simulate) -> None:
    example("barrier")
    assert simulate("barrier.elf --on minion:32 --out seen=seen.npy:1:i32")["hazards"] == []
    assert np.load("seen.npy").tolist() == [42]


def test_deadlock(call: Call, golden: Golden) -> None:
    """Who waits for whom, and where."""
    example("deadlock")
    status, out, err = call("simulate", "deadlock.elf", "--on", "minion:2", "--functional")
    assert status == 1
    golden("run-deadlock", out + err)
    status, out, _ = call("simulate", "deadlock.elf", "--on", "minion:2", "--json")
    data = json.loads(out)
    assert (status, data["stop"]) == (1, "deadlock")
    assert sorted(row["minion"] for row in data["deadlock"] if row["in_chain"]) == [0, 0, 1, 1]


def test_hazard(call: Call, simulate: Simulate) -> None:
    """Under `report` the run goes on and the place is listed; under `error` it ends there."""
    example("early")
    data = simulate("early.elf --on minion")
    assert len(data["hazards"]) >= 1
    assert data["hazards"][0]["count"] >= 1
    assert simulate("early.elf --on minion --hazards off")["hazards"] == []
    status, out, err = call("simulate", "early.elf", "--on", "minion", "--hazards", "error")
    assert status == 1 and "error[PL138" in err and "early.s:" in out + err


@pytest.mark.parametrize("policy", ["report", "error", "off"])
def test_a_lost_operation_is_an_error(policy: str, call: Call, golden: Golden) -> None:
    """Whatever hazards are asked for; the file that is written is not trusted to be right."""
    example("lost")
    status, out, err = call("simulate", "lost.elf", "--on", "minion", "--functional", "--hazards", policy)
    assert status == 1
    golden("run-lost", out + err)
    status, out, _ = call("simulate", "lost.elf", "--on", "minion", "--json", "--hazards", policy)
    data = json.loads(out)
    assert (status, data["stop"]) == (1, "tensor-error")
    (row,) = data["hazards"]
    assert (row["kind"], row["still_set"], row["later"]["line"]) == ("tensor_error", 1, 11)


def test_the_number_of_threads_changes_nothing(simulate: Simulate) -> None:
    example("tile")
    np.save("a.npy", np.random.default_rng(8).normal(size=(16, 16)).astype(np.float32))
    found = [
        simulate(f"tile.elf --on minion --in a=a.npy --in b=a.npy --out c=c{n}.npy:16x16:f32 --threads {n}")
        for n in (1, 3)
    ]
    assert found[0]["cycles"] == found[1]["cycles"]
    assert Path("c1.npy").read_bytes() == Path("c3.npy").read_bytes()


def test_trace(simulate: Simulate) -> None:
    """Tracks of cores, the vector unit and waits, the load engines, FMA and store."""
    example("tile")
    simulate("tile.elf --on minion --trace t.json --hazards off")
    events = json.loads(Path("t.json").read_text(encoding="utf-8"))["traceEvents"]
    tracks = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert {"core 0", "core 1", "waits 0", "load L1Scp", "load TenB", "FMA", "store"} <= tracks
    assert {"waits: load", "waits: store"} <= {e["name"] for e in events}
    groups = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert {"minion 0", "shire 0"} <= groups


def test_a_trace_that_is_cut_says_so(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """In what is printed, in the JSON of Perfetto and in waves."""
    example("tile")
    monkeypatch.setattr("polyloom.targets.minion.run.model.MOST_SPANS", 40)
    for name in ("t.json", "t.vcd"):
        status, out, _ = call("simulate", "tile.elf", "--on", "minion", "--trace", name, "--hazards", "off")
        told = out.splitlines()[-1]
        assert status == 0 and told.startswith("the trace has 40 spans and is complete up to cycle ")
        assert told in Path(name).read_text(encoding="utf-8")


def test_report(simulate: Simulate) -> None:
    """A page of a program that Polyloom did not compile has figures, activity and what is printed."""
    example("tile")
    simulate("tile.elf --on minion --report page.html --hazards off")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "<h1>tile.elf <small>on minion</small></h1>" in page
    assert '["minion 0",' in page
    assert "<dt>cycles</dt>" in page


def test_raw_bytes(simulate: Simulate) -> None:
    """As the ELF file of the same code, at the same place."""
    text = f"la a0, word\nli a1, 7\nsd a1, 0(a0)\n{END}.balign 64\nword: .dword 1\n"
    data = made(text)
    Path("k.elf").write_bytes(data)
    Path("k.bin").write_bytes(data[0x1000:0x1100])
    simulate("k.elf --on minion --out word=a.bin:8 --hazards off")
    Path("k.elf").write_bytes(data)
    simulate("--raw 0x8000001000=k.bin --on minion --hazards off")
    assert Path("a.bin").read_bytes() == (7).to_bytes(8, "little")


TRAPS = {
    "illegal": ".word 0x0000000b\n",
    "atomic": ".word 0x0002a2af\n",
    "emulated": "li t0, 0x2000\ncsrrs x0, mstatus, t0\nfdiv.s f0, f1, f2\n",
    "pcie": "li t0, 0x4000000000\nlw t1, 0(t0)\n",
    # Behind the 2,560 KiB of shire 0, and a shire that the chip does not have.
    "scratchpad-end": "li t0, 0x80280000\nlw t1, 0(t0)\n",
    "scratchpad-missing": "li t0, 0x90000000\nlw t1, 0(t0)\n",
    "service-processor": "li t0, 0x40000000\nsw t1, 0(t0)\n",
    "fetch-outside-dram": "li t0, 0x80000000\njalr x0, 0(t0)\n",
    "breakpoint": "ebreak\n",
    "call": "ecall\n",
}


@pytest.mark.parametrize("name", TRAPS)
def test_unhandled_traps(name: str, call: Call, golden: Golden) -> None:
    """Hart, place, cause, value; the exit code is 1 and outputs are written all the same."""
    Path("k.s").write_text(f"_start:\nla a0, word\nli a1, 5\nsw a1, 0(a0)\ncrash:\n{TRAPS[name]}{END}word: .word 0\n")
    call("asm", "k.s", "--on", "minion", "-o", "k.elf")
    words = ("--functional", "--hazards", "off", "--out", "word=out.bin:4")
    status, _, err = call("simulate", "k.elf", "--on", "minion", *words)
    assert status == 1
    assert Path("out.bin").read_bytes() == (5).to_bytes(4, "little")
    golden(f"trap-{name}", err)


def test_a_program_that_fails(call: Call, golden: Golden) -> None:
    Path("k.elf").write_bytes(made(f"li t0, {FAIL:#x}\ncsrrw x0, 0x8d0, t0\n"))
    status, out, err = call("simulate", "k.elf", "--on", "minion", "--functional")
    assert status == 1
    golden("run-failed", err)
    assert "failed" in out


def test_a_program_without_end(call: Call, golden: Golden) -> None:
    Path("k.elf").write_bytes(made("loop:\njal x0, loop\n"))
    status, _, err = call("simulate", "k.elf", "--on", "minion", "--functional", "--max-cycles", "5000")
    assert status == 1
    golden("run-endless", err)


def test_keys(simulate: Simulate) -> None:
    example("hello")
    assert list(simulate("hello.elf --on minion")) == [
        *("verified", "kernel", "on", "minions", "cycles", "operations", "instructions", "run_seconds", "outputs"),
        *("stop", "printed", "trap", "hazards", "deadlock", "counters", "extrapolated"),
    ]
