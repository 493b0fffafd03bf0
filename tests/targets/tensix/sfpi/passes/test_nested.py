# SPDX-License-Identifier: Apache-2.0
"""Nested conditions: random ones to a depth of six, with all kinds of masks, against the interpreter; and that a nested
disjunction costs an entry of the stack, and no integer."""

from __future__ import annotations

from random import Random

import pytest
from tests.targets.tensix.sfpi.passes.bench import agree, kernel, plain, run, words_of

from polyloom.diagnostics import INFEASIBLE, PolyloomError
from polyloom.targets.tensix.source.lower.compile import Options, lower

DEPTH = 6
_CONSTANTS = (0, 1065353216, -1082130432, 1073741824, 1056964608)


class _Text:
    """Mutable: the lines of a kernel, and the value that its variable has now."""

    def __init__(self, random: Random) -> None:
        self.random, self.lines, self.made, self.value = random, list[str](), 0, "%a"
        for k, bits in enumerate(_CONSTANTS):
            self.lines.append(f"%k{k}: i32x32 = call @splat {bits}:i32")

    def new(self, type: str, text: str) -> str:
        self.made += 1
        self.lines.append(f"%n{self.made}: {type} = call @{text}")
        return f"%n{self.made}"

    def constant(self) -> str:
        return f"%k{self.random.randrange(len(_CONSTANTS))}"

    def mask(self, depth: int = 2) -> str:
        kind = self.random.randrange(6) if depth else 5
        if kind < 2:
            a, b = self.mask(depth - 1), self.mask(depth - 1)
            return self.new("maskx32", f"mask_{('and', 'or')[kind]} {a}, {b}")
        if kind == 2:
            return self.new("maskx32", f"mask_not {self.mask(depth - 1)}")
        values = self.random.choice((self.value, "%b")), self.random.choice((self.constant(), "%b"))
        return self.new(
            "maskx32", f"cmp_{self.random.choice('fi')} {self.random.randrange(6)}:i32, {', '.join(values)}"
        )

    def frame(self, depth: int) -> None:
        first = self.mask()
        self.lines += ["call @push", f"call @cond {first}"]
        self.arm(depth)
        for _ in range(self.random.choice((0, 0, 0, 1, 2))):
            self.lines.append("call @else_")
            if self.random.randrange(2):
                self.lines.append(f"call @cond {self.mask(1)}")
            self.arm(depth)
        self.lines.append("call @pop")

    def arm(self, depth: int) -> None:
        for _ in range(self.random.choice((1, 1, 2)) if depth == 1 else 1):
            if self.random.randrange(3):
                self.value = self.new("i32x32", f"assign {self.value}, {self.constant()}")
            if depth > 1:
                self.frame(depth - 1)
            if self.random.randrange(4) == 0:
                self.lines.append(f"call @and_ {self.mask(1)}")
                self.value = self.new("i32x32", f"assign {self.value}, %b")


def nested(seed: int) -> str:
    text = _Text(Random(seed))
    text.frame(DEPTH)
    loads = "%a: i32x32 = call @load 0:i32, 3:i32, 0:i32\n%b: i32x32 = call @load 0:i32, 3:i32, 2:i32\n"
    return loads + "\n".join([*text.lines, f"call @store {text.value}, 0:i32, 3:i32, 0:i32"]) + "\n"


def fits(seed: int) -> bool:
    """Whether a kernel compiles, which then agrees: the flags have room for eight entries, and there are eight
    registers.
    """
    function = kernel(nested(seed))
    try:
        agree(run(function, plain(seed)))
    except PolyloomError as error:
        assert error.exit_code == INFEASIBLE or error.diagnostics[0].code == "PL1281", error
        return False
    return True


def test_six_deep() -> None:
    assert sum(map(fits, range(20))) > 5


@pytest.mark.long
def test_many_six_deep() -> None:
    assert sum(map(fits, range(1000, 2000))) > 300


WITHIN = """%a: i32x32 = call @load 0:i32, 3:i32, 0:i32
%b: i32x32 = call @load 0:i32, 3:i32, 2:i32
%z: i32x32 = call @splat 0:i32
%m: maskx32 = call @cmp_f 0:i32, %a, %z
%n: maskx32 = call @cmp_f 1:i32, %b, %z
call @push
call @cond %m
call @push
call @cond %n
%c: i32x32 = call @assign %a, %b
call @pop
call @pop
call @store %c, 0:i32, 3:i32, 0:i32
"""


def test_a_nested_disjunction_pushes() -> None:
    """SETCC, PUSHC, 2 SETCC, COMPC, MOV, POPC, ENCC between the loads and the store."""
    function = kernel(WITHIN)
    agree(run(function, plain()))
    assert len(words_of(lower(function, Options()).function)) == 11
