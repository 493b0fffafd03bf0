# SPDX-License-Identifier: Apache-2.0
"""The debugger: forwards, back, breakpoints, conditions, origins, and the first wrong value, on every machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import Golden
from tests.debugger.planted import PLANTED

import polyloom as pl
from polyloom.cli import debug as verb
from polyloom.cli import main
from polyloom.debugger.commands import Debugger
from polyloom.debugger.entry_point import open_debugger
from polyloom.diagnostics import PolyloomError
from polyloom.riscv.names import parse_isa
from polyloom.run.instance import Instance
from polyloom.stepping.session import Session
from polyloom.targets.riscv.stepper import HartStepper, call_stepper
from polyloom.targets.target import Job

MACHINES = ("tcpa:2x2", "riscv", "belt", "minion:1", "tensix")
SOURCE = """import polyloom as pl

N = pl.size("N")


@pl.kernel
def mix(A: pl.f32[N], B: pl.f32[N, N], C: pl.f32[N]) -> None:
    for i in range(N):
        C[i] = A[i] * pl.f32(3.0)
    for i in range(N):
        for j in range(N):
            C[i] = C[i] + B[i, j]
"""

PRINTS = """.data
word: .word 5
text: .ascii "hello"
.text
_start:
la a1, word
lr.w a0, (a1)
addi a0, a0, 1
sc.w s1, a0, (a1)
li a0, 1
la a1, text
li a2, 5
li a7, 64
ecall
li a0, 0
li a7, 93
ecall
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("debugged") / "mix.py"
    path.write_text(SOURCE)
    return path


def opened(source: Path, on: str) -> Debugger:
    return pl.debug(str(source), on=on, N=4)


def told(of: Debugger) -> list[object]:
    """What a session is like at its position."""
    arrays = {name: np.asarray(array).tobytes() for name, array in of.session.machine.arrays().items()}
    return [of.session.cycle, of.session.position, of.describe_position(), arrays, of.session.machine.registers()]


@pytest.mark.parametrize("on", MACHINES)
def test_back_is_as_it_was(source: Path, on: str) -> None:
    """Going back and forward again shows the same cycles, events, arrays and registers."""
    of = opened(source, on)
    of.execute("stepi 10")
    before = told(of)
    of.execute("stepi 9")
    later = told(of)
    of.execute("back 9")
    assert told(of)[0:2] == before[0:2]
    assert told(of)[3:] == before[3:]
    of.execute("stepi 9")
    assert told(of) == later


@pytest.mark.parametrize("on", MACHINES)
def test_events_after_going_back_are_as_they_were(source: Path, on: str) -> None:
    """Operands and results, too, of every unit's first operation behind the position."""
    of = opened(source, on)
    of.execute("stepi 40")
    back = of.session.position
    first = [entry.event for _ in range(30) for entry in of.session.step()]
    of.session.seek(back)
    again = [entry.event for _ in range(30) for entry in of.session.step()]
    assert again == first


def test_reservations_and_output_go_back(tmp_path: Path) -> None:
    """A store-conditional succeeds again behind its load, and what was printed is printed once."""
    (tmp_path / "print.s").write_text(PRINTS)
    assert main(["asm", str(tmp_path / "print.s"), "--on", "riscv", "-o", str(tmp_path / "print.elf")]) == 0
    data = (tmp_path / "print.elf").read_bytes()
    of = Debugger(Session(call_stepper(data, parse_isa("rv64gc"), Job({}, None, None))))
    of.execute("continue")
    machine = of.session.machine
    assert isinstance(machine, HartStepper)
    end, failed = of.session.position, machine.machine.x[9]
    assert machine.machine.output == b"hello" and failed == 0
    of.execute("start")
    of.session.seek(4)  # between lr and sc
    assert machine.machine.output == b""
    of.session.seek(end)
    assert (machine.machine.output, machine.machine.x[9]) == (b"hello", 0)


@pytest.mark.parametrize("on", MACHINES)
def test_a_right_program_has_no_wrong_value(source: Path, on: str) -> None:
    of = opened(source, on)
    (verdict, *_) = of.execute("until-wrong")
    assert verdict.startswith("no stored value differs: "), verdict
    assert of.session.is_at_end and of.session.fault is None
    assert of.verdict is not None and of.verdict.compared >= 4


