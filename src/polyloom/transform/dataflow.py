# SPDX-License-Identifier: Apache-2.0
"""Takes the order away from a nest: for every read, which instance of which statement wrote the value, for all
parameter values.

The value of a read is what the last earlier writer of the same element wrote (`transform.writers`). An element of an
argument that nothing wrote before has its value at entry; a local that nothing wrote has none, which is the user's
error. The pieces of a read name origins by affine functions of the reader's loops; an origin that is none, because of a
stride, is refused.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any
from typing import Final as TypingFinal

import islpy as isl

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.ir import nest_verify, recurrence_verify
from polyloom.ir.nest import Nest, Statement, Storage, accesses, expression_type
from polyloom.ir.nest_c import print_c
from polyloom.ir.pla import Reference
from polyloom.ir.recurrence import Final, Piece, Produced, Recurrence, Stored, System
from polyloom.ir.recurrence_text import print_system
from polyloom.passes import Form, Pass, Watch, run_passes
from polyloom.sets import Affine
from polyloom.sets.isl import affines, sample
from polyloom.transform.choices import forward_choices
from polyloom.transform.forward import forward
from polyloom.transform.pieces import Part, affine_pieces, shared_loops, split_by_level, with_loop_names
from polyloom.transform.prune import prune
from polyloom.transform.reduction import nest_reductions
from polyloom.transform.undefined_values import remove_undefined_choices
from polyloom.transform.writers import Writers


def passes(reassociate: bool = False) -> tuple[Pass[Any, Any], ...]:
    """From a checked nest to equations with exact origins: copies are forwarded, accumulations nested, and what no
    output needs is removed.

    `reassociate` allows f32 accumulations to change their order, hence their rounding.

    They raise PL0250 where a local is read that nothing wrote, PL0251 where an origin is not affine in the reader's
    loops.
    """
    return (
        Pass("nest", lambda nest: nest, NEST),
        # Before the dataflow: a local that is read on a path where its value does not matter would be refused
        # otherwise.
        Pass("defined", remove_undefined_choices, NEST),
        Pass("flow", flow, SYSTEM),
        Pass("forward", forward, SYSTEM),
        Pass("choices", forward_choices, SYSTEM),
        # Seeing through choices makes copies of what was a select; they are forwarded like any other.
        Pass("forward-choices", forward, SYSTEM),
        # After forwarding: an accumulation is recognised by its own value in its reads, which copies would hide.
        Pass("accumulate", partial(nest_reductions, reassociate=reassociate), SYSTEM),
        Pass("prune", prune, SYSTEM),
    )


NEST: TypingFinal = Form(print_c, nest_verify.verify)
SYSTEM: TypingFinal = Form(print_system, recurrence_verify.verify)


def analyse(nest: Nest, reassociate: bool = False, watch: Watch | None = None) -> System:
    """Array dataflow analysis (Feautrier, "Dataflow analysis of array and scalar references", 1991): the equations of a
    checked nest, what all `passes` make of it.
    """
    system: System = run_passes(nest, passes(reassociate), watch)
    return system


def check_defined(nest: Nest) -> None:
    """Raises PL0250 where a local is read that nothing wrote."""
    writers = Writers.from_nest(nest)
    for statement in writers.statements:
        for read in accesses(statement.assign.value):
            if nest[read.name].role == "local":
                _check_defined(statement, read, writers.unwritten(statement, read), nest)


def flow(nest: Nest) -> System:
    """Exact sources of reads (Feautrier 1991): every statement with its reads' origins, and who wrote the outputs'
    final elements; errors as for `analyse`.
    """
    writers = Writers.from_nest(nest)
    equations = tuple(
        Recurrence(s, expression_type(s.assign.value, nest), tuple(_reads(s, writers))) for s in writers.statements
    )
    arguments = tuple(s for s in nest.storage if s.role == "argument")
    finals = tuple(final for a in arguments for final in _finals(a, writers))
    return System(nest.name, nest.parameters, nest.assumptions, arguments, equations, finals, nest.span)


def _reads(statement: Statement, writers: Writers) -> Iterator[tuple[Piece, ...]]:
    for read in accesses(statement.assign.value):
        parts = list(_produced_parts(statement, read, writers))
        rest = writers.pieces.set(statement.domain, statement.assign.name)
        # Instances without a writer find the element as it was at entry.
        for points, _ in parts:
            rest = rest.subtract(points)
        _check_defined(statement, read, rest, writers.nest)
        with _refusal(statement, read):
            yield writers.pieces.join_parts([*parts, (rest, Stored(read.name, read.index))], statement.assign.name)


def _produced_parts(statement: Statement, read: Reference, writers: Writers) -> Iterator[Part]:
    """The instances of `statement` whose element some instance wrote before, with the last one."""
    # The common case first: a scalar that the line above assigned. The search of isl grows quickly with the length of a
    # block.
    just_before = writers.textual_predecessor(statement, read)
    if just_before is not None:
        yield (
            writers.pieces.set(statement.domain, statement.assign.name),
            Produced(just_before.assign.name, tuple(map(Affine.symbol, statement.loops))),
        )
        return
    for writer, relation in writers.reaching_writers(statement, read):
        # Feautrier's sources by depth: at level n the first n loops of reader and writer agree, and that part has one
        # affine function.
        for level, part in enumerate(split_by_level(relation, len(shared_loops(statement, writer)))):
            for points, values in affine_pieces(part):
                index = affines(values, statement.loops)
                if index is None:
                    raise _stride_error(statement, read, f"its value comes from {_origin_text(values)}")
                # Written as the loops themselves: isl may have used an equality to write them otherwise, which would
                # look non-uniform.
                same = tuple(map(Affine.symbol, statement.loops[:level]))
                yield with_loop_names(points, statement.loops), Produced(writer.assign.name, (*same, *index[level:]))


def _check_defined(statement: Statement, read: Reference, unwritten: isl.Set, nest: Nest) -> None:
    point = sample(unwritten) if nest[read.name].role == "local" else None
    if point is not None:
        where = ", ".join(f"{n} = {point[n]}" for n in (*nest.parameters, *statement.loops))
        message = (
            f"{_element(read, point)} is read before anything was assigned to it{f' when {where}' if where else ''}"
        )
        raise input_error(
            "PL0250", message, span=read.span, help=f"assign a first value to `{read.name}`, or make it an argument"
        )


def _finals(array: Storage, writers: Writers) -> Iterator[Final]:
    for writer, points in writers.finally_(array):
        target = writer.assign.target
        with _refusal(writer, target):
            yield Final(array.name, target.index, writer.assign.name, writers.pieces.condition(points))


def _element(reference: Reference, point: Mapping[str, int]) -> str:
    return (
        f"{reference.name}[{', '.join(str(a.evaluate(point)) for a in reference.index)}]"
        if reference.index
        else f"`{reference.name}`"
    )


def _origin_text(values: isl.MultiAff) -> str:
    """`S1[(floor((j)/2))]` of isl's `[N] -> { S2[j] -> S1[(floor((j)/2))] }`."""
    return str(values).rpartition("-> ")[2].removesuffix(" }")


@contextmanager
def _refusal(statement: Statement, reference: Reference) -> Generator[None]:
    """A stride in a condition is the fault of the access that it was made for."""
    try:
        yield
    except PolyloomError as error:
        raise _stride_error(statement, reference, error.diagnostics[0].message) from None


def _stride_error(statement: Statement, read: Reference, reason: str) -> PolyloomError:
    message = f"the origin of `{read.name}` in {statement.assign.name} is not affine in the loops around it: {reason}"
    return input_error(
        "PL0251",
        message,
        span=read.span,
        help="index with unit coefficients, or split the loop so that none is strided",
    )
