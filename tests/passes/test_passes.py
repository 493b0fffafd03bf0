# SPDX-License-Identifier: Apache-2.0
"""Pipelines are lists of named passes: each is seen by who watches, in order, and the one that breaks a form is
named."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Golden
from tests.transform.nest.text import nest

from polyloom import frontend, transform
from polyloom.diagnostics import INTERNAL, USAGE, Diagnostic, PolyloomError, input_error
from polyloom.frontend import pla
from polyloom.frontend.source import Options
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_read import read
from polyloom.passes import ALL, VARIABLE, Form, Pass, Watch, run_passes, select_passes
from polyloom.riscv.backend import compile as riscv
from polyloom.riscv.backend.code import Block, Code, Op, Reg
from polyloom.riscv.backend.code_verify import verify as verify_code
from polyloom.riscv.names import parse_isa
from polyloom.targets.tcpa import compile as tcpa
from polyloom.targets.tcpa import machine_file

EXAMPLES = Path(__file__).parents[2] / "examples"
DOT = """function dot(%n: i32, %a: ptr) -> i32 {
entry:
    jump head(0:i32, 0:i32)
head(%s: i32, %i: i32):
    %c: i1 = slt %i, %n
    branch %c, body, done
body:
    %w: i64 = sext %i
    %o: i64 = shl %w, 2:i64
    %p: ptr = offset %a, %o
    %x: i32 = load %p align 4
    %y: i32 = call smax %x, %i
    %t: i32 = add %s, %y
    %u: i32 = add %i, 1:i32
    jump head(%t, %u)
done:
    return %s
}
"""


def everything(verify: bool = True) -> Watch:
    return Watch(verify, frozenset({ALL}))


def text_of(watch: Watch) -> str:
    return "\n".join(f"--- after {name}\n{text}" for name, text in watch.collect_texts())


def test_the_passes_of_riscv(golden: Golden) -> None:
    watch = everything()
    with_watch = riscv.compile_function(read(DOT), parse_isa("rv64imac"), watch=watch)
    assert with_watch == riscv.compile_function(read(DOT), parse_isa("rv64imac")), "who watches changes nothing"
    assert tuple(name for name, _ in watch.collect_texts()) == riscv.PASSES
    golden("riscv", text_of(watch))


def test_the_passes_of_the_array(golden: Golden) -> None:
    watch, machine = everything(), machine_file.load("wide")
    program = pla.load(str(EXAMPLES / "matvec.pla"))
    assert tcpa.compile_program(program, machine, watch=watch) == tcpa.compile_program(program, machine)
    assert tuple(name for name, _ in watch.collect_texts()) == tcpa.PASSES
    golden("array", text_of(watch))


def test_the_passes_of_a_nest(golden: Golden) -> None:
    watch = everything()
    given = nest("A[N]; B[N]; s", "for i in range(N): s = s + A[i] * B[i]")
    assert transform.plan(given, watch=watch) == transform.plan(given)
    assert tuple(name for name, _ in watch.collect_texts()) == transform.PASSES
    golden("nest", text_of(watch))


def test_the_passes_of_a_c_file(tmp_path: Path) -> None:
    pytest.importorskip("ziglang", reason="C needs the extra `c`")
    path = tmp_path / "f.c"
    path.write_text("int f(int a) { int b = a; if (a > 3) b = 7; return b; }\n", encoding="utf-8")
    watch = everything()
    frontend.ssa(str(path), Options(), watch=watch)
    assert tuple(name for name, _ in watch.texts) == frontend.SSA_PASSES
    assert "alloca" in watch.texts[0][1]
    assert "alloca" not in watch.texts[1][1]


def test_only_what_is_asked_for_is_printed() -> None:
    watch = Watch(after=select_passes(["dce", "schedule"], riscv.PASSES))
    riscv.compile_function(read(DOT), parse_isa("rv64gc"), watch=watch)
    assert [name for name, _ in watch.collect_texts()] == ["dce", "schedule"]


def test_unknown_passes(golden: Golden) -> None:
    texts: list[str] = []
    for names, known in (
        (["destrukt"], riscv.PASSES),
        (["graphs", "all"], tcpa.PASSES),
        (["zzz"], frontend.SSA_PASSES),
    ):
        with pytest.raises(PolyloomError) as caught:
            select_passes(names, known)
        assert caught.value.exit_code == USAGE
        texts.append(str(caught.value))
    golden("unknown", "\n\n".join(texts))
    assert select_passes(["all"], ()) == {"all"}


def test_a_pass_that_breaks_a_form_is_named(monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    """Sabotage: each pipeline has a pass that breaks what it is given; without the verifier nobody would see."""

    def broken(function: Function) -> Function:
        return read(
            DOT.replace("return %s", "return %n")
            .replace("%t: i32 = add %s, %y", "%t: i32 = add %s, %late")
            .replace("%u: i32 = add %i, 1:i32", "%late: i32 = add %i, 1:i32\n    %u: i32 = add %i, 1:i32")
        )

    monkeypatch.setattr(riscv, "common", broken)
    with pytest.raises(PolyloomError) as caught:
        riscv.compile_function(read(DOT), parse_isa("rv64gc"), watch=Watch(verify=True))
    assert caught.value.exit_code == INTERNAL
    golden("broken", str(caught.value))
    riscv.lower_functions(read(DOT), parse_isa("rv64gc"), riscv.Layout(()), Watch(verify=False))


def test_schedules_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    program, machine = pla.load(str(EXAMPLES / "matvec.pla")), machine_file.load("wide")
    real: Any = tcpa.list_schedules

    def wrong(*given: Any) -> Any:
        return tuple(_late(scheduled) for scheduled in real(*given))

    monkeypatch.setattr(tcpa, "list_schedules", wrong)
    with pytest.raises(PolyloomError, match=r"PL0977.*the pass schedules leaves"):
        tcpa.compile_program(program, machine, watch=Watch(verify=True))


def _late(scheduled: Any) -> Any:
    from dataclasses import replace

    tau = (-1, *scheduled.schedule.tau[1:])
    return replace(scheduled, schedule=replace(scheduled.schedule, tau=tau))


def code(*blocks: tuple[str, tuple[Op, ...]]) -> Code:
    return Code("f", parse_isa("rv64gc"), tuple(Block(name, ops) for name, ops in blocks))


def test_rules_of_code(golden: Golden) -> None:
    a0, virtual = Reg("x", 10), Reg("x", 40)
    back = Op("ret", (a0,))
    assert verify_code(code(("entry", (Op("addi", (virtual, a0, 1)), Op("mv", (a0, virtual)), back))))
    faults = {
        "twice": code(("entry", (back,)), ("entry", (back,))),
        "nowhere": code(("entry", (Op("j", ("there",)),))),
        "operands": code(("entry", (Op("addi", (virtual, a0)), back))),
        "a number for a register": code(("entry", (Op("add", (virtual, a0, 1)), back))),
        "behind the end": code(("entry", (back, Op("mv", (a0, a0))))),
        "never written": code(("entry", (Op("mv", (a0, virtual)), back))),
    }
    texts: list[str] = []
    for name, faulty in faults.items():
        with pytest.raises(PolyloomError) as caught:
            verify_code(faulty)
        texts.append(f"{name}\n{caught.value}")
    golden("code", "\n\n".join(texts))


def _refuse(value: int) -> None:
    if value > 2:
        raise input_error("PL0971", f"{value} is too much")


NUMBER: Form[int] = Form(str, _refuse)


def _one_more(value: int) -> int:
    return value + 1


def test_passes_run_in_their_order_and_parts_are_joined() -> None:
    passes = (Pass("one", _one_more, NUMBER), Pass("two", _one_more, NUMBER))
    watch = Watch(True, frozenset({"one"}))
    assert run_passes(0, passes, watch) == 2
    run_passes(0, passes, watch)
    assert watch.collect_texts() == [("one", "1\n\n1\n")]
    apart = watch.fork()
    run_passes(-5, passes, apart)
    assert len(watch.texts) == 2
    watch.join(apart)
    assert watch.texts[-1] == ("one", "-4")
    with pytest.raises(PolyloomError, match="the pass two leaves what is not well formed: 3 is too much"):
        run_passes(1, passes, watch)


def test_all_tests_verify(monkeypatch: pytest.MonkeyPatch) -> None:
    assert os.environ[VARIABLE] == "1"
    assert Watch().verify
    with pytest.raises(PolyloomError, match="PL0977"):
        run_passes(9, (Pass("one", _one_more, NUMBER),))
    monkeypatch.setenv(VARIABLE, "")
    assert not Watch().verify
    assert run_passes(9, (Pass("one", _one_more, NUMBER),)) == 10


def test_a_violation_keeps_what_else_was_found() -> None:
    def twice(_: int) -> None:
        raise PolyloomError(Diagnostic("PL0971", "first"), Diagnostic("PL0971", "second"))

    with pytest.raises(PolyloomError, match="second"):
        run_passes(0, (Pass("one", _one_more, Form(str, twice)),))
