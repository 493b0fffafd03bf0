# SPDX-License-Identifier: Apache-2.0
"""Pointers have the width of the data model that a source is read for: in memory, as integers, as distances, in every
pass and on RISC-V."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polyloom.diagnostics import PolyloomError
from polyloom.frontend import ssa
from polyloom.frontend.source import Options
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_memory import Memory
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_text import print_ssa
from polyloom.ir.ssa_types import I32, I64
from polyloom.ir.ssa_verify import verify
from polyloom.riscv.backend.compile import compile_function
from polyloom.riscv.backend.run import call
from polyloom.riscv.names import parse_isa
from polyloom.transform.ssa.destruct import destruct

pytest.importorskip("ziglang", reason="C needs the extra `c`")

SOURCE = """
#include <stdint.h>
#include <string.h>
struct node { int value; struct node *next; };
int widths(void) { return 100 * sizeof(void *) + 10 * sizeof(long) + sizeof(struct node) % 10; }
long distance(int *a, int n) { int *b = a + n; return (b - a) + ((uintptr_t)b - (uintptr_t)a); }
int chained(int *a, int n) {
  struct node first = {a[0], 0}, second = {a[1], &first}, third = {a[2], &second};
  int sum = 0;
  for (struct node *at = &third; at; at = at->next) sum += n * at->value;
  return sum;
}
int table(int *a, int n) {
  int *volatile rows[3];
  for (int k = 0; k < 3; k++) rows[k] = a + 2 * k;
  return rows[n][1] - rows[0][0];
}
int copied(int *a, int n) {
  int b[6];
  memcpy(b, a, n * sizeof *a);
  memset(a, 1, 4);
  return b[n - 1] + a[0];
}
long cast(int *a, int n) {
  uint64_t wide = (uintptr_t)a;
  int *again = (int *)(uintptr_t)wide;
  return again[n] + (long)(short)(uintptr_t)(a == again);
}
int unaligned(char *p, int n) {
  struct __attribute__((packed)) { char c; int *p; } s[2];
  s[1].p = (int *)p;
  return s[1].p[n];
}
int indexed(int *a, long long n) { return a[n] + a[(unsigned char)n]; }
"""
NAMES = ("widths", "distance", "chained", "table", "copied", "cast", "unaligned", "indexed")
ROW = np.array([5, -3, 8, 1, 9, 2], np.int32)


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "pointers.c"
    file.write_text(SOURCE, encoding="utf-8")
    return str(file)


def result(function: Function) -> tuple[object, list[int]]:
    array = ROW.copy()
    arguments = [array, 2][: len(function.parameters)]
    return interpret(function, arguments), array.tolist()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("level", [0, 1])
def test_both_widths_mean_the_same_but_for_sizes(name: str, level: int, path: str) -> None:
    narrow, wide = (ssa(path, Options(function=name), level, f"riscv{width}-unknown-elf") for width in (32, 64))
    assert (narrow.pointers, wide.pointers, narrow.address, wide.address) == (32, 64, I32, I64)
    assert print_ssa(narrow).startswith("pointers 32\nfunction")
    assert print_ssa(wide).startswith("function")
    assert verify(read(print_ssa(narrow, places=True))) == narrow
    if name == "widths":
        assert (interpret(narrow, []), interpret(wide, [])) == (448, 886)
    else:
        assert result(narrow) == result(wide) == result(destruct(narrow))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("member", ["rv32imac", "rv32gc_zbb", "rv64gc"])
def test_machines_agree(name: str, level: int, member: str, path: str) -> None:
    isa = parse_isa(member)
    function = ssa(path, Options(function=name), level, f"riscv{isa.xlen}-unknown-elf")
    array = ROW.copy()
    arguments = [array, 2][: len(function.parameters)]
    found = call(compile_function(function, isa).elf, isa, function, arguments, limit=10**5).result
    assert (found, array.tolist()) == result(function)


def test_the_wrong_width_is_refused(path: str) -> None:
    narrow, wide = (ssa(path, Options(function="table"), 1, f"riscv{width}-unknown-elf") for width in (32, 64))
    with pytest.raises(PolyloomError, match=r"pointers of 32 bits, on RV64.*\n.*read it for riscv64"):
        compile_function(narrow, parse_isa("rv64gc"))
    with pytest.raises(PolyloomError, match="a pointer in memory on RV32"):
        compile_function(wide, parse_isa("rv32gc"))


def test_addresses_wrap_at_their_width() -> None:
    text = (
        "pointers 32\nfunction f(%p: ptr) -> i1 {\nentry:\n    %q: ptr = offset %p, -1:i32\n    %c: i1 = ugt %q, "
        "%p\n    return %c\n}\n"
    )
    assert interpret(verify(read(text)), [0]) == 1
    assert interpret(verify(read(text)), [5]) == 0
    assert interpret(verify(read(text)), [2**32]) == 1
    with pytest.raises(PolyloomError, match="PL0971"):
        verify(read(text.replace("pointers 32\n", "")))


def test_more_than_pointers_reach_is_refused() -> None:
    memory = Memory(32, end=2**32 - 100)
    with pytest.raises(PolyloomError, match="beyond what pointers of 32 bits reach"):
        memory.place(np.zeros(200, np.uint8))
