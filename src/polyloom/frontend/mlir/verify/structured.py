# SPDX-License-Identifier: Apache-2.0
"""Structured operations: an affine map for each operand with a result for each axis, named operations with the operands
of their row, axes that exist, and bodies with an argument for each operand (MLIR language reference, dialect linalg).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from xdsl.dialects import builtin
from xdsl.ir import Block

from polyloom.frontend.mlir.dialects.linalg_ops import ELEMENTWISE, NAMED, AxesOp, StructuredOp
from polyloom.frontend.mlir.element_types import is_array_type, is_kind, scalar_type
from polyloom.frontend.mlir.verify.violation import rank

_ONE_OUTPUT: Final = ("map", "transpose", "broadcast")


def verify_structure(operation: Any) -> Iterator[str]:
    """What is wrong with a structured operation."""
    if operation.name == "linalg.index":
        yield from _verify_index(operation)
    if not isinstance(operation, StructuredOp | AxesOp):
        return
    name = operation.name.removeprefix("linalg.")
    if not operation.outputs or not all(is_array_type(o.type) for o in operation.outputs):
        yield "an output is no array"
    elif len(operation.results) not in (0, len(operation.outputs)):
        yield f"{len(operation.outputs)} outputs have {len(operation.results)} results"
    elif (name in NAMED or name in _ONE_OUTPUT) and len(operation.outputs) != 1:
        yield f"one output is expected, and {len(operation.outputs)} are given"
    elif name in ELEMENTWISE or name == "map":
        yield from _verify_elementwise(operation, name)
    elif name in NAMED:
        yield from _verify_row(operation, NAMED[name].axes)
    elif name == "generic":
        yield from _verify_maps(operation, operation.properties["indexing_maps"], _iterators(operation))
        yield from _verify_body(operation, len(operation.operands))
    elif name == "reduce":
        yield from _verify_reduction(operation)
    else:
        yield from _verify_axes(operation, name)


def _verify_index(operation: Any) -> Iterator[str]:
    """linalg.index names a loop of the operation around it."""
    around = operation.parent_op()
    while around is not None and not isinstance(around, StructuredOp):
        around = around.parent_op()
    loops = 0
    if around is not None and around.name == "linalg.generic":
        loops = _iterators(around)
    elif around is not None:
        loops = max((rank(o) or 0 for o in around.operands), default=0)
    number = operation.properties["dim"].value.data
    if not 0 <= number < loops:
        yield f"there is no loop {number} around it"


def _iterators(operation: Any) -> int:
    """Loops of linalg.generic."""
    return len(operation.properties["iterator_types"].data)


def _verify_elementwise(operation: Any, name: str) -> Iterator[str]:
    inputs, axes = len(operation.inputs), rank(operation.outputs[0])
    if name != "map" and inputs != ELEMENTWISE[name]:
        yield f"{ELEMENTWISE[name]} inputs are expected, and {inputs} are given"
    # A scalar is the same for every element.
    if any(rank(o) not in (axes, None if name != "map" else axes) for o in operation.inputs):
        yield "its arrays have different ranks"
    if name == "map":
        yield from _verify_body(operation, inputs, inputs + 1)


def _verify_row(operation: Any, axes: str) -> Iterator[str]:
    """A product, a convolution or a pooling has the operands of its row, with these axes."""
    sources = axes.replace("->", ",").split(",")
    if len(operation.operands) != len(sources):
        yield f"{len(sources) - 1} inputs are expected, and {len(operation.inputs)} are given"
        return
    given = operation.attributes.get("indexing_maps") or operation.properties.get("indexing_maps")
    if given is None and operation.name == "linalg.contract":
        yield "it has no indexing_maps"
        return
    if given is not None:
        yield from _verify_maps(operation, given, None)
        return
    for operand, source in zip(operation.operands, sources, strict=True):
        # A window `(h*y)` is one axis.
        wanted = source.count("(") + sum(c.isalpha() for c in source) - 2 * source.count("(")
        # The zero points of quantized products have no axes, and are scalars.
        if (rank(operand) or 0) != wanted:
            yield f"an operand has {rank(operand)} axes, and {wanted} are expected"
    windows = sources[0].count("(")
    for key in ("strides", "dilations"):
        found = operation.attributes.get(key) or operation.properties.get(key)
        if found is not None and not _are_positive_integers(found, windows):
            yield f"{key} are {windows} positive integers"


def _are_positive_integers(found: Any, count: int) -> bool:
    if not is_kind(found, builtin.DenseIntOrFPElementsAttr | builtin.DenseArrayBase):
        return False
    values = list(found.get_values())
    return len(values) in (1, count) and all(isinstance(v, int) and v > 0 for v in values)


def _verify_maps(operation: Any, given: Any, loops: int | None) -> Iterator[str]:
    """A map for each operand, of the same loops, and a result for each axis."""
    found: list[Any] = list(getattr(given, "data", ()))
    if len(found) != len(operation.operands) or not all(is_kind(m, builtin.AffineMapAttr) for m in found):
        yield "it has not one affine map for each operand"
        return
    loops = found[0].data.num_dims if loops is None else loops
    for operand, each in zip(operation.operands, found, strict=True):
        if each.data.num_dims != loops or each.data.num_symbols:
            yield f"the map {each.data} has not {loops} dimensions alone"
        elif len(each.data.results) != (rank(operand) or 0):
            yield f"the map {each.data} is of an operand of {rank(operand) or 0} axes"


def _verify_body(operation: Any, *counts: int) -> Iterator[str]:
    """A body has an argument for each operand, of its elements, and gives an element for each output."""
    if len(operation.bodies) != 1 or not operation.bodies[0].blocks:
        yield "it has no body"
        return
    block: Block = operation.bodies[0].block
    elements = tuple(scalar_type(o.type) for o in operation.operands)
    if len(block.args) not in counts or tuple(block.arg_types) != elements[: len(block.args)]:
        yield "its body has not one argument for each operand, of the type of its elements"
    last = block.last_op
    if last is None or tuple(last.operand_types) != tuple(scalar_type(o.type) for o in operation.outputs):
        yield "its body does not give one element for each output"


def _verify_reduction(operation: Any) -> Iterator[str]:
    inputs, outputs = operation.inputs, operation.outputs
    ranks = {rank(value) for value in inputs}
    if len(ranks) != 1 or None in ranks or len(inputs) != len(outputs):
        yield "it has not one input for each output, all of one rank"
        return
    axes = rank(inputs[0]) or 0
    summed = list(operation.properties["dimensions"].get_values())
    if not _are_axes(summed, axes) or any(rank(o) != axes - len(summed) for o in outputs):
        yield f"the axes {summed} of {axes} do not leave those of the output"
    yield from _verify_body(operation, len(operation.operands))


def _verify_axes(operation: Any, name: str) -> Iterator[str]:
    """linalg.transpose and linalg.broadcast of one input."""
    if len(operation.inputs) != 1 or rank(operation.inputs[0]) is None:
        yield "one array is expected as its input"
        return
    before, after = rank(operation.inputs[0]) or 0, rank(operation.outputs[0]) or 0
    key = "permutation" if name == "transpose" else "dimensions"
    axes = list(operation.properties[key].get_values())
    left = after - len(axes) if name == "broadcast" else after
    if not _are_axes(axes, after) or before != left or (name == "transpose" and len(axes) != after):
        yield f"the {key} {axes} do not fit arrays of {before} and {after} axes"


def _are_axes(axes: Sequence[int], count: int) -> bool:
    return len(set(axes)) == len(axes) and all(0 <= n < count for n in axes)
