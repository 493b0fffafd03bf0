# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, and Einstein sums: contractions of the array form, which are summed in index order.

Products of integers of 8 bits are those of i32 (MatMulInteger), of which the zero points are taken away first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from polyloom.frontend.onnx.node import Node, Operator
from polyloom.frontend.onnx.tensors import ONE, Tensor, apply, constant, convert, data, spread
from polyloom.ir.arrays.program import Contract, Shape, Value, axes, dtype, element_view, shape
from polyloom.ir.operations import FLOATS
from polyloom.sets import Affine

_LABELS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def matrix_product(node: Node, left: Value, right: Value) -> Value:
    """NumPy's matmul: products of the last two axes, the others broadcast; a vector is a row or a column."""
    a, b = shape(left), shape(right)
    if not a or not b:
        node.fail("PL0182", "a product of scalars", "multiply them with Mul")
    if len(a) == 1 or len(b) == 1:
        wide = element_view(left, (axes(2)[1],), (ONE, *a)) if len(a) == 1 else left
        other = element_view(right, (axes(2)[0],), (*b, ONE)) if len(b) == 1 else right
        found = node.local(matrix_product(node, wide, other))
        own = shape(found)
        drop = {*([len(own) - 2] if len(a) == 1 else []), *([len(own) - 1] if len(b) == 1 else [])}
        kept = [n for n in range(len(own)) if n not in drop]
        index = [Affine()] * len(own)
        for place, n in zip(axes(len(kept)), kept, strict=True):
            index[n] = place
        return element_view(found, index, tuple(own[n] for n in kept))
    if a[-1] != b[-2]:
        node.fail("PL0182", f"rows of {a[-1]} elements times columns of {b[-2]}", "give matrices that fit")
    outer = node.common_shape([a[:-2], b[:-2]])
    # a, b and c are the rows, the sum and the columns.
    batch = _LABELS[3 : 3 + len(outer)]
    (left, first), (right, second) = (_batch_operand(v, outer, batch) for v in (left, right))
    return Contract((f"{first}ab", f"{second}bc"), f"{batch}ac", (left, right))


def _batch_operand(value: Value, outer: Shape, labels: str) -> tuple[Value, str]:
    """A matrix operand and the labels of its outer axes, of which those that are broadcast are left out."""
    own = shape(value)
    first = len(outer) - (len(own) - 2)
    # A contraction runs over every label of an operand: one that is broadcast has no label here, so that it is read
    # once and not copied.
    kept = [n for n in range(len(own) - 2) if own[n] == outer[first + n]]
    if len(kept) == len(own) - 2:
        return value, labels[first:]
    places = axes(len(kept) + 2)
    index = [places[kept.index(n)] if n in kept else Affine() for n in range(len(own) - 2)]
    extents = (*(own[n] for n in kept), *own[-2:])
    return element_view(value, [*index, *places[-2:]], extents), "".join(labels[first + n] for n in kept)


def matmul(node: Node) -> Tensor:
    return data(matrix_product(node, node.value(0), node.value(1)))


def transpose_matrix(value: Value) -> Value:
    """A matrix with its two axes exchanged."""
    own = shape(value)
    return element_view(value, axes(2)[::-1], own[::-1])


def gemm(node: Node) -> Tensor:
    """alpha A B + beta C."""
    a, b = node.value(0), node.value(1)
    a = transpose_matrix(a) if node.integer("transA") else a
    b = transpose_matrix(b) if node.integer("transB") else b
    kind = dtype(a)
    alpha, beta = node.number("alpha", 1.0), node.number("beta", 1.0)
    found = node.local(matrix_product(node, a, b))
    # A product with 1 would cost an operation per element and change no bit.
    if alpha != 1:
        found = apply("mul", found, constant(alpha, kind))
    # ONNX operator Gemm, version 11 on: C is optional, and broadcast to the result alone.
    if not node.has_operand(2) or beta == 0:
        return data(found)
    added = spread(node.value(2), shape(found))
    return data(apply("add", found, apply("mul", added, constant(beta, kind)) if beta != 1 else added))


def einsum(node: Node) -> Tensor:
    """An Einstein sum; axes of an ellipsis get labels of their own, and extents of 1 are broadcast."""
    equation = node.text("equation", "").replace(" ", "")
    inputs, arrow, output = equation.partition("->")
    values = [node.value(n) for n in range(len(node.operands))]
    terms = inputs.split(",")
    if len(terms) != len(values):
        node.fail("PL0182", f"the equation '{equation}' has other operands than the node", "write one term for each")
    # An ellipsis may have another rank in each operand; these are aligned at their last axis, as in NumPy.
    ranks = [len(shape(v)) - len(t.replace("...", "")) for v, t in zip(values, terms, strict=True)]
    most = max((r for r, t in zip(ranks, terms, strict=True) if "..." in t), default=0)
    free = [label for label in _LABELS if label not in equation][:most]
    terms = [t.replace("...", "".join(free[most - r :]) if r else "") for r, t in zip(ranks, terms, strict=True)]
    if not arrow:
        # Without an arrow the result has the labels that occur once, in alphabetical order, behind those of the
        # ellipsis (numpy.einsum, implicit mode).
        once = sorted(label for label in {*"".join(terms)} - {*free} if "".join(terms).count(label) == 1)
        output = "..." + "".join(once)
    result = output.replace("...", "".join(free))
    values, terms = _drop_repeated_extents(node, values, terms)
    if dtype(values[0]) not in FLOATS and dtype(values[0]) == "bool":
        node.refuse("an Einstein sum of truths")
    return data(Contract(tuple(terms), result, tuple(values)))


def _drop_repeated_extents(node: Node, values: Sequence[Value], terms: Sequence[str]) -> tuple[list[Value], list[str]]:
    """Operands without axes of extent 1 whose label has another extent elsewhere."""
    sizes = dict[str, Affine]()
    for value, term in zip(values, terms, strict=True):
        if len(term) != len(shape(value)):
            node.fail("PL0182", f"the term '{term}' of the equation names other axes than the operand has", "name all")
        for label, size in zip(term, shape(value), strict=True):
            sizes[label] = size if sizes.get(label, ONE) == ONE else sizes[label]
    found, names = list[Value](), list[str]()
    for value, term in zip(values, terms, strict=True):
        own = shape(value)
        kept = [n for n, label in enumerate(term) if own[n] == sizes[label]]
        index = [axes(len(kept))[kept.index(n)] if n in kept else Affine() for n in range(len(own))]
        found.append(element_view(value, index, tuple(own[n] for n in kept)))
        names.append("".join(term[n] for n in kept))
    return found, names


def integer_operand(node: Node, value: int, zero: int, axis_of_vector: int) -> Value:
    """An operand of 8 bits as i32, without its zero point, which may be one per row or column."""
    found = convert(node.value(value), "i32")
    if not node.has_operand(zero):
        return found
    point, own = convert(node.value(zero), "i32"), shape(found)
    # ONNX operator MatMulInteger, version 10: one per row of the left operand, or per column of the right one.
    if len(shape(point)) == 1 and shape(point) != (ONE,):
        at = axes(len(own))[axis_of_vector]
        point = element_view(point, (at,), own)
    return node.local(apply("sub", found, spread(point, own)))


def matmul_integer(node: Node) -> Tensor:
    left, right = integer_operand(node, 0, 2, -2), integer_operand(node, 1, 3, -1)
    return data(matrix_product(node, left, right))


OPERATORS: Final[Mapping[str, Operator]] = {
    "MatMul": matmul,
    "Gemm": gemm,
    "Einsum": einsum,
    "MatMulInteger": matmul_integer,
}
