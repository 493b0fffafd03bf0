# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements: views where an affine map says which element, arrays of parts where several do.

Indices that are known become views, too: `Gather` with constant indices is an array of strides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from polyloom.frontend.onnx.node import Node, Operator
from polyloom.frontend.onnx.reshape import reshape_value, squeeze_view, unsqueeze_view
from polyloom.frontend.onnx.tensors import (
    ONE,
    Known,
    Tensor,
    as_number,
    constant,
    convert,
    data,
    extent,
    piecewise_value,
    spread,
)
from polyloom.ir.arrays.program import Form, Gather, Shape, Value, axes, axis, dtype, element_view, shape
from polyloom.ir.numbers import NUMPY
from polyloom.ir.pla import Constant
from polyloom.sets import Affine

_RUNS: Final = 32
"""Arithmetic progressions of constant indices that become views of their own, at most."""


def transpose(node: Node) -> Tensor:
    value = node.value()
    extents = shape(value)
    order = node.list("perm") or [*reversed(range(len(extents)))]
    index = [axes(len(extents))[order.index(n)] for n in range(len(extents))]
    return data(element_view(value, index, tuple(extents[n] for n in order)), node.tensor().kind)


def known_shape(node: Node, number: int, name: str) -> list[Affine]:
    """Extents that an operand or, up to version 4, an attribute gives."""
    # ONNX operator Reshape, version 1 had its shape as an attribute.
    if not node.has_operand(number) and name in node.attributes:
        return [extent(n) for n in node.list(name) or []]
    found = node.known_array(number)
    if found is None:
        node.integers(number, "shape")
        node.fail("PL0182", "the shape is missing", "give a shape")
    return [extent(n) for n in found.reshape(-1)]


def reshape(node: Node) -> Tensor:
    own = node.tensor().shape
    wanted = known_shape(node, 1, "shape")
    if not node.integer("allowzero"):
        # 0 copies the extent in the same place, which may be a size.
        wanted = [own[n] if each == Affine() and n < len(own) else each for n, each in enumerate(wanted)]
    if Affine((), -1) in wanted:
        place = wanted.index(Affine((), -1))
        rest = wanted[:place] + wanted[place + 1 :]
        wanted[place] = _quotient(node, own, tuple(rest))
    return data(reshape_value(node, node.value(), tuple(wanted)), node.tensor().kind)