@pytest.mark.parametrize("on", PLANTED)
def test_a_planted_miscompilation_is_found_by_one_command(
    source: Path, on: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Words that differ from what the compiler made give the first wrong value, with its operations and their lines."""

    def plant(instance: Instance, *given: object, **more: object) -> Debugger:
        return open_debugger(replace(instance, data=PLANTED[on](instance.data)), *given, **more)  # pyright: ignore[reportArgumentType]: as the command calls it

    monkeypatch.setattr(verb, "open_debugger", plant)
    assert main(["debug", str(source), "N=4", "--on", on, "--until-wrong"]) == 4
    text = capsys.readouterr()
    assert text.out.startswith("wrong: C[")
    assert "mix.py:" in text.out
    assert "error[PL1506]" in text.err


def test_snapshots_stay_within_their_limit(source: Path) -> None:
    """Where they would take more, every second one goes; going back still works."""
    instance = pl.compile(str(source), on="riscv").prepare_instance({})
    of = open_debugger(instance, {"N": 8}, limit=60_000)
    of.execute("continue")
    assert of.session.snapshot_bytes + of.session.history_bytes <= 60_000
    assert of.session.period > 16
    of.execute("back 100")
    assert of.session.position == of.session.events - 0
    assert of.session.cycle == of.session.position


@pytest.mark.parametrize("on", ["tcpa:2x2", "belt", "riscv"])
def test_what_the_history_forgets_is_found_by_a_replay(source: Path, on: str) -> None:
    """An origin is the same, however little is kept; so is what an operation of the last step was made of."""
    instance = pl.compile(str(source), on=on).prepare_instance({"N": 6} if on.startswith("tcpa") else {})
    given = {} if on.startswith("tcpa") else {"N": 6}
    told = list[list[str]]()
    for limit in (1 << 28, 100_000):
        of = open_debugger(instance, given, limit=limit)
        of.execute("continue")
        told.append([*of.execute("origin C[2] 300"), *of.execute("where")])
        of.execute("back 20")
        told[-1] += of.execute(f"origin #{of.session.events - 1} 50")
    assert of.session.history_bytes <= 50_000
    assert told[0] == told[1]


def test_positions_by_line_iteration_condition_and_address(source: Path) -> None:
    """What stops a run is what was asked for."""
    of = opened(source, "riscv")
    assert of.execute("break 3")[0] == "line 3 has no code; the next one that has some is 8"
    of.execute("delete")
    assert of.execute("break 12") == ["breakpoint 2: line 12"]
    assert of.execute("continue")[0] == "breakpoint 2: line 12"
    of.execute("delete")
    of.execute("break i_2=2,j=3")
    of.execute("continue")
    assert "i_2=2 j=3" in of.describe_position()[-1]
    of.execute("delete")
    of.execute("until C[3] != 0 and i_2 == 3 and j == 3")
    assert float(of.session.machine.arrays()["C"][3]) != 0


def test_origin_leads_to_inputs(source: Path) -> None:
    """The chain of an element has the operations of its lines, and the elements that it was made of."""
    of = opened(source, "tcpa:2x2")
    of.execute("continue")
    chain = "\n".join(of.execute("origin C[2] 100"))
    assert all(f"B[2, {j}]" in chain for j in range(4))
    assert "A[2]" in chain
    assert "mix.py:12" in chain and "mix.py:9" in chain


CASES = {
    "command": "--command frobnicate",
    "condition-name": "--command 'until D[1] != 0'",
    "condition-index": "--command 'until C[9] > 0'",
    "condition-rank": "--command 'until C[1,2] > 0'",
    "condition-call": "--command 'until open(1)'",
    "condition-text": "--command 'until C[1'",
    "line-behind": "--command 'break 99'",
    "loop-unknown": "--command 'break q=1'",
    "unit-unknown": "--command 'break unit engine'",
    "origin-unknown": "--command 'origin C[1]'",
    "no-terminal": "",
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_located(
    source: Path, name: str, golden: Golden, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import io
    import shlex
    import sys

    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    monkeypatch.chdir(source.parent)
    code = main(["debug", "mix.py", "N=4", "--on", "riscv", *shlex.split(CASES[name])])
    text = capsys.readouterr()
    golden(name, f"$ polyloom debug mix.py N=4 --on riscv {CASES[name]}\nexit {code}\n{text.out}{text.err}")


def test_a_file_without_lines_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A program of other tools: its code is listed and stepped; lines are refused, with what to write instead."""
    text = tmp_path / "two.s"
    text.write_text("_start:\nli a0, 7\nli a7, 93\necall\n")
    assert main(["asm", str(text), "--on", "riscv", "-o", str(tmp_path / "two.elf")]) == 0
    assert main(["debug", str(tmp_path / "two.elf"), "--on", "riscv", "-x", "info code", "-x", "break 3"]) == 1
    told = capsys.readouterr()
    assert "addi a0, zero, 7" in told.out or "li a0, 7" in told.out
    assert "error[PL1505]" in told.err


def test_a_watchpoint_stops_again_at_the_same_change(source: Path) -> None:
    of = opened(source, "riscv")
    of.execute("watch C[0]")
    first = of.execute("continue")
    assert any(line.startswith("watchpoint 1") for line in first)
    of.execute("continue")
    of.execute("start")
    assert of.execute("continue") == first


@pytest.mark.parametrize("command", ["until C == 0", "until not C", "print C and 1", "stepi \u00b2"])
def test_arrays_and_odd_digits_are_refused(source: Path, command: str) -> None:
    """Of an array there is no truth; a superscript is a digit and no number."""
    of = opened(source, "riscv")
    with pytest.raises(PolyloomError) as caught:
        of.execute(command)
    assert caught.value.code in ("PL1501", "PL1502")


PRODUCT = """import polyloom as pl

N = pl.size("N")


@pl.kernel
def product(A: pl.f32[N, N], B: pl.f32[N, N], C: pl.f32[N, N]) -> None:
    for i in range(N):
        for j in range(N):
            C[i, j] = pl.f32(0.0)
            for k in range(N):
                C[i, j] = C[i, j] + A[i, k] * B[k, j]
"""


@pytest.mark.parametrize("what", ["kernel", "grid"])
def test_vector_kernels_and_grids_step(what: str, tmp_path: Path) -> None:
    """They go forwards and back, end where the source does, and in the cycle of a run."""
    if what == "kernel":
        instance = pl.compile("examples/sfpi/kernels.py:leaky_relu", on="tensix").prepare_instance({})
        given: dict[str, int] = {"slope": 0x3DCCCCCD}
    else:
        (tmp_path / "product.py").write_text(PRODUCT)
        instance = pl.compile(tmp_path / "product.py", on="tensix:wormhole:1x2").prepare_instance({"N": 40})
        given = {}
    of = open_debugger(instance, given)
    of.execute("stepi 30")
    before = told(of)
    of.execute("stepi 9")
    later = told(of)
    of.execute("back 9")
    assert told(of)[3:] == before[3:]
    of.execute("stepi 9")
    assert told(of) == later
    assert of.execute("until-wrong")[0].startswith("no stored value differs")
    cycles = instance.run(given).cycles
    assert cycles is not None and abs(of.session.cycle - cycles) <= 1


def test_the_first_wrong_value_inside_the_array_is_shown(source: Path) -> None:
    """A value that never leaves is judged, too: not the sum that is stored, but the product that began it is wrong."""
    instance = pl.compile(str(source), on="tcpa:2x2").prepare_instance({"N": 4})
    right = open_debugger(instance, {})
    right.execute("until-wrong")
    assert right.verdict is not None and right.verdict.unmatched == 0
    wrong = open_debugger(replace(instance, data=PLANTED["tcpa:2x2"](instance.data)), {})
    wrong.execute("until-wrong")
    assert wrong.verdict is not None and wrong.verdict.entry is not None and wrong.verdict.expected is not None
    assert wrong.verdict.entry.event.statement == wrong.verdict.expected.statement == "S1"
    assert not wrong.verdict.entry.event.stores and wrong.session.position == wrong.verdict.entry.position
