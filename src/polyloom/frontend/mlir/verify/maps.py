# SPDX-License-Identifier: Apache-2.0
"""Affine maps and integer sets: as many operands as dimensions and symbols, and as many results as are asked for; all
numbers fit into 64 bits (MLIR language reference, dialects affine and builtin).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from xdsl.dialects import builtin
from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr

from polyloom.frontend.mlir.element_types import is_kind
from polyloom.frontend.mlir.verify.violation import rank

# MLIR itself keeps constants of the type index in 64 bits (IndexType::kInternalStorageBitWidth).
_BITS: Final = 64
# eq to uge, and false to true (MLIR language reference, dialect arith).
_PREDICATES: Final = {"arith.cmpi": 10, "arith.cmpf": 16}
"""How many predicates a comparison has."""


def verify_maps(operation: Any) -> Iterator[str]:
    """What is wrong with an operation's affine maps, sets, bounds and numbers."""
    yield from _verify_numbers(operation)
    if operation.name in ("affine.load", "affine.store"):
        array = operation.operands[0 if operation.name == "affine.load" else 1]
        count = len(operation.operands) - (1 if operation.name == "affine.load" else 2)
        found = operation.properties.get("map")
        if found is not None:
            yield from _verify_map(found.data, count, rank(array))
        elif count != rank(array):
            yield f"{count} indices of an array of {rank(array)} axes"
    elif operation.name in ("affine.max", "affine.min"):
        yield from _verify_map(operation.properties["map"].data, len(operation.operands), None)
    elif operation.name == "affine.for":
        for bound in ("lowerBoundMap", "upperBoundMap"):
            yield from _verify_results(operation.properties[bound].data, None)
    elif operation.name == "affine.if" and not operation.properties["condition"].data.constraints:
        yield "its set has no constraint"
    elif operation.name == "affine.parallel":
        yield from _verify_groups(operation)


def _verify_map(found: Any, operands: int, results: int | None) -> Iterator[str]:
    if found.num_dims + found.num_symbols != operands:
        yield f"the map {found} has {operands} operands"
    yield from _verify_results(found, results)


def _verify_results(found: Any, results: int | None) -> Iterator[str]:
    # A bound or an extreme needs a result, an access has one for each axis.
    if len(found.results) != (max(len(found.results), 1) if results is None else results):
        yield f"the map {found} has {len(found.results)} results, and {results or 'at least one'} is expected"


def _verify_groups(operation: Any) -> Iterator[str]:
    """affine.parallel: bounds and a step for each loop, a reduction for each result."""
    loops = len(operation.regions[0].block.args)
    for side in ("lower", "upper"):
        groups = tuple(operation.properties[f"{side}BoundsGroups"].get_values())
        if len(groups) != loops or any(count < 1 for count in groups):
            yield f"{loops} loops have {len(groups)} {side} bounds, or one of these is empty"
    if len(operation.properties["steps"].data) != loops:
        yield f"{loops} loops have {len(operation.properties['steps'].data)} steps"
    if len(operation.properties["reductions"].data) != len(operation.results):
        yield "it has not one reduction for each result"


def _verify_numbers(operation: Any) -> Iterator[str]:
    """Constants, predicates and affine expressions within the range of their types."""
    for attribute in (*operation.properties.values(), *operation.attributes.values()):
        if is_kind(attribute, builtin.IntegerAttr) and not _fits(attribute.value.data, _width(attribute)):
            yield f"a constant does not fit into {_width(attribute)} bits"
        is_affine = is_kind(attribute, builtin.AffineMapAttr | builtin.AffineSetAttr)
        if is_affine and not all(_fits(number, _BITS) for number in _constants(attribute.data)):
            yield "a number of an affine expression does not fit into 64 bits"
    most = _PREDICATES.get(operation.name)
    if most is not None and not 0 <= int(operation.properties["predicate"].value.data) < most:
        yield "there is no predicate of this number"


def _width(attribute: Any) -> int:
    return int(attribute.type.width.data) if is_kind(attribute.type, builtin.IntegerType) else _BITS


def _fits(number: int, width: int) -> bool:
    """Whether bits hold a number, with a sign or without one."""
    return -(1 << max(width - 1, 0)) <= number < 1 << width


def _constants(found: Any) -> Iterator[int]:
    """Constants of a map or of a set."""
    waiting = list(getattr(found, "results", ()))
    for constraint in getattr(found, "constraints", ()):
        waiting += [constraint.lhs, constraint.rhs]
    while waiting:
        each = waiting.pop()
        if isinstance(each, AffineConstantExpr):
            yield each.value
        elif isinstance(each, AffineBinaryOpExpr):
            waiting += [each.lhs, each.rhs]
