# SPDX-License-Identifier: Apache-2.0
"""Loops as a form of sources of the tile: equations (.pla), Python and C kernels, with two oracles.

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

from polyloom.diagnostics import MISMATCH, Diagnostic, input_error
from polyloom.frontend.source import Arrays, Source
from polyloom.ir import semantics, signature
from polyloom.ir.plan_interpret import interpret
from polyloom.ir.signature import Signature
from polyloom.targets.forms import loops
from polyloom.targets.subject import Form, Oracle, Subject, Written
from polyloom.targets.tensix.loops import arithmetic
from polyloom.targets.tensix.loops.bound import bound, distance
from polyloom.targets.tensix.loops.compile import Arithmetic
from polyloom.targets.tensix.loops.contraction import Contraction, Matrix, contraction
from polyloom.targets.tensix.loops.dataflow import refuse
from polyloom.targets.tensix.loops.formats import FORMATS, Dest, Name, result_of
from polyloom.targets.tensix.loops.layout import Placed
from polyloom.targets.tensix.loops.run import datums

Array = NDArray[Any]
_SMALL: Final = 1 << 18
"""Products up to which a program is interpreted as it stands."""


@dataclass(frozen=True, slots=True)
class Content:
    """What is compiled."""

    contraction: Contraction
    how: Arithmetic


@dataclass(frozen=True, slots=True)
class _Shaped:
    """The program with its arrays' shapes for values of the parameters."""

    content: Content
    signature: Signature
    source: Source

    def placed(self, matrix: Matrix, values: Mapping[str, int]) -> Placed:
        argument = self.signature.argument(matrix.array)
        assert argument is not None
        return Placed(matrix, argument.extents(values), 0, 1)


def _arithmetic(s: _Shaped, values: Mapping[str, int], inputs: Arrays) -> Arrays:
    c, how = s.content.contraction, s.content.how
    f = FORMATS[how.format]
    left, right = (datums(s.placed(matrix, values), inputs, f) for matrix in (c.left, c.right))
    found = arithmetic.product(left, right, f, how.dest, how.fidelity)
    return {c.result.array: s.placed(c.result, values).unflat(result_of(how.format, how.dest).decode(found))}


def _equations(s: _Shaped, values: Mapping[str, int], inputs: Arrays) -> Arrays:
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


def _judge(s: _Shaped, inputs: Arrays, expected: Arrays, got: Arrays) -> tuple[Diagnostic | None, dict[str, Any]]:
    """Errors against the bound, and the figures of `run --json`. A difference: PL1235."""
    c, how = s.content.contraction, s.content.how
    name = c.result.array
    left, right = (Placed(m, inputs[m.array].shape, 0, 1).flat(inputs[m.array]) for m in (c.left, c.right))
    want, have = (Placed(c.result, a[name].shape, 0, 1).flat(a[name]) for a in (expected, got))
    allowed = bound(left, right, FORMATS[how.format], how.dest, how.fidelity)
    with np.errstate(invalid="ignore", over="ignore"):
        errors = np.abs(have.astype(np.float64) - want.astype(np.float64))
        wrong = np.argwhere(~((errors <= allowed) | (have == want)))
    figures: dict[str, Any] = {
        "max_error": _finite(errors),
        "max_ulp": int(distance(want, have, result_of(how.format, how.dest)).max(initial=0)),
        "bound": _finite(allowed),
    }
    if not len(wrong):
        return None, figures
    at = tuple(int(n) for n in wrong[0])
    flat = Placed(c.result, expected[name].shape, 0, 1).unflat(np.arange(want.size).reshape(want.shape))
    index = np.argwhere(flat == at[0] * want.shape[1] + at[1])[0]
    element = f"{name}[{', '.join(map(str, index))}]" if len(index) else name
    message = f"{element} is {have[at]}, and the program gives {want[at]}: the bound is {allowed[at]:.3g}"
    help = "choose a format or a fidelity that holds these values, or leave them out: --format tf32 --fidelity 4"
    notes = (f"{len(wrong)} of {want.size} elements of {name} are beyond their bounds",)
    return Diagnostic("PL1235", message, MISMATCH, notes=notes, help=help), figures


def _finite(values: Array) -> float | str:
    """JSON has no infinity."""
    largest = float(values.max(initial=0.0))
    return largest if np.isfinite(largest) else str(largest)


def _load(written: Written, place: Any, options: Any) -> Subject:
    """Errors: PL1230 for a program of another form, PL1232 for a format that does not fit, and those of reading."""
    del place
    source = loops.source_of(written.value, written.options, written.watch)
    if len(source.plan.phases) != 1:
        refuse(f"`{source.plan.name}` has {len(source.plan.phases)} phases, one after the other")
    found = contraction(source.plan.phases[0].program)
    if found is None:
        refuse(f"`{source.plan.name}` has no sum")
    of = signature.of_plan(source.plan)
    content = Content(found, _how(of, found, options))
    shaped = _Shaped(content, of, source)
    oracles = (
        Oracle("arithmetic", "the tile's arithmetic", partial(_arithmetic, shaped)),
        Oracle("equations", "its equations", partial(_equations, shaped), judge=partial(_judge, shaped)),
    )
    return Subject("product", content, source.path, of, oracles, source.seconds, source=source, watch=written.watch)


def _how(of: Signature, found: Contraction, options: Any) -> Arithmetic:
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
    return Arithmetic(name, dest, options.fidelity)


FORM: Final = Form("product", "a product (.pla, .py, .c)", loops.PLAN.accepts, _load)
