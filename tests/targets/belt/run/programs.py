# SPDX-License-Identifier: Apache-2.0
"""Programs for tests: bundles in few characters, files of them, and random ones whose operands are all of width w."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Final

from tests.targets.belt.run.twin import BASE

from polyloom.ir.signature import Signature
from polyloom.ir.ssa import Data
from polyloom.targets.belt.isa import MANY, OPS, predicate_count
from polyloom.targets.belt.machine import Machine, Slot
from polyloom.targets.belt.value_types import Type
from polyloom.targets.belt.words import belt_file
from polyloom.targets.belt.words.program import NONE, Belt, Bundle, Immediate, Issue, Operand, Program, Routine

WORD: Final = Type("w")
_KINDS: Final = {"fill": "R", "pick": "P", "spill": "W", "ls": "F", "control": "F", "con": "F", "conform": "F"}
_COMPUTED: Final = ("add", "sub", "and", "or", "xor", "mins", "maxu", "mul", "shl", "muladd", "addsx", "divu", "abs")


def program(machine: Machine, *routines: Routine, data: tuple[Data, ...] = ()) -> Program:
    return Program(machine.name, machine.phasing, machine.description, routines, data)


def file(made: Program) -> bytes:
    return belt_file.write(made, Signature(made.routines[0].name, (), (), ()))


def slot(name: str, number: int) -> Slot:
    return Slot(_KINDS.get(OPS[name].unit, "E"), number)


def bundle(*issues: Issue, drops: int = 0, rotate: bool = False) -> Bundle:
    """The issues in slots of their kinds, from 0 on."""
    used: dict[str, int] = {}
    placed: list[Issue] = []
    for issue in issues:
        kind = _KINDS.get(OPS[issue.name].unit, "E")
        placed.append(replace(issue, slot=Slot(kind, used.setdefault(kind, 0))))
        used[kind] += 1
    return Bundle(tuple(placed), drops, rotate)


def do(name: str, *positions: int, **fields: object) -> Issue:
    """An issue whose operands are positions."""
    operands = tuple(Belt(p, "w") if p == NONE else Belt(p) for p in positions)
    return Issue(name, slot(name, 0), operands, **fields)  # pyright: ignore[reportArgumentType] (fields of Issue)


def immediate(name: str, *positions: int, value: int, **fields: object) -> Issue:
    operands = (*(Belt(p) for p in positions), Immediate(value))
    return Issue(name, slot(name, 0), operands, **fields)  # pyright: ignore[reportArgumentType] (fields of Issue)


class Draw:
    """Random programs for a machine: a loop between two stretches of open code, and perhaps a routine to call."""

    def __init__(self, random: Random, machine: Machine) -> None:
        self.random, self.machine = random, machine
        self.calls = random.random() < 0.3

    def program(self) -> Program:
        head = [self.first(), *(self.bundle() for _ in range(self.random.randint(1, 5)))]
        body = [self.bundle(in_loop=True) for _ in range(self.random.randint(1, 4))]
        tail = [self.bundle() for _ in range(self.random.randint(1, 4))]
        start = len(head) + 1
        head.append(bundle(self.listing("inner", target=start)))
        leave = Issue(self.random.choice(("leavetr", "leavefl")), Slot("F", 30), (self.position(), *self.list(3)))
        end = start + len(body)
        n = self.random.randrange(len(body))
        body[n] = Bundle((*body[n].issues, replace(leave, target=end)), 0, body[n].rotate)
        if self.random.random() < 0.5:
            body[0] = Bundle(body[0].issues, 0, rotate=True)
        last = bundle(Issue("retn", Slot("F", 0), self.list(2)))
        types = (WORD, WORD, WORD)
        main = Routine("main", (*head, *body, *tail, last), ((start, len(body)),), types, types[:2])
        if not self.calls:
            return program(self.machine, main)
        callee = [self.first(), self.bundle(calls=False), bundle(Issue("retn", Slot("F", 0), self.list(2)))]
        return program(self.machine, main, Routine("other", tuple(callee), (), types, types[:2]))

    def first(self) -> Bundle:
        """A full belt of arguments and Nones, and scratch."""
        items = tuple(
            Belt(NONE, "w") if self.random.random() < 0.2 else Belt(self.random.randrange(3))
            for _ in range(self.machine.belt)
        )
        scratch = Issue("scratchf", Slot("F", 1), offset=64, frame=16, frames=2)
        return Bundle((Issue("conform", Slot("F", 0), items), scratch), 0)

    def position(self) -> Operand:
        return Belt(min(int(self.random.expovariate(0.4)), self.machine.belt - 1))

    def list(self, count: int) -> tuple[Operand, ...]:
        return tuple(self.position() for _ in range(count))

    def listing(self, name: str, target: int) -> Issue:
        items = tuple(
            Belt(NONE, "w") if self.random.random() < 0.2 else self.position() for _ in range(self.machine.belt)
        )
        return Issue(name, Slot("F", 0), items, target=target)

    def bundle(self, *, in_loop: bool = False, calls: bool = True) -> Bundle:
        issues = [self.computing(n) for n in range(self.random.randint(0, 3))]
        issues += [self.issue("con", n, literal=self.literal()) for n in range(self.random.randint(0, 2))]
        issues += [self.load(4)] if self.random.random() < (0.5 if self.machine.stations > 1 else 0.1) else []
        issues += [self.scratch("fill", "fillx")] if self.random.random() < 0.1 else []
        issues += [self.issue(self.random.choice(("pick", "recur")), n) for n in range(self.random.randint(0, 2))]
        issues += [self.scratch("spill", "spillx")] if self.random.random() < 0.3 else []
        issues += [self.issue("store", 5)] if self.random.random() < 0.1 else []
        if calls and self.calls and self.random.random() < (0.1 if in_loop else 0.3):
            name = self.random.choice(("call", "calltr"))
            operands = self.list(3 + predicate_count(OPS[name]))
            issues.append(Issue(name, Slot("F", 6), operands, callee="other"))
        return Bundle(tuple(issues), 0)

    def literal(self) -> int:
        draw = self.random.random()
        return BASE + 4 * self.random.randrange(16) if draw < 0.6 else self.random.choice((0, 1, 2, 3, 0xFFFFFFFF))

    def computing(self, number: int) -> Issue:
        name = self.random.choice(_COMPUTED)
        return self.issue(name, number)

    def issue(self, name: str, number: int, literal: int = 0) -> Issue:
        op = OPS[name]
        assert op.operands[1] != MANY
        least, most = op.operands
        count = self.random.randint(least, least if name == "store" else most)
        operands = self.list(count)
        if op.immediate and self.random.random() < 0.4:
            operands = (*operands[:-1], Immediate(self.random.randint(-3, 3)))
        states = op.latency in ("shift", "mul") or name in ("con", "store")
        return Issue(name, slot(name, number), operands, "w" if states else None, literal=literal)

    def load(self, number: int) -> Issue:
        least, most = self.machine.load
        index = self.random.random() < 0.3
        delay = self.random.randint(least, min(most, least + 6))
        scale, offset = (4 if index else 0), 4 * self.random.randint(-1, 2)
        return Issue("load", Slot("F", number), self.list(1 + index), "w", scale=scale, offset=offset, delay=delay)

    def scratch(self, rotating: str, fixed: str) -> Issue:
        name = self.random.choice((rotating, fixed))
        operands = self.list(1) if "spill" in name else ()
        return Issue(name, slot(name, 0), operands, "w", offset=4 * self.random.randrange(8))
