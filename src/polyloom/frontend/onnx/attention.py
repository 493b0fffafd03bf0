# SPDX-License-Identifier: Apache-2.0
"""Attention with grouped heads, masks and a cache, and rotary embeddings (ONNX Operators, Attention, RotaryEmbedding;
Vaswani et al. 2017; Su et al. 2021).

Causal masks and windows are affine conditions on the places of query and key, so that no mask is an array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import Final

from polyloom.frontend.onnx.movement import concatenate, gather_known, pad_value
from polyloom.frontend.onnx.node import Node, Operator
from polyloom.frontend.onnx.reductions import keep_axes, reduce_axes
from polyloom.frontend.onnx.reshape import merged_index
from polyloom.frontend.onnx.tensors import (
    ONE,
    Tensor,
    apply,
    as_number,
    compare,
    constant,
    convert,
    data,
    extent,
    select,
    spread,
)
from polyloom.ir.arrays.program import Cases, Contract, Shape, Value, axes, axis, dtype, element_view, shape
from polyloom.sets import Affine, Condition, Polyhedron


@dataclass(frozen=True, slots=True)
class Heads:
    """Operands as [batch, heads, places, elements]; each head of keys serves `repeats` of queries."""

    query: Value
    key: Value
    value: Value
    repeats: int
    is_flat: bool


def split_heads(value: Value, count: int) -> Value:
    """[batch, places, heads * elements] as [batch, heads, places, elements]."""
    batch, places, whole = shape(value)
    inner = whole.constant // max(count, 1)
    index = (axis(0), axis(2), axis(1) * inner + axis(3))
    return element_view(value, index, (batch, extent(count), places, extent(inner)))


def read_heads(node: Node) -> Heads:
    operands = [node.local(node.value(n)) for n in range(3)]
    is_flat = len(shape(operands[0])) == 3
    if is_flat:
        queries, keys = node.integer("q_num_heads"), node.integer("kv_num_heads")
        counts = (queries, keys, keys)
        wholes = [as_number(shape(each)[2]) for each in operands]
        if any(not n or not c or n % c for n, c in zip(wholes, counts, strict=True)):
            node.fail("PL0182", "elements are not those of all heads", "give q_num_heads and kv_num_heads that fit")
        operands = [split_heads(each, count) for each, count in zip(operands, counts, strict=True)]
    query, key, value = operands
    for number in (4, 5):
        if node.has_operand(number):
            new = key if number == 4 else value
            joined = concatenate(node, [node.value(number), new], 2)
            key, value = (joined, value) if number == 4 else (key, joined)
    counts = [as_number(shape(each)[1]) for each in (query, key)]
    if None in counts or not counts[1] or (counts[0] or 0) % counts[1]:
        node.fail("PL0182", "the heads of queries are no multiple of those of keys", "give heads that fit")
    return Heads(query, key, value, (counts[0] or 0) // counts[1], is_flat)


def _group_heads(query: Value, repeats: int) -> Value:
    """Heads of queries as [groups, repeats]."""
    own = shape(query)
    groups = extent(own[1].constant // repeats)
    index = (axis(0), axis(1) * repeats + axis(2), axis(3), axis(4))
    return element_view(query, index, (own[0], groups, extent(repeats), *own[2:]))


@dataclass(frozen=True, slots=True)
class Frontier:
    """Keys that a query at `i` may see: key - query is at most `ahead` and at least `behind`, affine in the sizes, keys
    end at `length`; of every batch where these differ."""

    ahead: tuple[Affine, ...] | None = None
    behind: tuple[Affine, ...] | None = None
    length: tuple[int, ...] | None = None

    def condition(self) -> Condition | None:
        """On axes [batch, heads, query, key]; None where all are seen."""
        count = max(len(each or ()) for each in (self.ahead, self.behind, self.length))
        if not count:
            return None
        away, pieces = axis(3) - axis(2), list[Polyhedron]()
        for n in range(count):
            forms = [axis(0) - n, -axis(0) + n] if count > 1 else []
            forms += [-away + self.ahead[min(n, len(self.ahead) - 1)]] if self.ahead else []
            forms += [away - self.behind[min(n, len(self.behind) - 1)]] if self.behind else []
            forms += [-axis(3) + self.length[min(n, len(self.length) - 1)] - 1] if self.length else []
            pieces.append(Polyhedron(tuple(forms)))
        return Condition(tuple(pieces))


def read_frontier(node: Node, heads: Heads) -> Frontier:
    """Causal masks are aligned at the last key, behind the cache."""
    lengths = node.integers(6, "lengths of keys") if node.has_operand(6) else None
    left, right = node.integer("left_window_size", -1), node.integer("right_window_size", -1)
    if not node.integer("is_causal") and left < 0 and right < 0:
        return Frontier(length=None if lengths is None else tuple(lengths))
    queries = as_number(shape(heads.query)[2])
    if lengths is not None and queries is not None:
        offsets = tuple(Affine(constant=length - queries) for length in lengths)
    else:
        offsets = (shape(node.value(4))[2] if node.has_operand(4) else Affine(),)
    bounds = [0] if node.integer("is_causal") else []
    bounds += [right] if right >= 0 else []
    ahead = tuple(offset + min(bounds) for offset in offsets) if bounds else None
    behind = tuple(offset - left for offset in offsets) if left >= 0 else None
    return Frontier(ahead, behind, None if lengths is None else tuple(lengths))


def attention(node: Node) -> Sequence[Tensor | None]:
    """softmax(scale Q K^T + mask) V, with what the cache becomes, and scores."""
    heads = read_heads(node)
    scores = _scores(node, heads)
    mode, own = node.integer("qk_matmul_output_mode"), shape(scores)
    shown = scores
    softcap = node.number("softcap", 0.0)
    if softcap:
        kind = dtype(scores)
        inner = apply("tanh", apply("div", scores, constant(softcap, kind)))
        scores = node.local(apply("mul", inner, constant(softcap, kind)))
        shown = scores if mode == 1 else scores if mode == 2 else shown
    masked, may_be_empty = _masked_scores(node, heads, scores)
    shown = masked if mode == 2 else shown
    chances = _softmax(node, masked, may_be_empty)
    shown = chances if mode == 3 else shown
    found = _weighted_values(node, heads, chances)
    keep = [len(node.results) > n and bool(node.results[n]) for n in range(4)]
    return (
        data(found),
        data(heads.key) if keep[1] else None,
        data(heads.value) if keep[2] else None,
        data(element_view(shown, axes(4), own)) if keep[3] else None,
    )


def _scores(node: Node, heads: Heads) -> Value:
    """Products of queries and keys [batch, heads, query, key], scaled."""
    query, key, repeats = heads.query, heads.key, heads.repeats
    size = as_number(shape(query)[3])
    if size is None:
        node.refuse("heads whose size is not known", "give the size: `--set NAME=VALUE`")
    factor = node.number("scale", 1 / sqrt(size))
    if repeats == 1:
        products: Value = Contract(("bhsd", "bhtd"), "bhst", (query, key))
        return node.local(apply("mul", node.local(products), constant(factor, dtype(query))))
    products = node.local(Contract(("bgrsd", "bgtd"), "bgrst", (_group_heads(query, repeats), key)))
    batch, count, places, _ = shape(query)
    scaled = apply("mul", products, constant(factor, dtype(query)))
    wide, whole = shape(products), (batch, count, places, shape(key)[2])
    return node.assemble(whole, dtype(query), [(merged_index(whole, wide), scaled)])


def _masked_scores(node: Node, heads: Heads, scores: Value) -> tuple[Value, bool]:
    """Scores with the mask, and whether a query may see no key at all."""
    own, kind = shape(scores), dtype(scores)
    least = constant(-inf, kind)
    if node.has_operand(3):
        mask = node.value(3)
        lacking = as_number(own[3] - shape(mask)[-1])
        if lacking is None:
            node.refuse("a mask of another length than the keys", "give the sizes: `--set NAME=VALUE`")
        if lacking > 0:
            rank, outside = len(shape(mask)), constant(0, "bool") if dtype(mask) == "bool" else least
            mask = pad_value(mask, outside, (0,) * rank, (*(0,) * (rank - 1), lacking))
        mask = spread(node.local(mask), own)
        scores = select(mask, scores, least) if dtype(mask) == "bool" else apply("add", scores, convert(mask, kind))
    frontier = read_frontier(node, heads)
    condition = frontier.condition()
    if condition is not None:
        scores = Cases(condition, scores, element_view(least, (), own), own)
    # The length of a cache is no number, and never negative.
    first = as_number(frontier.ahead[0]) if frontier.ahead else 0
    plain = condition is None or (frontier.length is None and frontier.behind is None and (first is None or first >= 0))
    return node.local(scores), node.has_operand(3) or not plain


def _softmax(node: Node, scores: Value, may_be_empty: bool) -> Value:
    """Along the keys; a query that sees none has chances of 0."""
    own, kind = shape(scores), dtype(scores)
    most = node.local(reduce_axes("maximum", scores, (3,)))
    if may_be_empty:
        most = node.local(select(compare("eq", most, constant(-inf, kind)), constant(0, kind), most))
    grown = node.local(apply("exp", apply("sub", scores, spread(keep_axes(most, (3,), own), own))))
    total = node.local(reduce_axes("add", grown, (3,)))
    if may_be_empty:
        total = node.local(select(compare("eq", total, constant(0, kind)), constant(1, kind), total))
    return node.local(apply("div", grown, spread(keep_axes(total, (3,), own), own)))


def _weighted_values(node: Node, heads: Heads, chances: Value) -> Value:
    """Sums of values by their chances, in the layout of the queries."""
    batch, count, places, _ = shape(chances)
    inner, repeats, kind = shape(heads.value)[3], heads.repeats, dtype(chances)
    seen, groups = chances, "h"
    if repeats > 1:
        seen, groups = _group_heads(chances, repeats), "gr"
    labels = (f"b{groups}st", f"b{groups[0]}tv")
    if not heads.is_flat and repeats == 1:
        return Contract(labels, f"b{groups}sv", (seen, heads.value))
    result = f"bs{groups}v" if heads.is_flat else f"b{groups}sv"
    found = Contract(labels, result, (seen, heads.value))
    whole: Shape = (batch, places, count * inner.constant) if heads.is_flat else (batch, count, places, inner)
    return node.assemble(whole, kind, [(_merge_index(whole, shape(found)), found)])


def _merge_index(whole: Shape, factors: Shape) -> list[Affine]:
    """The index at places of factors, of which those of extent 1 are always 0."""
    wide = [n for n, each in enumerate(factors) if each != ONE]
    inner = merged_index(tuple(e for e in whole if e != ONE), tuple(factors[n] for n in wide))
    back = {f"${k}": axis(n) for k, n in enumerate(wide)}
    found = iter([form.substitute(back) for form in inner])
    return [Affine() if each == ONE else next(found) for each in whole]


# Rotary embeddings


def rotary_embedding(node: Node) -> Tensor:
    """Pairs of elements turned by angles: halves of a head, or neighbours."""
    given = node.local(node.value())
    is_flat = len(shape(given)) == 3
    count = node.integer("num_heads")
    if is_flat and (not count or (as_number(shape(given)[2]) or 0) % count):
        node.fail("PL0182", "elements are not those of all heads", "give num_heads")
    value = split_heads(given, count) if is_flat else given
    own = shape(value)
    turned = node.integer("rotary_embedding_dim") or as_number(own[3])
    if turned is None:
        node.refuse("heads whose size is not known", "give the size: `--set NAME=VALUE`")
    half = turned // 2
    cosines, sines = (_angles(node, number, (*own[:3], extent(half))) for number in (1, 2))
    pairs = [axis(3) * 2, axis(3) * 2 + 1] if node.integer("interleaved") else [axis(3), axis(3) + half]
    places = axes(3)
    x, y = (element_view(value, (*places, at), (*own[:3], extent(half))) for at in pairs)
    real = apply("sub", apply("mul", cosines, x), apply("mul", sines, y))
    imaginary = apply("add", apply("mul", sines, x), apply("mul", cosines, y))
    parts: list[tuple[Sequence[Affine], Value]] = [((*places, pairs[0]), real), ((*places, pairs[1]), imaginary)]
    rest = own[3] - turned
    if rest != Affine():
        behind = (*places, axis(3) + turned)
        parts.append((behind, element_view(value, behind, (*own[:3], rest))))
    if not is_flat:
        return data(node.assemble(own, dtype(given), parts))
    inner = own[3].constant
    flat = [((index[0], index[2], index[1] * inner + index[3]), part) for index, part in parts]
    return data(node.assemble(shape(given), dtype(given), flat))


def _angles(node: Node, number: int, extents: Shape) -> Value:
    """Cosines or sines [batch, places, half], or rows of a table at positions, for all heads."""
    table = node.value(number)
    if node.has_operand(3):
        positions = node.known_array(3)
        if positions is None or positions.dtype == object:
            node.integers(3, "positions")
            return table
        table = gather_known(node, table, 0, positions)
    return element_view(node.local(table), (axis(0), axis(2), axis(3)), extents)


OPERATORS: Final[Mapping[str, Operator]] = {
    "Attention": attention,
    "RotaryEmbedding": rotary_embedding,
}
