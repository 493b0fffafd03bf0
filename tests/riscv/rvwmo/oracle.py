# SPDX-License-Identifier: Apache-2.0
"""The memory model in its other form: every total order of memory operations, tried one after the other.

A program is given by its operations and their dependencies, not by instructions: what follows from registers is known
here by construction. An order counts if it respects preserved program order, rule by rule as the manual words them,
when every load returns what the load value axiom says, and if it is atomic. `text` writes the same program as a litmus
test.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations, product
from typing import Literal

Kind = Literal["load", "store", "amo", "lr", "sc"]


@dataclass(frozen=True)
class Op:
    """A memory operation. A store writes `value`, or what the load `copies` read. `address`, `data`, `control` and
    `copies` are places in the hart's program of earlier operations that return a value."""

    kind: Kind
    location: str
    value: int = 0
    aq: bool = False
    rl: bool = False
    address: int | None = None
    data: int | None = None
    control: tuple[int, ...] = ()
    copies: int | None = None

    @property
    def reads(self) -> bool:
        return self.kind in ("load", "amo", "lr")

    @property
    def writes(self) -> bool:
        return self.kind in ("store", "amo", "sc")


@dataclass(frozen=True)
class Barrier:
    before: str
    after: str
    tso: bool = False


Item = Op | Barrier
Program = tuple[tuple[Item, ...], ...]
Id = tuple[int, int]
"""A hart, and a place in its program."""

SETS = {"r": (True, False), "w": (False, True), "rw": (True, True)}


def outcomes(program: Program) -> dict[str, int]:
    """Every allowed final state and the number of its executions: different choices of what is read, of the order of
    stores to each location, and of the store-conditionals that succeed."""
    conditionals = [
        (h, i)
        for h, items in enumerate(program)
        for i, item in enumerate(items)
        if isinstance(item, Op) and item.kind == "sc"
    ]
    found: dict[object, str] = {}
    for success in product((False, True), repeat=len(conditionals)):
        failed = {c for c, s in zip(conditionals, success, strict=True) if not s}
        if all(c in failed or _pair(program, c) is not None for c in conditionals):
            _orders(program, failed, found)
    states = list(found.values())
    return {state: states.count(state) for state in states}


def _orders(program: Program, failed: set[Id], found: dict[object, str]) -> None:
    ids = [
        (h, i)
        for h, items in enumerate(program)
        for i, item in enumerate(items)
        if isinstance(item, Op) and (h, i) not in failed
    ]
    for order in permutations(ids):
        place = {each: n for n, each in enumerate(order)}
        read = {each: _source(program, order, place, each) for each in ids if _op(program, each).reads}
        if _preserved(program, ids, place, read) and _atomic(program, ids, order, place, read):
            stores = {
                name: tuple(s for s in order if _op(program, s).writes and _op(program, s).location == name)
                for name in "xyz"
            }
            key = (frozenset(failed), frozenset(read.items()), tuple(stores.items()))
            found[key] = _state(program, failed, read, stores)


def _op(program: Program, each: Id) -> Op:
    item = program[each[0]][each[1]]
    assert isinstance(item, Op)
    return item


def _before(a: Id, b: Id) -> bool:
    """Program order."""
    return a[0] == b[0] and a[1] < b[1]


def _source(program: Program, order: tuple[Id, ...], place: dict[Id, int], load: Id) -> Id | None:
    """The load value axiom; None is the initial value."""
    location = _op(program, load).location
    seen = [s for s in order if _op(program, s).writes and _op(program, s).location == location and s != load]
    seen = [s for s in seen if place[s] < place[load] or _before(s, load)]
    return seen[-1] if seen else None


def _preserved(program: Program, ids: list[Id], place: dict[Id, int], read: dict[Id, Id | None]) -> bool:
    return all(place[a] < place[b] for a in ids for b in ids if _before(a, b) and _ppo(program, ids, read, a, b))


def _ppo(program: Program, ids: list[Id], read: dict[Id, Id | None], a: Id, b: Id) -> bool:
    """The thirteen rules, in the manual's order."""
    first, second = _op(program, a), _op(program, b)
    between = [m for m in ids if _before(a, m) and _before(m, b)]
    same = first.location == second.location
    stored = any(_op(program, m).writes and _op(program, m).location == first.location for m in between)
    return (
        (same and second.writes)
        or (same and first.reads and second.reads and not first.writes and not stored and read[a] != read[b])
        or (first.kind in ("amo", "sc") and second.reads and read[b] == a)
        or any(_fences(item, first, second) for item in program[a[0]][a[1] : b[1]] if isinstance(item, Barrier))
        or _acquires(first)
        or _releases(second)
        or (_strong(first) and _strong(second))
        or (second.kind == "sc" and _pair(program, b) == a)
        or second.address == a[1]
        or (second.writes and a[1] in (second.data, second.copies))
        or (second.writes and a[1] in second.control)
        or (
            second.reads
            and any(
                read[b] == m and a[1] in (_op(program, m).address, _op(program, m).data, _op(program, m).copies)
                for m in between
            )
        )
        or (second.writes and any(_op(program, m).address == a[1] for m in between))
    )


def _fences(item: Barrier, first: Op, second: Op) -> bool:
    if item.tso:
        return _fences(Barrier("r", "rw"), first, second) or _fences(Barrier("w", "w"), first, second)
    (before_r, before_w), (after_r, after_w) = SETS[item.before], SETS[item.after]
    return ((first.reads and before_r) or (first.writes and before_w)) and (
        (second.reads and after_r) or (second.writes and after_w)
    )


