# SPDX-License-Identifier: Apache-2.0
"""C and C++ that call a machine's intrinsics: a table of external functions makes them named calls of vectors, which
passes respect."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import Golden

from polyloom.analysis.stores import written_parameters
from polyloom.diagnostics import PolyloomError
from polyloom.frontend import ssa
from polyloom.frontend.source import Options
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_externals import External, Externals
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_text import print_ssa
from polyloom.ir.ssa_types import I1, I32, PTR
from polyloom.ir.ssa_verify import verify
from polyloom.riscv.backend.compile import compile_function
from polyloom.riscv.names import parse_isa
from polyloom.transform.ssa.common import common
from polyloom.transform.ssa.dce import dce
from polyloom.transform.ssa.destruct import destruct
from polyloom.transform.ssa.function_editing import merge_blocks
from polyloom.transform.ssa.if_convert import Cost, if_convert

pytest.importorskip("ziglang", reason="C needs the extra `c`")

HERE = Path(__file__).parent
VEC, MASK = I32.with_lanes(8), I1.with_lanes(8)
TABLE = Externals(
    (
        External("row", (I32,), (VEC,), ("reads",)),
        External("put", (VEC, I32), (), ("writes", "ordered")),
        External("add", (VEC, VEC), (VEC,)),
        External("less", (VEC, VEC), (MASK,)),
        External("merge", (MASK, VEC, VEC), (VEC,)),
        External("swap", (VEC, VEC), (VEC, VEC)),
        External("tick", (), (), ("ordered",)),
        External("fill", (PTR, I32), (), ("writes",)),
        External("look", (PTR,), (I32,), ("reads",)),
        External("many", (VEC, VEC), (VEC,)),
    ),
    {1: VEC, 2: MASK},
)
TARGETS = ("riscv32-unknown-elf", "riscv64-unknown-elf")


class Machine:
    """Rows of eight numbers, and what the intrinsics do with them."""

    def __init__(self) -> None:
        self.rows = np.random.default_rng(3).integers(-50, 50, (8, 8)).astype(np.int64)
        self.calls: list[str] = []
        names = ("row", "put", "add", "less", "merge", "swap", "tick", "fill", "look")
        self.hooks: dict[str, Callable[..., Any]] = {name: getattr(self, name) for name in names}

    def row(self, _: object, number: int) -> list[int]:
        self.calls.append(f"row {number}")
        return self.rows[number].tolist()

    def put(self, _: object, value: tuple[int, ...], number: int) -> None:
        self.calls.append(f"put {number}")
        self.rows[number] = value

    def add(self, _: object, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(x + y for x, y in zip(a, b, strict=True))

    def less(self, _: object, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(int(x < y) for x, y in zip(a, b, strict=True))

    def merge(self, _: object, m: tuple[int, ...], a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(x if taken else y for taken, x, y in zip(m, a, b, strict=True))

    def swap(self, _: object, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[list[int], list[int]]:
        return [min(x, y) for x, y in zip(a, b, strict=True)], [max(x, y) for x, y in zip(a, b, strict=True)]

    def tick(self, _: object) -> None:
        self.calls.append("tick")

    def fill(self, memory: Any, out: int, value: int) -> None:
        memory.store(I32, value, out, 4)

    def look(self, memory: Any, at: int) -> int:
        return memory.load(I32, at, 4)


def load(
    name: str, level: int = 1, target: str = TARGETS[0], file: str = "intrinsics.c", table: Externals = TABLE
) -> Function:
    return ssa(str(HERE / file), Options(function=name), level, target, table)


def expected(rows: list[list[int]], n: int, c: int) -> list[int]:
    """What `kernel` leaves in row 0, lane by lane."""
    return [_lane([row[k] for row in rows], n, c) for k in range(len(rows[0]))]


def _lane(column: list[int], n: int, c: int) -> int:
    total = column[0]
    for x in column[1:n]:
        more = total + (x if c else total) if c > 3 else total
        total = 2 * x if x < total else more
    return total


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize(("n", "c"), [(1, 0), (4, 0), (5, 2), (8, 9)])
def test_vectors_pass_through_loops_phis_and_selects(level: int, target: str, n: int, c: int) -> None:
    function = load("kernel", level, target)
    for made in (
        function,
        verify(dce(common(function))),
        verify(merge_blocks(if_convert(function, Cost(branch=1000)))),
        destruct(function),
    ):
        machine = Machine()
        wanted = expected(machine.rows.tolist(), n, c)
        assert interpret(made, [n, c], externals=machine.hooks) is None
        np.testing.assert_array_equal(machine.rows[0], wanted)
    assert not any(i.access for block in function.blocks for i in block.instructions), "a vector is in memory"


def test_the_imported_text(golden: Golden) -> None:
    """With the places of lines of the header's macros, too."""
    texts = [print_ssa(load(name)) for name in ("kernel", "sorted", "effects", "looked")]
    texts.append(print_ssa(load("lanes::total<4, true>", file="intrinsics.cpp")))
    golden("intrinsics", "\n".join(texts))
    for text in texts:
        assert print_ssa(verify(read(text))) == text


