# SPDX-License-Identifier: Apache-2.0
"""Imported loops have no more operations than the promised intervals allow, and the order of memory that is exact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from polyloom.diagnostics import PolyloomError, Source
from polyloom.frontend.c.llvm import load_functions
from polyloom.frontend.source import Options as Reading
from polyloom.ir.ssa import Function
from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.machine import member
from polyloom.targets.belt.map.import_ssa import Options, import_function
from polyloom.targets.belt.source.genasm import print_genasm
from polyloom.targets.belt.source.ir import Loop, Module, Value

pytest.importorskip("ziglang", reason="C needs the extra `c`")

PATH, REFUSED = (Path(__file__).with_name(name) for name in ("kernels.c", "refused.c"))
UNITS = {
    # by kernel on silver: loads and stores, leaves, other operations of E slots, picks, invariants that are filled
    "dot": (2, 1, 4, 0, 2),
    "saxpy": (3, 1, 4, 0, 3),
    "fir4": (5, 1, 9, 0, 6),
    "fir8": (9, 1, 18, 0, 10),
    "iir": (2, 1, 6, 0, 4),
    "product": (6, 1, 8, 0, 3),
    "clipped": (1, 1, 5, 2, 3),
    "either": (3, 1, 5, 1, 3),
    "length": (1, 1, 2, 0, 1),
    "copy": (2, 1, 2, 0, 2),
    "search": (1, 3, 4, 0, 3),
    "shift1": (1, 1, 3, 0, 2),  # clang carries what it has stored
    "shift7": (2, 1, 3, 0, 2),
}


@cache
def _functions(path: Path, *names: str) -> dict[str, Function]:
    source = Source(str(path), path.read_text(encoding="utf-8"))
    return {f.name: f for f in load_functions(source, names, Reading(), 1, "riscv32-unknown-elf")}


def module(name: str, machine: str = "silver", options: Options | None = None) -> Module:
    names = (*UNITS, "two", "strided", "gathered", "guarded", "unknown")
    return import_function(_functions(PATH, *names)[name], member(machine), options)


def loop(of: Module) -> Loop:
    (found,) = (b for b in of.functions[0].blocks if isinstance(b, Loop))
    return found


def _counted(body: Loop) -> tuple[int, int, int, int, int]:
    units = Counter("leave" if op.edge is not None else OPS[op.name].unit for op in body.ops)
    own = set(body.parameters) | {r for op in body.ops for r in op.results}
    filled = {o for op in body.ops for o in op.operands if isinstance(o, Value) and o not in own}
    others = sum(n for unit, n in units.items() if unit not in ("ls", "leave", "pick"))
    return units["ls"], units["leave"], others, units["pick"], len(filled)


@pytest.mark.parametrize("name", UNITS)
def test_operations_of_a_pass(name: str) -> None:
    assert _counted(loop(module(name))) == UNITS[name]


def _distances(name: str, options: Options | None = None) -> list[tuple[str, str, int]]:
    body = loop(module(name, options=options))
    return [(body.ops[o.source].name, body.ops[o.sink].name, o.distance) for o in body.order]


def test_order_is_by_exact_distance() -> None:
    assert _distances("shift7") == [("store", "load", 7)]
    assert _distances("saxpy") == [("load", "store", 0)]
    assert _distances("product") == []


def test_arrays_may_overlap_unless_they_are_said_to_be_distinct() -> None:
    assert sorted(_distances("unknown")) == [("load", "store", 0), ("store", "load", 1)]
    assert _distances("unknown", Options(distinct=True)) == []


def test_sums_carry_one_addition() -> None:
    body = loop(module("two"))
    made = {r: op for op in body.ops for r in op.results}
    assert any(
        isinstance(n, Value) and n in made and p in made[n].operands and made[n].name == "add"
        for p, n in zip(body.parameters[1:], body.next[1:], strict=True)
    )


def test_strides_share_an_index() -> None:
    body = loop(module("strided"))
    indices = {op.operands[1] for op in body.ops if op.name == "load"}
    assert len(indices) == 1
    assert sorted(op.scale for op in body.ops if op.name == "load") == [4, 4, 8]


def test_gathers_take_the_gathered_value_as_index() -> None:
    body = loop(module("gathered"))
    first, second = (op for op in body.ops if op.name == "load")
    assert second.operands[1] == first.results[0]


def test_stores_are_guarded_by_none() -> None:
    body = loop(module("guarded"))
    guards = {op.results[0] for op in body.ops if op.name == "pick" and len(op.operands) == 2}
    stores = [op for op in body.ops if op.name == "store"]
    assert stores
    assert all(op.operands[-1] in guards for op in stores)


def test_members_that_fuse_get_fused_operations() -> None:
    assert [op.name for op in loop(module("dot", "hex4")).ops] == ["load", "load", "muladd", "add", "eql", "leavetr"]
    assert "shrsadd" in [op.name for op in loop(module("iir", "hex4")).ops]


@pytest.mark.parametrize("name", ["search", "guarded"])
def test_genasm(name: str, golden: Callable[[str, str], None]) -> None:
    text = print_genasm(module(name)).replace(str(PATH), PATH.name)
    golden(name, text)


@pytest.mark.parametrize("name", ["fib", "entered", "growing"])
def test_refusals(name: str, golden: Callable[[str, str], None]) -> None:
    function = _functions(REFUSED, name)[name]
    with pytest.raises(PolyloomError) as refused:
        import_function(function, member("silver"))
    (diagnostic,) = refused.value.diagnostics
    text = f"{diagnostic.code}: {diagnostic.message}\nhelp: {diagnostic.help}\n"
    golden(name, text.replace(str(REFUSED), REFUSED.name))


@pytest.mark.parametrize(
    ("expression", "name"),
    [("a * 3 + 1", "muladd"), ("a * 4 + 1", "shladd"), ("1 + b * a", "muladd"), ("(a << 2 | 3)", "shladd")],
)
def test_one_fused_operation(expression: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(f"unsigned f(unsigned a, unsigned b) {{ return {expression}; }}\n", encoding="utf-8")
    source = Source(str(path), path.read_text(encoding="utf-8"))
    function = load_functions(source, ("f",), Reading(), 1, "riscv32-unknown-elf")[0]
    ops = [op.name for b in import_function(function, member("hex4")).functions[0].blocks for op in b.ops]
    assert ops == [name]
    assert name not in str(import_function(function, member("gold")))