def _quotient(node: Node, whole: Shape, rest: Shape) -> Affine:
    """The extent that is left of the elements of one shape, divided by those of another."""
    left, below = [*whole], 1
    for each in rest:
        # A size in both shapes cancels; any other one would have to divide.
        if each in left and not each.is_constant:
            left.remove(each)
        elif each.is_constant:
            below *= each.constant
        else:
            node.refuse(f"the extent -1 is not known where {each} is another", "give the sizes: `--set NAME=VALUE`")
    number, forms = 1, [each for each in left if not each.is_constant]
    for each in left:
        number *= each.constant if each.is_constant else 1
    if len(forms) > 1:
        help = "give all of them but one: `--set NAME=VALUE`"
        node.refuse(f"the extent -1 is the product of {' and '.join(map(str, forms))}", help)
    total = forms[0] * number if forms else extent(number)
    if below == 0 or total.constant % below or any(c % below for _, c in total.terms):
        node.fail("PL0182", "the shape has another number of elements", "give extents with the same product")
    return Affine(tuple((name, c // below) for name, c in total.terms), total.constant // below)


def flatten(node: Node) -> Tensor:
    own = node.tensor().shape
    given = node.integer("axis", 1)
    # Not `node.axis`: the rank itself is an axis here, behind all others.
    at = given + len(own) if given < 0 else given
    extents = tuple(_quotient(node, part, ()) for part in (own[:at], own[at:]))
    return data(reshape_value(node, node.value(), extents), node.tensor().kind)


def squeeze(node: Node) -> Tensor:
    value = node.value()
    rank = len(shape(value))
    given = node.list("axes") if node.version < 13 else node.integers(1, "axes")
    away = {node.axis(n, rank) for n in given} if given is not None else {
        n for n, each in enumerate(shape(value)) if each == ONE
    }  # fmt: skip
    if any(shape(value)[n] != ONE for n in away):
        node.fail("PL0182", "an axis that is squeezed has an extent other than 1", "name axes of extent 1")
    return data(squeeze_view(value, [n for n in range(rank) if n not in away]), node.tensor().kind)


def unsqueeze(node: Node) -> Tensor:
    given = (node.list("axes") if node.version < 13 else node.integers(1, "axes")) or []
    rank = node.tensor().rank + len(given)
    return data(unsqueeze_view(node.value(), [node.axis(n, rank) for n in given]), node.tensor().kind)


def expand(node: Node) -> Tensor:
    extents = node.common_shape([node.tensor().shape, tuple(known_shape(node, 1, "shape"))])
    return data(spread(node.value(), extents), node.tensor().kind)


# Slices


def slice_(node: Node) -> Tensor:
    """Slices with constant steps; what lies outside is cut off, as NumPy does."""
    value = node.value()
    extents = shape(value)
    if node.version < 10:
        starts, ends = node.list("starts") or [], node.list("ends") or []
        chosen, steps = node.list("axes"), None
    else:
        starts, ends = node.integers(1, "starts") or [], node.integers(2, "ends") or []
        chosen, steps = node.integers(3, "axes"), node.integers(4, "steps")
    index, sizes = [*axes(len(extents))], [*extents]
    for n, start, end, step in zip(
        chosen or range(len(starts)), starts, ends, steps or [1] * len(starts), strict=False
    ):
        n = node.axis(n, len(extents))
        first, sizes[n] = _slice_bounds(node, extents[n], start, end, step)
        index[n] = first + axis(n) * step
    return data(element_view(value, index, tuple(sizes)), node.tensor().kind)


def _slice_bounds(node: Node, size: Affine, start: int, end: int, step: int) -> tuple[Affine, Affine]:
    """The first place of a slice and how many there are."""
    number = as_number(size)
    if step == 0:
        node.fail("PL0182", "the step of a slice is 0", "give another step")
    if number is not None:
        # Python's slices have the bounds of ONNX (both follow NumPy), but for the end of a descending one.
        places = range(number)[slice(start, end if not (step < 0 and end < -number) else None, step)]
        return extent(places.start if len(places) else 0), extent(len(places))
    # Of a size: bounds that are within it for every value from a least one on.
    first, last = (size + at if at < 0 else size if at >= 2**31 - 1 else extent(at) for at in (start, end))
    if step == -1:
        first, last = (size - 1 if start >= 2**31 - 1 else first), (extent(-1) if end < -(2**30) else last)
        count = first - last
    else:
        count = last - first
    # How many places a longer step takes is a quotient of the size, which is no affine form.
    if abs(step) != 1 or not node.graph.build.require(count, first, size - last if step == 1 else size - 1 - first):
        node.refuse(f"a slice of an axis of {size} elements", "give the size: `--set NAME=VALUE`")
    return first, count


def split(node: Node) -> Sequence[Tensor]:
    value = node.local(node.value())
    extents = shape(value)
    n = node.axis(node.integer("axis"), len(extents))
    sizes = node.list("split") if node.version < 13 else node.integers(1, "split")
    if sizes is None:
        count = node.integer("num_outputs", len(node.results))
        whole = as_number(extents[n])
        if whole is None:
            node.refuse("an axis whose size is not known is split into equal parts", "give the sizes of the parts")
        # ONNX operator Split, version 18: the last part is the smaller one.
        part = -(-whole // count)
        sizes = [min(part, whole - part * k) for k in range(count)]
    found, start = list[Tensor](), Affine()
    for each in sizes:
        index = [start + at if k == n else at for k, at in enumerate(axes(len(extents)))]
        parts = tuple(extent(each) if k == n else size for k, size in enumerate(extents))
        found.append(data(element_view(value, index, parts), node.tensor().kind))
        start = start + each
    return found


def concat(node: Node) -> Tensor:
    values = [node.value(n) for n in range(len(node.operands))]
    along = node.axis(node.integer("axis", 1), len(shape(values[0])))
    return data(concatenate(node, values, along), node.tensor().kind)


def concatenate(node: Node, values: Sequence[Value], along: int) -> Value:
    """An array of parts, one behind the other along an axis."""
    rank, start, parts = len(shape(values[0])), Affine(), list[tuple[list[Affine], Value]]()
    for value in values:
        size = shape(value)[along]
        if size != Affine():
            parts.append(([start + at if n == along else at for n, at in enumerate(axes(rank))], value))
        start = start + size
    extents = tuple(start if n == along else size for n, size in enumerate(shape(values[0])))
    return node.assemble(extents, dtype(values[0]), parts)


def tile(node: Node) -> Tensor:
    """Each axis repeated: it becomes two, of which the outer one is broadcast, and these are merged."""
    # Index n of the result is n mod extent of the operand, which is no affine form; on two axes it is.
    value, repeats = node.value(), node.integers(1, "repeats") or []
    own = shape(value)
    wide = tuple(size for pair in zip(map(extent, repeats), own, strict=True) for size in pair)
    index = [axis(2 * n + 1) for n in range(len(own))]
    extents = tuple(size * count for size, count in zip(own, repeats, strict=True))
    return data(reshape_value(node, element_view(value, index, wide), extents), node.tensor().kind)


# Padding


def pad(node: Node) -> Tensor:
    """Elements around an array: a number, the border, mirrored or periodic ones; negative pads cut off."""
    value = node.value()
    own, mode = shape(value), node.text("mode", "constant")
    amounts = (node.list("pads") if node.version < 11 else node.integers(1, "pads")) or []
    # Pads are [begins..., ends...] of the chosen axes (ONNX operator Pad; `axes` from version 18 on).
    chosen = node.integers(3, "axes") if node.version >= 18 and node.has_operand(3) else [*range(len(own))]
    before, behind = [0] * len(own), [0] * len(own)
    for k, n in enumerate(chosen or []):
        n = node.axis(n, len(own))
        before[n], behind[n] = amounts[k], amounts[k + len(chosen or [])]
    if mode == "constant":
        return data(_pad_number(node, value, before, behind), node.tensor().kind)
    for n in range(len(own)):
        # One axis after the other, so that corners are those of what is padded already.
        value = _pad_axis(node, value, n, before[n], behind[n], mode)
    return data(value, node.tensor().kind)


def _pad_number(node: Node, value: Value, before: Sequence[int], behind: Sequence[int]) -> Value:
    kind = dtype(value)
    number: Value = constant(node.number("value", 0), kind)
    if node.version >= 11 and node.has_operand(2):
        number = convert(squeeze_view(node.value(2), ()), kind)
    return pad_value(value, number, before, behind)


def pad_value(value: Value, number: Value, before: Sequence[int], behind: Sequence[int]) -> Value:
    """A piecewise value: the array within its bounds, a number outside."""
    own, places = shape(value), axes(len(shape(value)))
    extents = tuple(size + (a + b) for size, a, b in zip(own, before, behind, strict=True))
    index = [at - a for at, a in zip(places, before, strict=True)]
    forms = list[Affine]()
    for form, size, a, b in zip(index, own, before, behind, strict=True):
        # A pad that cuts off needs no condition: its index is within the array.
        forms += [form] if a > 0 else []
        forms += [size - form - 1] if b > 0 else []
    return piecewise_value(forms, element_view(value, index, extents), spread(number, extents), extents)


def _pad_axis(node: Node, value: Value, n: int, before: int, behind: int, mode: str) -> Value:
    """Pads of one axis, from what is there."""
    if before == behind == 0:
        return value
    value = node.local(value)
    size = shape(value)[n]
    first, last = max(-before, 0), size - max(-behind, 0)

    def part(place: Affine, count: Affine) -> Value:
        index = [place if k == n else at for k, at in enumerate(axes(len(shape(value))))]
        return element_view(value, index, tuple(count if k == n else s for k, s in enumerate(shape(value))))

    at = axis(n)
    middle = part(at + first, last - first)
    # `reflect` leaves the border itself out: index -1 is element 1.
    left = {"edge": extent(0), "reflect": extent(before) - at, "wrap": size - before + at}.get(mode)
    right = {"edge": size - 1, "reflect": size - 2 - at, "wrap": at}.get(mode)
    if left is None or right is None:
        node.refuse(f"the mode {mode}", "use constant, edge, reflect or wrap")
    parts = [part(left, extent(before))] if before > 0 else []
    parts += [middle, *([part(right, extent(behind))] if behind > 0 else [])]
    return concatenate(node, parts, n)


def trilu(node: Node) -> Tensor:
    """The upper or the lower triangle; the rest is 0."""
    value = node.value()
    extents, shift = shape(value), (node.integers(1, "k") or [0])[0]
    row, column = axis(len(extents) - 2), axis(len(extents) - 1)
    upper = column - row - shift
    form = upper if node.integer("upper", 1) else -upper
    zero = element_view(constant(0, dtype(value)), (), extents)
    return data(piecewise_value([form], value, zero, extents), node.tensor().kind)


# Gathers


def gather(node: Node) -> Tensor:
    """Elements along an axis: at constant indices views, at data the array form's gather."""
    source, n = node.value(0), node.axis(node.integer("axis"), node.tensor().rank)
    places = node.known_array(1)
    if places is None or places.dtype == object:
        index = convert(node.value(1), "i32")
        return data(Gather(node.local(source), index, n), node.tensor().kind)
    return data(gather_known(node, source, n, places), node.tensor().kind)


def gather_known(node: Node, source: Value, n: int, places: Known) -> Value:
    """Elements at constant indices: views of runs of them, or a gather at an array that the model brings."""
    size, own = as_number(shape(source)[n]), shape(source)
    numbers = [int(each) for each in places.reshape(-1)]
    if size is not None and any(not -size <= each < size for each in numbers):
        node.refuse("an index is outside of the axis", "give indices that the axis has")
    extents = (*own[:n], *map(extent, places.shape), *own[n + 1 :])
    if not numbers:
        return element_view(constant(0, dtype(source)), (), extents)
    runs = progressions([each if size is None or each >= 0 else each + size for each in numbers])
    # Each run is a store of its own in the program. Many are cheaper as a table of indices, which only machines with
    # indirect loads can use.
    if len(runs) > _RUNS:
        index = node.graph.constant_array(places.astype(NUMPY["i32"]), f"{node.results[0]}_indices")
        return Gather(node.local(source), index, n)
    parts = [_progression_view(source, n, *run) for run in runs]
    return reshape_value(node, parts[0] if len(parts) == 1 else concatenate(node, parts, n), extents)


def progressions(numbers: Sequence[int]) -> list[tuple[int, int, int]]:
    """Numbers as arithmetic progressions: first number, step, count (greedy)."""
    found, at = list[tuple[int, int, int]](), 0
    while at < len(numbers):
        end, step = at + 1, numbers[at + 1] - numbers[at] if at + 1 < len(numbers) else 0
        while end < len(numbers) and numbers[end] - numbers[end - 1] == step:
            end += 1
        found.append((numbers[at], step, end - at))
        at = end
    return found


def _progression_view(source: Value, n: int, first: int, step: int, count: int) -> Value:
    own = shape(source)
    start = own[n] + first if first < 0 else extent(first)
    index = [start + at * step if k == n else at for k, at in enumerate(axes(len(own)))]
    return element_view(source, index, tuple(extent(count) if k == n else size for k, size in enumerate(own)))


def depth_to_space(node: Node) -> Tensor:
    """Channels as blocks of pixels."""
    value, block = node.value(), node.integer("blocksize")
    batch, channels, height, width = shape(value)
    inner = as_number(channels)
    if inner is None or not block or inner % (block * block):
        node.refuse("channels that are no multiple of the square of the block size")
    side, depth = extent(block), extent(inner // (block * block))
    if node.text("mode", "DCR") == "DCR":
        # ONNX operator DepthToSpace: DCR has the block in the outer part of the channels, CRD in the inner one.
        wide, order = (batch, side, side, depth, height, width), (0, 3, 4, 1, 5, 2)
    else:
        wide, order = (batch, depth, side, side, height, width), (0, 1, 4, 2, 5, 3)
    split_axes = reshape_value(node, value, wide)
    moved = element_view(split_axes, [axis(order.index(n)) for n in range(6)], tuple(wide[n] for n in order))
    return data(reshape_value(node, moved, (batch, depth, height * block, width * block)), node.tensor().kind)


def space_to_depth(node: Node) -> Tensor:
    value, block = node.value(), node.integer("blocksize")
    batch, channels, height, width = shape(value)
    sizes = [as_number(each) for each in (height, width)]
    if None in sizes or not block or any((size or 0) % block for size in sizes):
        node.refuse("a height or a width that is no multiple of the block size")
    rows, columns = ((size or 0) // block for size in sizes)
    side = extent(block)
    wide = (batch, channels, extent(rows), side, extent(columns), side)
    # ONNX operator SpaceToDepth, version 28: DCR has the block in the outer part of the channels, CRD in the inner one.
    order = (0, 3, 5, 1, 2, 4) if node.text("mode", "DCR") == "DCR" else (0, 1, 3, 5, 2, 4)
    split_axes = reshape_value(node, value, wide)
    moved = element_view(split_axes, [axis(order.index(n)) for n in range(6)], tuple(wide[n] for n in order))
    extents = (batch, channels * (block * block), extent(rows), extent(columns))
    return data(reshape_value(node, moved, extents), node.tensor().kind)


def diagonal_matrix(node: Node) -> Tensor:
    """Ones on a diagonal."""
    from polyloom.frontend.onnx.elementwise import element_kind

    given = node.attributes.get("dtype")
    kind = node.tensor().kind if given is None else element_kind(int(given))
    if kind is None or kind == "i64":
        node.fail("PL0185", "no machine has elements of this type", "use numbers of 8 to 32 bits, or double")
    extents = node.tensor().shape
    form = axis(1) - axis(0) - node.integer("k")
    one, zero = (element_view(constant(number, kind), (), extents) for number in (1, 0))
    return data(piecewise_value([form, -form], one, zero, extents))


def encode_indices(node: Node) -> Tensor:
    """One of two values, by whether the place along a new axis is the index."""
    from polyloom.frontend.onnx.tensors import apply, compare, select

    index, depth = node.value(0), (node.integers(1, "depth") or [0])[0]
    own = shape(index)
    n = node.axis(node.integer("axis", -1), len(own) + 1)
    extents = (*own[:n], extent(depth), *own[n:])
    whole = convert(spread(unsqueeze_view(index, [n]), extents), "i32")
    whole = node.local(whole)
    at = Form(axis(n), "i32", extents)
    # Indices from -depth to -1 count from the end; others match no place and give `off` everywhere.
    wrapped = select(compare("lt", whole, Constant(0, "i32")), apply("add", whole, Constant(depth, "i32")), whole)
    values = node.local(node.value(2))
    off, on = (element_view(values, (extent(k),), ()) for k in (0, 1))
    return data(select(compare("eq", node.local(wrapped), at), on, off))


OPERATORS: Final[Mapping[str, Operator]] = {
    "Transpose": transpose,
    "Reshape": reshape,
    "Flatten": flatten,
    "Squeeze": squeeze,
    "Unsqueeze": unsqueeze,
    "Expand": expand,
    "Slice": slice_,
    "Split": split,
    "Concat": concat,
    "Tile": tile,
    "Pad": pad,
    "Trilu": trilu,
    "Gather": gather,
    "DepthToSpace": depth_to_space,
    "SpaceToDepth": space_to_depth,
    "EyeLike": diagonal_matrix,
    "OneHot": encode_indices,
}
MOVES: Final = frozenset(OPERATORS) - {"EyeLike", "OneHot"}
"""Operators that no arithmetic is in: half precision stays what it is."""
