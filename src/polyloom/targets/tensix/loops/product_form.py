# SPDX-License-Identifier: Apache-2.0
"""A product as a subject, with two oracles.

`arithmetic` is the product in the tile's own arithmetic, bit for bit; `equations` is the program, from which results
may be as far as format and fidelity allow (bound.py). Small programs are interpreted as they stand; larger ones are
summed in their order with the interpreter's operations, which gives the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.analysis.contraction import Contraction, Matrix, span_of
from polyloom.diagnostics import Span, input_error
from polyloom.frontend.source import Arrays, Source
from polyloom.ir import semantics, signature
from polyloom.ir.plan_interpret import interpret
from polyloom.ir.signature import Signature
from polyloom.targets.provenance import texts
from polyloom.targets.subject import Subject
from polyloom.targets.tensix.loops import arithmetic
from polyloom.targets.tensix.loops.bound import bound
from polyloom.targets.tensix.loops.compile import Arithmetic
from polyloom.targets.tensix.loops.formats import FORMATS, Dest, Name, result_of
from polyloom.targets.tensix.loops.judgement import oracles
from polyloom.targets.tensix.loops.layout import Placed
from polyloom.targets.tensix.loops.run import datums
from polyloom.targets.tensix.loops.steps import place_of

Array = NDArray[Any]
_SMALL: Final = 1 << 18
"""Products up to which a program is interpreted as it stands."""


@dataclass(frozen=True, slots=True)
class Content:
    """What is compiled."""

    contraction: Contraction
    how: Arithmetic


@dataclass(frozen=True, slots=True)
class Shaped:
    """The program with its arrays' shapes for values of the parameters."""

    content: Content
    signature: Signature
    source: Source

    def placed(self, matrix: Matrix, values: Mapping[str, int]) -> Placed:
        argument = self.signature.argument(matrix.array)
        assert argument is not None
        return Placed(matrix, argument.extents(values), 0, 1)


def _arithmetic(s: Shaped, values: Mapping[str, int], inputs: Arrays) -> Arrays:
    c, how = s.content.contraction, s.content.how
    f = FORMATS[how.format]
    left, right = (datums(s.placed(matrix, values), inputs, f) for matrix in (c.left, c.right))
    found = arithmetic.product(left, right, f, how.dest, how.fidelity)
    return {c.result.array: s.placed(c.result, values).unflat(result_of(how.format, how.dest).decode(found))}


def equations(s: Shaped, values: Mapping[str, int], inputs: Arrays) -> Arrays:
    c = s.content.contraction
    left, right = (s.placed(m, values).flat(inputs[m.array]) for m in (c.left, c.right))
    if prod(left.shape) * right.shape[1] <= _SMALL:
        return interpret(s.source.plan, values, inputs)
    dtype = "f32" if left.dtype == np.float32 else "i32"
    once = _rounds_once(s.source)
    total = np.zeros((left.shape[0], right.shape[1]), left.dtype)
    with np.errstate(all="ignore"):
        for k in range(left.shape[1]):
            a, b = np.broadcast_arrays(left[:, k, None], right[None, k, :])
            if not k:
                total = semantics.apply("mul", dtype, [a, b])
            elif once:
                total = semantics.apply("madd", dtype, [a, b, total])
            else:
                total = total + semantics.apply("mul", dtype, [a, b])
    return {c.result.array: s.placed(c.result, values).unflat(total)}


def _rounds_once(source: Source) -> bool:
    return any(e.operation == "madd" for phase in source.plan.phases for e in phase.program.equations)


def _bounds(s: Shaped, values: Mapping[str, int], inputs: Arrays, expected: Arrays) -> Arrays:
    del expected
    c, how = s.content.contraction, s.content.how
    left, right = (s.placed(m, values).flat(inputs[m.array]) for m in (c.left, c.right))
    allowed = bound(left, right, FORMATS[how.format], how.dest, how.fidelity)
    return {c.result.array: s.placed(c.result, values).unflat(allowed)}


def subject(source: Source, found: Contraction, options: Any) -> Subject:
    """Errors: PL1232 for a format that does not fit."""
    of = signature.of_plan(source.plan, source.nest)
    content = Content(found, _how(of, found, options, span_of(source.plan.phases[0].program)))
    shaped = Shaped(content, of, source)
    how = content.how
    judges = oracles(
        source,
        partial(_arithmetic, shaped),
        partial(equations, shaped),
        partial(_bounds, shaped),
        result_of(how.format, how.dest),
    )
    known = texts(e.span for phase in source.plan.phases for e in phase.program.equations)
    return Subject("loops", content, source.path, of, judges, source.seconds, source=source, texts=known)


def _how(of: Signature, found: Contraction, options: Any, span: Span | None) -> Arithmetic:
    types = {a.type_name for a in of.arguments if a.name in (found.left.array, found.right.array, found.result.array)}
    kind = types.pop() if len(types) == 1 else ""
    if kind not in ("f32", "i32"):
        help = "declare all three arrays as f32, or as i32 for --format i8"
        raise input_error("PL1232", "the arrays of a product on a tile are all f32 or all i32", help=help)
    name: Name = options.format or ("tf32" if kind == "f32" else "i8")
    dest: Dest = options.dest or 32
    if FORMATS[name].element != kind:
        others = " or ".join(n for n, f in FORMATS.items() if f.element == kind)
        message = f"--format {name} is for {FORMATS[name].element}, and the arrays are {kind}"
        raise input_error("PL1232", message, help=f"write --format {others}")
    if name == "i8" and dest == 16:
        raise input_error("PL1232", "products of i8 need a Dst of 32 bits", help="leave --dest 16 out")
    return Arithmetic(name, dest, options.fidelity, place_of(span))