def _acquires(op: Op) -> bool:
    """On a store-conditional `aq` alone stands for nothing."""
    return op.aq and (op.kind != "sc" or op.rl)


def _releases(op: Op) -> bool:
    """On a load-reserved `rl` alone stands for nothing."""
    return op.rl and (op.kind != "lr" or op.aq)


def _strong(op: Op) -> bool:
    return op.kind in ("amo", "lr", "sc") and (_acquires(op) or _releases(op))


def _pair(program: Program, conditional: Id) -> Id | None:
    """The load-reserved of a store-conditional that may succeed: the last one or conditional before it is one, of the
    same location."""
    hart, at = conditional
    for n in range(at - 1, -1, -1):
        item = program[hart][n]
        if isinstance(item, Op) and item.kind in ("lr", "sc"):
            return (hart, n) if item.kind == "lr" and item.location == _op(program, conditional).location else None
    return None


def _atomic(
    program: Program, ids: list[Id], order: tuple[Id, ...], place: dict[Id, int], read: dict[Id, Id | None]
) -> bool:
    for b in ids:
        if _op(program, b).kind == "sc":
            pair = _pair(program, b)
            assert pair is not None
            source = read[pair]
            since = -1 if source is None else place[source]
            others = [s for s in order[since + 1 : place[b]] if s[0] != b[0] and _op(program, s).writes]
            if since > place[b] or any(_op(program, s).location == _op(program, b).location for s in others):
                return False
    return True


def _value(program: Program, read: dict[Id, Id | None], failed: set[Id], each: Id) -> int:
    """What an operation returns in its register."""
    if _op(program, each).kind == "sc":
        return int(each in failed)
    source = read[each]
    return 0 if source is None else _stored(program, read, failed, source)


def _stored(program: Program, read: dict[Id, Id | None], failed: set[Id], store: Id) -> int:
    op = _op(program, store)
    return op.value if op.copies is None else _value(program, read, failed, (store[0], op.copies))


def _state(program: Program, failed: set[Id], read: dict[Id, Id | None], stores: dict[str, tuple[Id, ...]]) -> str:
    parts: list[str] = []
    for hart, items in enumerate(program):
        for at, item in enumerate(items):
            if isinstance(item, Op) and item.kind != "store":
                parts.append(f"{hart}:x{10 + at}={_value(program, read, failed, (hart, at))};")
    final = {name: _stored(program, read, failed, order[-1]) if order else 0 for name, order in stores.items()}
    return " ".join([*parts, *(f"[{name}]={value};" for name, value in final.items())])


ADDRESSES = {"x": 6, "y": 7, "z": 8}


def text(program: Program) -> str:
    """The litmus test: operation `at` of a hart returns its value in register x(10 + at); all of them and x, y, z are
    observed."""
    columns = [_column(items) for items in program]
    rows = max(map(len, columns))
    cells = [[column[n] if n < len(column) else "" for column in columns] for n in range(rows)]
    head = "".join(f"{h}:x6=x; {h}:x7=y; {h}:x8=z; " for h in range(len(program)))
    shown = [
        f"{h}:x{10 + n};"
        for h, items in enumerate(program)
        for n, item in enumerate(items)
        if isinstance(item, Op) and item.kind != "store"
    ]
    lines = [
        "RISCV generated",
        f"{{ {head}}}",
        " | ".join(f"P{h}" for h in range(len(program))) + " ;",
        *(" | ".join(row) + " ;" for row in cells),
    ]
    return "\n".join([*lines, f"locations [{' '.join([*shown, 'x; y; z;'])}]", "exists x=1", ""])


def _column(items: tuple[Item, ...]) -> list[str]:
    lines: list[str] = []
    branched: set[int] = set()
    for at, item in enumerate(items):
        if isinstance(item, Barrier):
            lines.append("fence.tso" if item.tso else f"fence {item.before},{item.after}")
        else:
            for source in item.control:
                if source not in branched:
                    branched.add(source)
                    lines += [f"beq x{10 + source},x0,L{at}n{source}", f"L{at}n{source}:"]
            lines += _instructions(at, item)
    return lines


def _instructions(at: int, op: Op) -> list[str]:
    lines: list[str] = []
    base = ADDRESSES[op.location]
    if op.address is not None:
        lines += [f"xor x28,x{10 + op.address},x{10 + op.address}", f"add x28,x{base},x28"]
        base = 28
    data = 29
    if op.copies is not None:
        data = 10 + op.copies
    elif op.writes:
        lines.append(f"li x29,{op.value}")
        if op.data is not None:
            lines += [f"andi x30,x{10 + op.data},0", "add x29,x29,x30"]
    order = ".aq" * op.aq + ".rl" * op.rl
    register = f"x{10 + at}"
    match op.kind:
        case "load":
            lines.append(f"lw{order} {register},0(x{base})")
        case "store":
            lines.append(f"sw{order} x{data},0(x{base})")
        case "amo":
            lines.append(f"amoswap.w{order} {register},x{data},(x{base})")
        case "lr":
            lines.append(f"lr.w{order} {register},(x{base})")
        case "sc":
            lines.append(f"sc.w{order} {register},x{data},(x{base})")
    return lines
