# SPDX-License-Identifier: Apache-2.0
"""Names in a text of the equation language. Those that it has other uses for, or no letters, stand in backquotes:
```max`[i]``.

Functions may have any name that Python or C has, and what is made of them prints and reads back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from polyloom.ir.operations import ALL_TYPES, BY_NAME
from polyloom.ir.pla import Array, Constant, Equation, Operand, Program, Reference, Variable
from polyloom.sets import Affine, Condition, Polyhedron

KEYWORDS: Final = frozenset(
    {
        "parameter",
        "input",
        "output",
        "variable",
        "for",
        "do",
        "if",
        "and",
        "or",
        "xor",
        "not",
        "shl",
        "shr",
        "true",
        "false",
        "inf",
    }
)
RESERVED: Final = KEYWORDS | set(BY_NAME) | set(ALL_TYPES)
PLAIN: Final = r"[A-Za-z_][A-Za-z0-9_]*(?:\.[a-z]*[0-9]+)*"
# Letters of any script, and `$`: what Python and C compilers take as names.
QUOTED: Final = r"`(?u:[^\W\d][\w$]*)(?:\.[a-z]*[0-9]+)*`"
_PLAIN: Final = re.compile(PLAIN)


def quote_name(name: str) -> str:
    """`name` as a text has it."""
    return name if _PLAIN.fullmatch(name) and name not in RESERVED else f"`{name}`"


def unquote_name(text: str) -> str:
    """The name that is written so."""
    return text.strip("`")


def spell_names(program: Program) -> Program:
    """The program with its names as a text has them."""
    symbols = (*program.parameters, *program.dimensions)
    objects = (a.name for a in (*program.inputs, *program.outputs, *program.variables))
    names = {name: quote_name(name) for name in (*symbols, *objects, *(e.name for e in program.equations))}
    # The usual program has plain names, and is not rebuilt.
    return program if all(name == text for name, text in names.items()) else _rename(program, names)


def _rename(program: Program, names: Mapping[str, str]) -> Program:
    def affine(form: Affine) -> Affine:
        return Affine.from_terms({names[n]: c for n, c in form.terms}, form.constant)

    def condition(where: Condition) -> Condition:
        return Condition(tuple(Polyhedron(tuple(map(affine, p.constraints))) for p in where.pieces))

    def array(one: Array) -> Array:
        return replace(one, name=names[one.name], shape=tuple(map(affine, one.shape)))

    def reference(one: Reference) -> Reference:
        return replace(one, name=names[one.name], index=tuple(map(affine, one.index)))

    def operand(one: Operand) -> Operand:
        return one if isinstance(one, Constant) else reference(one)

    def equation(one: Equation) -> Equation:
        operands = tuple(map(operand, one.operands))
        return replace(
            one,
            name=names[one.name],
            target=reference(one.target),
            operands=operands,
            condition=condition(one.condition),
        )

    return Program(
        program.name,
        tuple(names[n] for n in program.parameters),
        condition(program.assumptions),
        tuple(names[n] for n in program.dimensions),
        condition(program.space),
        tuple(map(array, program.inputs)),
        tuple(map(array, program.outputs)),
        tuple(Variable(names[v.name], v.dtype, v.span) for v in program.variables),
        tuple(map(equation, program.equations)),
    )
