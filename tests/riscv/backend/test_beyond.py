# SPDX-License-Identifier: Apache-2.0
"""Calls through pointers and atomic read-modify-write: RISC-V, the interpreter of SSA form, before and behind
legalization, and the host give the same."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import Golden
from tests.riscv.backend.test_functions import copied, equal, given, needs_floats
from tests.transform.ssa.native import call as call_native
from tests.transform.ssa.native import same

from polyloom.diagnostics import PolyloomError, Source
from polyloom.frontend.c.llvm import load_functions
from polyloom.frontend.source import Options
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_text import print_ssa
from polyloom.ir.ssa_verify import verify
from polyloom.riscv import names
from polyloom.riscv.backend.allocate import allocate
from polyloom.riscv.backend.check import AllocationError, check_allocation
from polyloom.riscv.backend.code import EXCHANGES, Code, Op
from polyloom.riscv.backend.compile import compile_function, lower_functions
from polyloom.riscv.backend.data import Layout
from polyloom.riscv.backend.legalize import legalize
from polyloom.riscv.backend.run import call
from polyloom.riscv.disassemble import listing
from polyloom.riscv.image import elf_image
from polyloom.transform.ssa.construct import construct

pytest.importorskip("ziglang", reason="C needs the extra `c`")

INDIRECT, ATOMICS = (Path(__file__).with_name(name) for name in ("indirect.c", "atomics.c"))
ISAS = ("rv64gc", "rv64imac_zicond_zbb", "rv32gc", "rv32ima")


def _names(path: Path, xlen: int = 64) -> list[str]:
    """The functions of a file, without those that are twice as wide as a register, without an instruction: clang calls
    a library. Nothing is compiled for it, so that collecting tests takes no time."""
    text = path.read_text(encoding="utf-8")
    found: list[str] = re.findall(r"^(?!static|struct|typedef)\w[\w ]*?(\w+)\([^;]*\{", text, re.MULTILINE)
    return [name for name in found if xlen == 64 or name not in ("wides", "wide_exchanged")]


@cache
def _loaded(path: Path, xlen: int, level: int) -> dict[str, Function]:
    source = Source(str(path), path.read_text(encoding="utf-8"))
    found = load_functions(source, _names(path, xlen), Options(), level, f"riscv{xlen}-unknown-elf")
    return {f.name: construct(f) for f in found}


def _runs() -> list[Any]:
    """Every function at both levels and on both widths, on the instruction sets in turns; by default one level each."""
    every = [(path, name) for path in (INDIRECT, ATOMICS) for name in _names(path)]
    return [
        pytest.param(
            *(path, name, ISAS[2 * narrow + (k + level) % 2], level),
            marks=pytest.mark.long if (k // 2 + narrow + level) % 2 else (),
        )
        for k, (path, name) in enumerate(every)
        for narrow in (0, 1)
        for level in (0, 1)
        if name in _names(path, 32 if narrow else 64)
    ]


@pytest.mark.parametrize(("path", "name", "isa", "level"), _runs())
def test_runs_as_in_the_interpreter_and_on_the_host(path: Path, name: str, isa: str, level: int) -> None:
    machine = names.parse_isa(isa)
    function = _loaded(path, machine.xlen, level)[name]
    assert read(print_ssa(function, places=True)) == function
    if "f" not in machine.extensions and needs_floats(function):
        return
    legal = verify(legalize(function, machine))
    compiled = compile_function(function, machine)
    random = np.random.default_rng(len(name))
    for _ in range(3):
        values = given(function, random)
        ours, interpreted, rewritten, theirs = (copied(values) for _ in range(4))
        found = call(compiled.elf, machine, function, ours, limit=10**6).result
        assert same(found, interpret(function, interpreted)), values
        if name != "flags":  # the word around a byte reaches beyond the variable
            assert same(found, interpret(legal, rewritten)), values
            assert equal(ours, rewritten)
        assert equal(ours, interpreted)
        # Pointers in memory have the host's width there, which code for narrower ones does not expect.
        if machine.xlen == 64:
            assert same(found, call_native(path, function, theirs)), values
            assert equal(ours, theirs)


ORDERS = """\
#include <stdatomic.h>
int orders(int *a, int e) {
  int s = __atomic_fetch_add(a, 1, 0) + __atomic_fetch_add(a, 2, 2) + __atomic_fetch_add(a, 3, 3);
  s += __atomic_fetch_add(a, 4, 4) + __atomic_fetch_add(a, 5, 5);
  __atomic_compare_exchange_n(a, &e, 6, 0, 0, 0), __atomic_compare_exchange_n(a, &e, 7, 0, 2, 2);
  __atomic_compare_exchange_n(a, &e, 8, 0, 3, 0), __atomic_compare_exchange_n(a, &e, 9, 0, 4, 2);
  __atomic_compare_exchange_n(a, &e, 8, 0, 5, 5), __atomic_compare_exchange_n(a, &e, 9, 0, 3, 2);
  return s + e;
}
"""


def test_orders_are_those_of_the_table_of_mappings(tmp_path: Path) -> None:
    """RISC-V ELF psABI specification, "Mappings from C/C++ memory model": annotations on amo, lr and sc."""
    path = tmp_path / "orders.c"
    path.write_text(ORDERS, encoding="utf-8")
    function = construct(load_functions(Source(str(path), ORDERS), ["orders"], Options(), 1)[0])
    machine = names.parse_isa("rv64g")
    compiled = compile_function(function, machine)
    words = _words(compiled.elf, compiled.entry, compiled.code_bytes, machine)
    assert [w for w in words if w.startswith("amo")] == [
        "amoadd.w",
        "amoadd.w.aq",
        "amoadd.w.rl",
        "amoadd.w.aqrl",
        "amoadd.w.aqrl",
    ]
    assert [w for w in words if w[:3] in ("lr.", "sc.")] == [
        *("lr.w", "sc.w", "lr.w.aq", "sc.w", "lr.w", "sc.w.rl", "lr.w.aq", "sc.w.rl"),
        *("lr.w.aqrl", "sc.w.rl", "lr.w.aq", "sc.w.rl"),
    ]


def _words(elf: bytes, entry: int, size: int, machine: names.Isa) -> list[str]:
    segment = next(s for s in elf_image(elf, machine).segments if s.address == entry)
    return [line.split()[2] for line in listing(segment.data[:size], machine, entry)]


def test_an_exchange_keeps_what_it_reads_again() -> None:
    """Its results are registers of their own, also where they are spilled; the checker sees where they are not."""
    machine = names.parse_isa("rv64gc")
    function = _loaded(ATOMICS, 64, 1)["pressed"]
    (before,) = lower_functions(function, machine, Layout(()))
    after = check_allocation(before, allocate(before))
    assert after.slots
    exchanges = [op for block in after.blocks for op in block.ops if op.mnemonic in EXCHANGES]
    assert exchanges
    for op in exchanges:
        assert len({*op.operands[:2]}) == 2
        assert not {*op.operands[:2]} & {*op.operands[2:5]}
        for place, other in ((0, 2), (0, 3), (1, 4), (0, 1)):
            operands = (*op.operands[:place], op.operands[other], *op.operands[place + 1 :])
            with pytest.raises(AllocationError):
                check_allocation(before, _replaced(after, op, Op(op.mnemonic, operands)))


def _replaced(code: Code, old: Op, new: Op) -> Code:
    blocks = (replace(block, ops=tuple(new if op is old else op for op in block.ops)) for block in code.blocks)
    return replace(code, blocks=tuple(blocks))


@pytest.mark.parametrize("name", ["words", "exchanged", "bytes"])
def test_without_atomics_they_are_refused(name: str) -> None:
    with pytest.raises(PolyloomError, match=r"PL0930.*needs the extension a, which rv64imfdc_zifencei") as caught:
        compile_function(_loaded(ATOMICS, 64, 1)[name], names.parse_isa("rv64imfdc_zifencei"))
    assert f"@{name}, line " in str(caught.value)


FAULTS = {
    "null": "    %r: i32 = call * 0:ptr, %n",
    "datum": "    %r: i32 = call * @d, %n",
    "inside": "    %p: ptr = offset @g, 4:i64\n    %r: i32 = call * %p, %n",
    "types": "    %r: i32 = call * @g",
    "result": "    call * @g, %n\n    %r: i32 = copy 1:i32",
    "read": "    %r: i32 = load @g align 4",
}


def test_what_a_pointer_may_call(golden: Golden) -> None:
    texts: list[str] = []
    for name, body in FAULTS.items():
        text = f"data @d align 4 00000000\nfunction f(%n: i32) -> i32 {{\nentry:\n{body}\n    return %r\n}}\n"
        other = "function g(%n: i32) -> i32 {\nentry:\n    return %n\n}\n"
        with pytest.raises(PolyloomError) as caught:
            interpret(verify(read(text + other)), [1])
        texts.append(f"{name}\n{caught.value}")
    golden("pointers", "\n\n".join(texts))


def test_pointers_in_data_are_checked() -> None:
    text = "data @t align 8 0000000000000000 0=@f\nfunction f(%n: i32) {\nentry:\n    return\n}\n"
    assert verify(read(text)).data[0].addresses[0][1].name == "f"
    for wrong, message in (
        ("0=@h", "neither a datum nor a function @h"),
        ("1=@f", "no room for a pointer of 8 bytes at 1"),
        ("0=@f 4=@f", "no room for a pointer of 8 bytes at 4"),
    ):
        with pytest.raises(PolyloomError, match=message):
            verify(read(text.replace("0=@f", wrong)))
