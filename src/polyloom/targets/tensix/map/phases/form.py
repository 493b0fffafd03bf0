# SPDX-License-Identifier: Apache-2.0
"""Nests as phases of vector code, for the form of loops: what they need, and their two oracles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.frontend.source import Arrays, Reference, Source
from polyloom.ir.nest import Apply, Expression, Nest, Statement, Storage, statements
from polyloom.ir.nest_interpret import nest_signature
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import FLOATS
from polyloom.ir.pla import Array
from polyloom.targets.forms import loops
from polyloom.targets.subject import Oracle
from polyloom.targets.tensix.map.oracle.judgement import bound_help, loop_oracles
from polyloom.targets.tensix.map.oracle.nest_arithmetic import nest_bits, nest_errors
from polyloom.targets.tensix.map.oracle.nest_outputs import nest_outputs
from polyloom.targets.tensix.map.phases.compile import Content, arrange_content
from polyloom.targets.tensix.options import FP32, Name
from polyloom.targets.tensix.words.arrays.area import NARROW, element_format
from polyloom.targets.tensix.words.arrays.formats import Arithmetic
from polyloom.transform.parallel.integer_promotion import promote_integers
from polyloom.transform.parallel.library_calls import recover_calls
from polyloom.transform.stages.integers.carry_nest import carry_nest_integers, has_loop_integers


def phases_content(nest: Nest, options: Any) -> Content:
    """Content of a nest that runs as phases; narrow integers lie in L1 as INT32, and functions of C's
    library are the unit's own. Errors: PL1232 for types and formats
    that do not fit.
    """
    nest = recover_calls(nest)
    if has_loop_integers(nest):
        return _content(nest, "tf32", options, is_carried_at_sizes=True)
    carried = carry_nest_integers(nest)
    # What is carried has conversions of floats to narrow integers, which the vector unit does as they are.
    nest = carried if carried is not nest else promote_integers(nest, NARROW)
    kinds = {storage.dtype for storage in nest.storage}
    if kinds not in ({"f32"}, {"i32"}):
        raise _mixed_types_error(nest.storage)
    return _content(nest, "tf32" if kinds == {"f32"} else "i8", options)


def _content(nest: Nest, name: Name, options: Any, *, is_carried_at_sizes: bool = False) -> Content:
    if not computes_in_32_bits(nest, options):
        message = "phases of vector code compute in 32 bits"
        raise input_error("PL1232", message, help="leave --format and --dest out")
    return Content(nest, Arithmetic(name, 32, 4, 32), is_carried_at_sizes)


def computes_in_32_bits(nest: Nest, options: Any) -> bool:
    """Whether the options ask for the one arithmetic of phases, FP32 or INT32."""
    names = ("tf32", FP32) if any(storage.dtype in FLOATS for storage in nest.storage) else ("i8",)
    return options.format in (None, *names) and options.dest != 16


def _mixed_types_error(storage: Sequence[Storage]) -> PolyloomError:
    """PL1232 at the first array that is neither f32 nor i32, or else is not what the first one is."""
    message, help = "a program on a tile is all f32 or all i32", "declare all arrays and scalars as f32, or as i32"
    others = [s for s in storage if s.dtype not in ("f32", "i32")] or [
        s for s in storage if s.dtype != storage[0].dtype
    ]
    if not others:
        return input_error("PL1232", message, help=help)
    other = others[0]
    if other.role == "argument":
        return input_error("PL1232", f"{message}, and `{other.name}` is {other.dtype}", span=other.span, help=help)
    # The compiler's own names say nothing to the user.
    help = (
        "a test that is kept is an integer, and so is what a float is converted to: write `np.where(test, a, b)` for a "
        "test, and choose another machine for such conversions"
    )
    message += f", and a value that this statement computes is {other.dtype}"
    return input_error("PL1232", message, span=other.span, help=help)


def phases_oracles(source: Source, content: Content) -> tuple[Oracle, ...]:
    """Oracles of phases of a source: the arranged nest in the tile's arithmetic, and the source within its bound."""
    assert source.nest is not None, "phases are made of nests"
    program = Oracle(loops.EQUATIONS, loops.equations_name(source), partial(nest_outputs, source))
    return nest_oracles(source.nest, source.reference, program, content)


def nest_oracles(own: Nest, reference: Reference, program: Oracle, content: Content) -> tuple[Oracle, ...]:
    """Oracles of phases of the nest that a source is; `program` interprets it."""
    packed = element_format(content.how).packed
    return loop_oracles(
        reference,
        program,
        partial(_arithmetic, content, nest_signature(own).outputs),
        partial(_bounds, content),
        packed,
        bound_help((), has_products=False),
    )


def _arithmetic(content: Content, outputs: Sequence[Array], values: Mapping[str, int], inputs: Arrays) -> Arrays:
    """Outputs in the types that the source has, of which the nest keeps narrow integers extended."""
    made = nest_bits(arrange_content(content, values), inputs)
    return {array.name: made[array.name].astype(NUMPY[array.dtype], copy=False) for array in outputs}


def _bounds(content: Content, values: Mapping[str, int], inputs: Arrays, expected: Arrays) -> Arrays:
    nest = arrange_content(content, values)
    if any(storage.dtype != "f32" for storage in nest.storage):
        return {name: np.zeros(array.shape) for name, array in expected.items()}
    is_rounded = not any(map(_has_fused_product, statements(content.nest)))
    with np.errstate(all="ignore"):
        made = nest_errors(nest, inputs, is_rounded=is_rounded)
        return {array.name: made[array.name] for array in nest_signature(content.nest).outputs}


def _has_fused_product(statement: Statement) -> bool:
    """Whether a statement of the source has a product and a sum with one rounding."""

    def is_fused(value: Expression) -> bool:
        return isinstance(value, Apply) and (value.operation == "madd" or any(map(is_fused, value.operands)))

    return is_fused(statement.assign.value)
