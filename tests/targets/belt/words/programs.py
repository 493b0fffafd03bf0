# SPDX-License-Identifier: Apache-2.0
"""Random programs whose words can be written; most of them mean nothing that a machine could run."""

from __future__ import annotations

from random import Random

import numpy as np

from polyloom.ir.signature import RESULT, Argument, Extent, Signature
from polyloom.ir.ssa import NOWHERE, Data, Place
from polyloom.targets.belt.isa import LANED, MANY, OPS, predicate_count, states_width
from polyloom.targets.belt.machine import KINDS, Slot, member, members
from polyloom.targets.belt.value_types import BYTES, Type, Width
from polyloom.targets.belt.words.facts_json import facts_to_json
from polyloom.targets.belt.words.fields import layout
from polyloom.targets.belt.words.program import NONE, Belt, Bundle, Immediate, Issue, Note, Operand, Program, Routine

_LETTERS = 'ab9_.$%@"\\ ;|(),->é\n\x1f'
_WIDTHS: tuple[Width, ...] = tuple(BYTES)
_PLACES = (
    NOWHERE,
    NOWHERE,
    Place("", 3, 0),
    Place("dot.c", 12, 5),
    Place("dot.c", 4, 0, 'leaves the "loop"'),
    Place('a "b"; c', 1, 1),
)


def program(seed: int) -> Program:
    rng = Random(seed)
    names = _names(rng, 1, 3)
    machine = member(rng.choice(members()), rng.random() < 0.5)
    data = tuple(
        Data(name, rng.randbytes(rng.randint(0, 9)), rng.choice((1, 4, 128)), rng.random() < 0.5)
        for name in _names(rng, 0, 2)
    )
    passed: tuple[Width, ...] = tuple(rng.choice(_WIDTHS[:-1]) for _ in range(rng.randint(0, 3)))
    if passed:
        data += (Data(f"{_name(rng)} {len(data)}", bytes(8 * len(passed)), 64, False),)
    made = tuple(_routine(rng, name, names) for name in names)
    told = rng.choice(("{}", facts_to_json((), {name: {_name(rng): 0} for name in names})))
    return Program(machine.name, machine.phasing, machine.description, made, data, passed, told)


def _name(rng: Random) -> str:
    return "".join(rng.choice(_LETTERS) for _ in range(rng.randint(1, 5)))


def _names(rng: Random, least: int, most: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_name(rng) for _ in range(rng.randint(least, most))))


def _types(rng: Random) -> tuple[Type, ...]:
    return tuple(Type(rng.choice(_WIDTHS), 1 << rng.randint(0, 7)) for _ in range(rng.randint(0, 10)))


def _routine(rng: Random, name: str, names: tuple[str, ...]) -> Routine:
    made = tuple(_bundle(rng, names) for _ in range(rng.randint(1, 4)))
    ends = sorted(rng.sample(range(1, len(made) + 1), rng.randint(0, min(2, len(made)))))
    loops = tuple((end - size, size) for end in ends for size in [rng.randint(1, end)])
    return Routine(name, made, loops, _types(rng), _types(rng))


def _bundle(rng: Random, names: tuple[str, ...]) -> Bundle:
    slots = {Slot(rng.choice(KINDS), rng.randint(0, 31)) for _ in range(rng.randint(0, 6))}
    issues = tuple(_issue(rng, slot, names) for slot in sorted(slots, key=lambda s: s.order))
    notes = tuple(_note(rng, issue) for issue in issues) if rng.random() < 0.5 else ()
    kept = notes if any(note != Note() for note in notes) else ()
    return Bundle(issues, rng.randint(0, 255), rng.random() < 0.5, kept)


def _note(rng: Random, issue: Issue) -> Note:
    """As files have them: no name beyond the operands', none empty at the end."""
    names = tuple(_name(rng) for _ in range(rng.randint(0, len(issue.operands))))
    results = tuple(_name(rng) for _ in range(rng.randint(0, 2)))
    return Note(names, results, rng.choice((None, 0, 7)), rng.choice(_PLACES))


def _issue(rng: Random, slot: Slot, routines: tuple[str, ...]) -> Issue:
    """Every field that the operation has is drawn from all that its word holds."""
    name = rng.choice(tuple(OPS))
    op, kind = OPS[name], layout(OPS[name])
    operands = _operands(rng, name)
    width = rng.choice(_WIDTHS) if states_width(op) else None
    frames = kind == "frames" and rng.random() < 0.5
    call = name in ("call", "calltr")
    targets = kind == "control" and not call and name not in ("retn", "conform")
    return Issue(
        name,
        slot,
        operands,
        width,
        1 << rng.randint(0, 7) if name in LANED else 1,
        rng.choice((1, 2, 4, 8)) if kind == "memory" and len(operands) == op.operands[1] else 0,
        _offset(rng, kind),
        rng.randint(1, 63) if op.latency == "load" else 0,
        rng.choice((5, (1 << 8 * BYTES[width]) - 1)) if kind == "con" and width else 0,
        rng.randint(0, 65535) if targets else 0,
        rng.choice(routines) if call else "",
        rng.randint(1, 64) if frames else 0,
        rng.randint(1, 4) if frames else 0,
    )


def _operands(rng: Random, name: str) -> tuple[Operand, ...]:
    op = OPS[name]
    plain: list[Operand] = [Belt(rng.randint(0, 62)) for _ in range(predicate_count(op))]
    if op.operands[1] == MANY:
        return (*plain, *(_item(rng) for _ in range(rng.randint(0, 20))))
    found: list[Operand] = [Belt(rng.randint(0, 62)) for _ in range(rng.randint(*op.operands))]
    if op.immediate and rng.random() < 0.5:
        found[-1] = Immediate(rng.randint(-128, 127))
    return tuple(found)


def _item(rng: Random) -> Operand:
    return Belt(rng.randint(0, 62)) if rng.random() < 0.8 else Belt(NONE, rng.choice((None, *_WIDTHS)))


def _offset(rng: Random, kind: str) -> int:
    if kind == "memory":
        return rng.randint(-2048, 2047)
    return rng.randint(256 if kind == "frames" else 0, (1 << 20) - 1) if kind in ("scratch", "frames") else 0


SIGNATURE = Signature(
    "f",
    ("n",),
    ("n",),
    (
        Argument(RESULT, np.dtype("<i4"), (), False, True),
        Argument("n", np.dtype("<i4")),
        Argument("x", np.dtype("<f4"), (Extent(((("n",), 2),)),)),
    ),
)
