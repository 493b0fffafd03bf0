# SPDX-License-Identifier: Apache-2.0
"""Litmus tests from a few words: columns of instructions over x, y and z, whose addresses are in x6, x7 and x8 of every
hart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

BASES = {"x": 6, "y": 7, "z": 8}
Access = tuple[str, str, int]
"""`R` or `W`, a location, and the value written, or the number of the register read into."""


def litmus(name: str, columns: Sequence[str], condition: str, initial: str = "") -> str:
    """The text of a test; a column has its instructions separated by semicolons."""
    programs = [[part.strip() for part in column.split(";")] for column in columns]
    rows = [" | ".join(row) + " ;" for row in zip_longest(*programs, fillvalue="")]
    bases = "".join(f"{hart}:x{number}={place}; " for hart in range(len(columns)) for place, number in BASES.items())
    head = " | ".join(f"P{hart}" for hart in range(len(columns))) + " ;"
    return "\n".join([f"RISCV {name}", f"{{ {bases}{initial} }}", head, *rows, condition, ""])


SHAPES: dict[str, tuple[tuple[Access, ...], ...]] = {
    "MP": ((("W", "x", 1), ("W", "y", 1)), (("R", "y", 10), ("R", "x", 11))),
    "SB": ((("W", "x", 1), ("R", "y", 10)), (("W", "y", 1), ("R", "x", 10))),
    "LB": ((("R", "x", 10), ("W", "y", 1)), (("R", "y", 10), ("W", "x", 1))),
    "S": ((("W", "x", 2), ("W", "y", 1)), (("R", "y", 10), ("W", "x", 1))),
    "R": ((("W", "x", 1), ("W", "y", 1)), (("W", "y", 2), ("R", "x", 10))),
    "2+2W": ((("W", "x", 2), ("W", "y", 1)), (("W", "y", 2), ("W", "x", 1))),
    "WRC": ((("W", "x", 1),), (("R", "x", 10), ("W", "y", 1)), (("R", "y", 10), ("R", "x", 11))),
    "RWC": ((("W", "x", 1),), (("R", "x", 10), ("R", "y", 11)), (("W", "y", 1), ("R", "x", 10))),
    "WWC": ((("W", "x", 2),), (("R", "x", 10), ("W", "y", 1)), (("R", "y", 10), ("W", "x", 1))),
    "IRIW": ((("W", "x", 1),), (("W", "y", 1),), (("R", "x", 10), ("R", "y", 11)), (("R", "y", 10), ("R", "x", 11))),
}
CONDITIONS = {
    "MP": "1:x10=1 /\\ 1:x11=0",
    "SB": "0:x10=0 /\\ 1:x10=0",
    "LB": "0:x10=1 /\\ 1:x10=1",
    "S": "1:x10=1 /\\ x=2",
    "R": "y=2 /\\ 1:x10=0",
    "2+2W": "x=2 /\\ y=2",
    "WRC": "1:x10=1 /\\ 2:x10=1 /\\ 2:x11=0",
    "RWC": "1:x10=1 /\\ 1:x11=0 /\\ 2:x10=0",
    "WWC": "1:x10=2 /\\ 2:x10=1 /\\ x=2",
    "IRIW": "2:x10=1 /\\ 2:x11=0 /\\ 3:x10=1 /\\ 3:x11=0",
}
"""The final state that a sequentially consistent machine does not reach."""

_ALL = {"RR", "RW", "WR", "WW"}
_READS = {"RR", "RW"}
FENCES = {
    f"fence {p},{s}": {a + b for a in p.upper() for b in s.upper()} for p in ("r", "w", "rw") for s in ("r", "w", "rw")
}
LINKS: dict[str, set[str]] = {
    "po": set(),
    **FENCES,
    "fence.tso": _ALL - {"WR"},
    "fence.i": set(),
    "addr": _READS,
    "data": {"RW"},
    "ctrl": {"RW"},
    "ctrl+fence.i": {"RW"},
    "czero": {"RW"},
    "czero address": _READS,
    "aq": _READS,
    "rl": {"RW", "WW"},
}
"""What a link between two accesses to different locations orders: rules 4, 9, 10, 11, 5 and 6 of the manual."""


def cycle(shape: str, links: Sequence[str]) -> str:
    """A shape with a link in each hart that has two accesses."""
    remaining = iter(links)
    columns = [
        _linked(accesses, next(remaining)) if len(accesses) == 2 else _access(accesses[0]) for accesses in SHAPES[shape]
    ]
    return litmus(f"{shape} {' '.join(links)}", columns, f"exists ({CONDITIONS[shape]})")


def applies(shape: str, links: Sequence[str]) -> bool:
    """Whether every link can stand where it is: dependencies begin at a load, data ones end at a store, annotations
    fit."""
    pairs = [accesses for accesses in SHAPES[shape] if len(accesses) == 2]
    return all(_fits(pair[0][0] + pair[1][0], link) for pair, link in zip(pairs, links, strict=True))


def preserved(shape: str, links: Sequence[str]) -> bool:
    """Whether every pair of accesses of a hart is ordered."""
    pairs = [accesses for accesses in SHAPES[shape] if len(accesses) == 2]
    return all(pair[0][0] + pair[1][0] in LINKS[link] for pair, link in zip(pairs, links, strict=True))


def _fits(kinds: str, link: str) -> bool:
    if link in ("data", "czero"):
        return kinds == "RW"
    if link in ("addr", "ctrl", "ctrl+fence.i", "czero address", "aq"):
        return kinds[0] == "R"
    return link != "rl" or kinds[1] == "W"


def _access(access: Access, order: str = "", base: int | None = None, data: str | None = None) -> str:
    kind, location, value = access
    where = f"0(x{BASES[location] if base is None else base})"
    if kind == "R":
        return f"lw{order} x{value},{where}"
    return f"{data or f'li x5,{value}'}; sw{order} x5,{where}"


def _linked(accesses: tuple[Access, ...], link: str) -> str:
    first, second = accesses
    base, value = BASES[second[1]], second[2]
    match link:
        case "po":
            parts = [_access(first), _access(second)]
        case "addr":
            parts = [_access(first), "xor x28,x10,x10", f"add x28,x28,x{base}", _access(second, base=28)]
        case "data":
            parts = [_access(first), _access(second, data=f"andi x5,x10,0; addi x5,x5,{value}")]
        case "ctrl" | "ctrl+fence.i":
            parts = [_access(first), "bne x10,x0,L0", "L0: fence.i" if link != "ctrl" else "L0:", _access(second)]
        case "czero":
            parts = [_access(first), "li x29,0", _access(second, data=f"czero.eqz x5,x29,x10; addi x5,x5,{value}")]
        case "czero address":
            parts = [
                _access(first),
                f"czero.eqz x28,x{base},x10; czero.nez x29,x{base},x10; or x28,x28,x29",
                _access(second, base=28),
            ]
        case "aq":
            parts = [_access(first, ".aq"), _access(second)]
        case "rl":
            parts = [_access(first), _access(second, ".rl")]
        case _:
            parts = [_access(first), link, _access(second)]
    return "; ".join(parts)