@pytest.mark.parametrize("target", TARGETS)
def test_a_call_may_have_two_results(target: str) -> None:
    machine = Machine()
    first, second = machine.rows[2].copy(), machine.rows[5].copy()
    function = load("sorted", 1, target)
    swaps = [i for block in function.blocks for i in block.instructions if i.called == "swap"]
    assert [len(i.results) for i in swaps] == [2]
    for made in (function, verify(dce(function)), verify(common(function)), destruct(function)):
        machine = Machine()
        interpret(made, [2, 5], externals=machine.hooks)
        np.testing.assert_array_equal(machine.rows[2], np.minimum(first, second))
        np.testing.assert_array_equal(machine.rows[5], np.maximum(first, second))


def test_cpp_through_the_same_reader() -> None:
    """Templates, `if constexpr`, unrolled loops and classes around a vector leave calls of the table alone."""
    for doubled in (False, True):
        function = load(f"lanes::total<4, {str(doubled).lower()}>", file="intrinsics.cpp")
        machine = Machine()
        wanted = 3 * (machine.rows[0] + (1 + doubled) * machine.rows[1:4].sum(axis=0))
        interpret(function, [], externals=machine.hooks)
        np.testing.assert_array_equal(machine.rows[0], wanted)
        assert len(function.blocks) == 1
    with pytest.raises(PolyloomError, match="PL0152"):
        ssa(str(HERE / "intrinsics.cpp"), Options(), 1, None, TABLE)


def calls(function: Function) -> list[str]:
    return [i.called for block in function.blocks for i in block.instructions if i.called]


def test_passes_respect_effects() -> None:
    """An unused call goes only without effects, equal ones are merged only without, and the order of the others is
    kept."""
    function = load("effects", 0)
    assert calls(function) == ["row", "add", "row", "tick", "add", "put", "add", "put", "fill"]
    assert calls(dce(function)) == ["row", "row", "tick", "add", "put", "add", "put", "fill"]
    assert calls(verify(common(function))) == ["row", "add", "row", "tick", "put", "put", "fill"]
    assert calls(verify(dce(common(dce(function))))) == ["row", "row", "tick", "add", "put", "put", "fill"]
    for made in (function, dce(common(function))):
        machine, out = Machine(), np.zeros(1, np.int32)
        assert interpret(made, [4, out], externals=machine.hooks) == 7
        assert machine.calls == ["row 4", "row 4", "tick", "put 4", "put 5"]


def test_only_calls_without_effects_run_where_nobody_asked_for_them() -> None:
    text = """external @pure(i32) -> i32 none
external @read(i32) -> i32 reads
function f(%n: i32) -> i32 {
entry:
    %c: i1 = sgt %n, 0:i32
    branch %c, then, end(%n)
then:
    %x: i32 = call @NAME %n
    jump end(%x)
end(%r: i32):
    return %r
}
"""
    free = Cost(branch=1000)
    assert len(if_convert(read(text.replace("NAME", "pure")), free).blocks) < len(
        if_convert(read(text.replace("NAME", "read")), free).blocks
    )


def test_stores_are_known() -> None:
    assert written_parameters(load("effects")) == {"out"}
    assert written_parameters(load("looked")) == frozenset()


def test_what_is_wrong_is_named(golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    names = re.findall(
        r"^(?!typedef)\w[\w *]*?(\w+)\(.*\{", Path("intrinsics_refused.c").read_text(encoding="utf-8"), re.MULTILINE
    )
    texts: list[str] = []
    for name in names:
        with pytest.raises(PolyloomError) as caught:
            verify_loaded(name)
        assert caught.value.exit_code == 1
        texts.append(f"{name}\n{caught.value}")
    hooks, out = Machine().hooks, np.zeros(1, np.int32)
    calls: list[tuple[str, dict[str, Any], list[Any]]] = [
        ("effects", {name: hook for name, hook in hooks.items() if name != "add"}, [1, out]),
        ("effects", {**hooks, "add": _given((1, 2))}, [1, out]),
        ("effects", {**hooks, "add": _given(["x"] * 8)}, [1, out]),
        ("sorted", {**hooks, "swap": _given(None)}, [1, 2]),
    ]
    for name, given, arguments in calls:
        with pytest.raises(PolyloomError) as caught:
            interpret(load(name), arguments, externals=given)
        texts.append(f"{name}\n{caught.value}")
    for name in ("kernel", "sorted", "looked"):
        with pytest.raises(PolyloomError) as caught:
            compile_function(load(name), parse_isa("rv32imac"))
        texts.append(f"RISC-V: {name}\n{caught.value}")
    golden("intrinsics-refused", "\n\n".join(texts))


def _given(value: object) -> Callable[..., object]:
    def hook(*_: object) -> object:
        return value

    return hook


def verify_loaded(name: str) -> None:
    """A vector in memory is no fault of the import: it is a load that is seen, and a fault where it runs."""
    function = ssa("intrinsics_refused.c", Options(function=name), 1, TARGETS[0], TABLE)
    assert name == "loaded"
    (access,) = (i for block in function.blocks for i in block.instructions if i.operation == "load")
    assert access.place.line == 23
    interpret(function, [np.zeros(4, np.int32), 1], externals=Machine().hooks)


def test_without_a_table_nothing_changes() -> None:
    with pytest.raises(PolyloomError, match="a call of `row` is not supported"):
        ssa(str(HERE / "intrinsics.c"), Options(function="kernel"), 1, TARGETS[0])
    with pytest.raises(PolyloomError, match="a pointer into another address space is not supported"):
        ssa(str(HERE / "intrinsics_refused.c"), Options(function="loaded"), 1, TARGETS[0])
