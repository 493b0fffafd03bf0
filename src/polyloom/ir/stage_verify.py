# SPDX-License-Identifier: Apache-2.0
"""Verifier of stage programs, as a list of rules: names, dimensions, the order of stages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from polyloom.diagnostics import INTERNAL, Diagnostic, enforce
from polyloom.ir.formula import Apply, Leaf, Sum, index_dimension, leaves, result_element, subterms
from polyloom.ir.operations import BY_NAME
from polyloom.ir.stage import Fold, Formula, Product, Program, Stage
from polyloom.sets import Affine

Rule = Callable[[Program], Iterator[Diagnostic]]


def verify(program: Program) -> None:
    """Raise PL0979 with every violation of the first rule that is violated."""
    enforce(RULES, program)


def arrays_are_declared(program: Program) -> Iterator[Diagnostic]:
    """Each array has an element type and a shape."""
    used = {name for stage in program.stages for name in (stage.result, *stage.reads)}
    used |= {name for o in program.outputs for name in (o.array, o.definition)}
    for name in sorted(used):
        if name not in program.shapes or name not in program.types:
            yield _fault(f"{name} has no type or no shape")


def results_have_one_stage(program: Program) -> Iterator[Diagnostic]:
    for name, number in Counter(stage.result for stage in program.stages).items():
        if number > 1:
            yield _fault(f"{number} stages compute {name}")


def indices_have_the_rank(program: Program) -> Iterator[Diagnostic]:
    for stage in program.stages:
        for leaf in (*_stage_elements(stage), result_element(stage.result, stage.dims)):
            if len(leaf.index) != len(program.shapes[leaf.array]):
                yield _fault(f"{stage.result}: {leaf.array} has {len(program.shapes[leaf.array])} dimensions")
        if len(set(stage.dims)) != len(stage.dims):
            yield _fault(f"{stage.result} has a dimension twice")


def stages_follow_what_they_read(program: Program) -> Iterator[Diagnostic]:
    """Order of stages: what a stage computes is read behind it; before, only an argument that it overwrites is."""
    # An output may be an argument, too: before its stage, its name means what was given.
    later = program.computed - {o.array for o in program.outputs}
    for stage in program.stages:
        for name in sorted({*stage.reads} & later):
            yield _fault(f"{stage.result} reads {name}, which no stage before computes")
        later -= {stage.result}


def products_are_of_matrices(program: Program) -> Iterator[Diagnostic]:
    """Factors are whole arrays that share the dimension of the sum alone, and the result has all others."""
    for stage in program.stages:
        if not isinstance(stage, Product):
            continue
        left, right = (tuple(map(index_dimension, leaf.index)) for leaf in (stage.left, stage.right))
        # Matrix units read whole rows: neither padding nor a loop that indexes two places.
        if stage.left.padded or stage.right.padded or any(len({*d, ""}) != len(d) + 1 for d in (left, right)):
            yield _fault(f"a factor of {stage.result} is not indexed by one loop in each place")
        elif {*left} & {*right} != {stage.over} or {*left} ^ {*right} != {*stage.dims}:
            yield _fault(f"{stage.result} does not have the dimensions of its factors but {stage.over}")
        elif stage.dims and stage.dims[0] not in left:
            yield _fault(f"{stage.result}: the left factor lacks {stage.dims[0]}")


def formulas_are_of_operations(program: Program) -> Iterator[Diagnostic]:
    """No sums, known operations with all of their operands."""
    for stage in program.stages:
        for part in subterms(stage.term) if isinstance(stage, Formula) else ():
            if isinstance(part, Sum):
                yield _fault(f"{stage.result} has a sum in its formula")
            if isinstance(part, Apply) and len(part.operands) != getattr(BY_NAME.get(part.operation), "arity", None):
                yield _fault(f"{stage.result} applies {part.operation} to {len(part.operands)} operands")


def outputs_are_parts_of_results(program: Program) -> Iterator[Diagnostic]:
    for o in program.outputs:
        own = sorted(n for n in o.at if isinstance(n, int))
        # An array of one element is a number to a stage: an extent of 1 may be no dimension.
        shape = program.shapes[o.array]
        ranks = len(shape), sum(extent != Affine((), 1) for extent in shape)
        if len(o.at) != len(program.shapes[o.definition]) or own not in [list(range(rank)) for rank in ranks]:
            yield _fault(f"{o.array} is no part of {o.definition}")


def folds_are_of_matrices(program: Program) -> Iterator[Diagnostic]:
    """A fold reads a whole array with all of its own dimensions and the one that it folds."""
    for stage in program.stages:
        if isinstance(stage, Fold):
            names = [*map(index_dimension, stage.term.index)] if isinstance(stage.term, Leaf) else []
            if sorted(names) != sorted((*stage.dims, stage.over)) or stage.operation not in ("maximum", "minimum"):
                yield _fault(f"{stage.result} folds no whole array")


RULES: tuple[Rule, ...] = (
    arrays_are_declared,
    results_have_one_stage,
    indices_have_the_rank,
    stages_follow_what_they_read,
    products_are_of_matrices,
    formulas_are_of_operations,
    folds_are_of_matrices,
    outputs_are_parts_of_results,
)


def _stage_elements(stage: Stage) -> tuple[Leaf, ...]:
    return tuple(leaves(stage.term)) if isinstance(stage, Formula) else (stage.left, stage.right)


def _fault(message: str) -> Diagnostic:
    return Diagnostic("PL0979", message, INTERNAL)
