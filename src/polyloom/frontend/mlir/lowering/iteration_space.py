# SPDX-License-Identifier: Apache-2.0
"""Structured operations as loops: the iteration space of `linalg.generic` and of what named operations mean, in the
order of its iterators (MLIR language reference, dialect linalg).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from xdsl.dialects import builtin
from xdsl.ir import Operation
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.tree_form import print_tree
from polyloom.frontend.mlir.dialects.linalg_ops import NAMED
from polyloom.frontend.mlir.element_types import is_array_type, is_kind, scalar_type
from polyloom.frontend.mlir.lowering.integers import map_trees
from polyloom.frontend.mlir.lowering.tensors import Tensors
from polyloom.frontend.mlir.lowering.values import Number, Value, View, element_node
from polyloom.ir.operations import FLOATS

Body = Callable[[list[Number], list[Node]], list[Number]]


@dataclass(frozen=True, slots=True)
class Structure:
    """A structured operation: a map per operand, how many loops, the body on elements and loop counters, and whether it
    reads each output."""

    maps: tuple[AffineMap, ...]
    loops: int
    body: Body
    reads: tuple[bool, ...]


_UNARY: Final = {
    **{name: f"math.{name}" for name in ("exp", "log", "ceil", "floor", "round", "sqrt", "rsqrt", "tanh", "erf")},
    "abs": "math.absf",
    "negf": "arith.negf",
}


def parse_axes(text: str, strides: Sequence[int], dilations: Sequence[int]) -> tuple[list[AffineMap], int]:
    """Maps of a named operation from a row such as `n(h*y)c,yc->nhc`, and the number of its loops: those of the result,
    then what is summed, in the order of the operands."""
    sources, result = text.split("->")
    # Loops of the result are outermost, and what is summed innermost: a sum has the order that the row's operands
    # have.
    letters = list(dict.fromkeys(result + "".join(c for c in sources if c.isalpha())))
    loop = {letter: AffineExpr.dimension(n) for n, letter in enumerate(letters)}
    maps = list[AffineMap]()
    for source in (*sources.split(","), result):
        found, window, at = list[AffineExpr](), 0, 0
        while at < len(source):
            if source[at] == "(":
                position, tap = loop[source[at + 1]], loop[source[at + 3]]
                found.append(position * strides[window] + tap * dilations[window])
                window, at = window + 1, at + 5
            else:
                found.append(loop[source[at]])
                at += 1
        maps.append(AffineMap(len(letters), 0, tuple(found)))
    return maps, len(letters)


class Structured(Tensors):
    """linalg."""

    def lower_structure(self, operation: Any) -> None:
        """Loops over an operation's iteration space. Raises PL0175 where an output overlaps an input."""
        outputs = list(operation.outputs)
        structure = self.structure(operation)
        inputs: list[Value] = [self.frame.values[o] for o in operation.inputs]
        count, at = len(inputs), self.span(operation)
        targets = list[View]()
        for n, output in enumerate(outputs):
            # The destination's elements matter where the body reads them, or where some of them stay.
            keeps = structure.reads[n] or not _covers(structure.maps[count + n])
            is_tensor = is_kind(output.type, builtin.TensorType)
            found = self.destination(output, operation, keeps=keeps) if is_tensor else self.view(output)
            targets.append(found)
        self.check_overlap(operation, inputs, targets, structure)
        self.flush(frozenset(t.identity for t in targets), operation)
        shape = self.iteration_space(operation, structure, [*inputs, *targets])
        with self.loop_nest(shape, at) as counters:
            arguments = list[Number]()
            for view, found in zip([*inputs, *targets], structure.maps, strict=True):
                if isinstance(view, Number):
                    arguments.append(view)
                    continue
                node = element_node(view, map_trees(found, counters, at), at)
                arguments.append(Number(view.dtype, node, reads=frozenset({view.identity})))
            results = structure.body(arguments, counters)
            written = frozenset[str]()
            for n, (target, found) in enumerate(zip(targets, results, strict=True)):
                # Of several outputs all are computed from the elements before any of them is stored.
                if found.reads & written:
                    found = self.hold(found, "t", at)
                node = self.number_data(found, operation, str(scalar_type(outputs[n].type)))[0]
                self.assign(element_node(target, map_trees(structure.maps[count + n], counters, at), at), node, at)
                written |= {target.identity}
        for result, target in zip(operation.results, targets, strict=len(operation.results) > 0):
            self.frame.values[result] = target

    def iteration_space(self, operation: Operation, structure: Structure, operands: Sequence[Value]) -> list[Node]:
        """Extents of the loops, from the axes that are one loop each; where several are, they have to be equal."""
        found = dict[int, Node]()
        for view, each in zip(operands, structure.maps, strict=True):
            if not isinstance(view, View):
                continue
            for extent, expression in zip(view.shape, each.results, strict=True):
                # A window's extent is larger than its loop: only axes that are a loop alone tell how often it runs.
                if isinstance(expression, AffineDimExpr):
                    self.unify(found, expression.position, extent, operation)
        missing = [n for n in range(structure.loops) if n not in found]
        if missing:
            message = f"no axis of an operand tells how often the loop d{missing[0]} runs"
            help = "add an operand with that axis, such as an empty tensor of the window"
            raise self.refuse("PL0174", message, operation, help)
        return [found[n] for n in range(structure.loops)]

    def unify(self, found: dict[int, Node], loop: int, extent: Node, operation: Operation) -> None:
        """Two extents of one loop: a constant is preferred, and dynamic ones become equal."""
        before = found.setdefault(loop, extent)
        self.equate_extents(before, extent, operation)
        form = self.extent_form(extent)
        if form is not None and form.is_constant:
            found[loop] = extent

    def check_overlap(
        self, operation: Operation, inputs: Sequence[Value], targets: Sequence[View], structure: Structure
    ) -> None:
        """Aliasing: an output may be an input where both have the same elements in the same place."""
        at = self.span(operation)
        loops = [Node("name", at, "integer", symbol=f"${n}", name=f"d{n}") for n in range(structure.loops)]
        for n, target in enumerate(targets):
            own = target.place(map_trees(structure.maps[len(inputs) + n], loops, at))
            for view, found in zip(inputs, structure.maps, strict=False):
                if not isinstance(view, View) or view.identity != target.identity:
                    continue
                # In place: each element is read before it is written, in the same turn.
                if print_tree(view.place(map_trees(found, loops, at))) == print_tree(own):
                    continue
                if not self.prove_disjoint(view, target):
                    message = f"{operation.name} reads `{view.name}` while it writes other elements of it"
                    raise self.refuse("PL0175", message, operation, "write into another array, and copy it back")

    def structure(self, operation: Any) -> Structure:
        """What an operation computes, and where."""
        name = operation.name.removeprefix("linalg.")
        inputs, outputs = list(operation.inputs), list(operation.outputs)
        rank = max((len(o.type.get_shape()) for o in outputs if is_array_type(o.type)), default=0)
        if name == "generic":
            maps = tuple(m.data for m in operation.properties["indexing_maps"].data)
            return self.region_structure(operation, maps, len(operation.properties["iterator_types"].data), True)
        identity = AffineMap.identity(rank)
        if name == "map":
            return self.region_structure(operation, (identity,) * (len(inputs) + 1), rank, False)
        if name == "reduce":
            return self.reduction(operation)
        if name == "transpose":
            # Axis n of the output is axis permutation[n] of the input.
            order = operation.properties["permutation"].get_values()
            place = [AffineExpr.dimension(list(order).index(n)) for n in range(rank)]
            return Structure((AffineMap(rank, 0, tuple(place)), identity), rank, lambda e, _: [e[0]], (False,))
        if name == "broadcast":
            new = operation.properties["dimensions"].get_values()
            kept = tuple(AffineExpr.dimension(n) for n in range(rank) if n not in new)
            return Structure((AffineMap(rank, 0, kept), identity), rank, lambda e, _: [e[0]], (False,))
        row = NAMED[name]
        if row.axes:
            return self.named_structure(operation, row.axes, row.body)
        scalar = AffineMap(rank, 0, ())
        maps = tuple(identity if is_array_type(o.type) else scalar for o in (*inputs, *outputs))
        return Structure(maps, rank, lambda e, _: [self.elementwise(name, e, operation)], (False,))

    def region_structure(
        self, operation: Any, maps: tuple[AffineMap, ...], loops: int, takes_outputs: bool
    ) -> Structure:
        block = operation.bodies[0].block
        count = len(operation.inputs)
        taken = block.args if takes_outputs or len(block.args) > count else block.args[:count]
        reads = tuple(
            len(taken) > count + n and bool(list(taken[count + n].uses)) for n in range(len(operation.outputs))
        )

        def body(elements: list[Number], counters: list[Node]) -> list[Number]:
            for argument, element in zip(taken, elements, strict=False):
                uses = len(list(argument.uses))
                self.frame.values[argument] = element
                # Read once per turn, whatever the body does with it.
                if uses > 1 and not element.is_leaf:
                    self.materialize(argument, self.span(operation))
            self.counters_of[block] = counters
            self.run_block(block)
            last = block.last_op
            assert last is not None
            return [self.number(o) for o in last.operands]

        return Structure(maps, loops, body, reads)

    counters_of: dict[Any, list[Node]]

    def loop_index(self, operation: Operation) -> None:
        """linalg.index."""
        dim: Any = operation.properties["dim"]
        around = operation.parent
        while around is not None and around not in self.counters_of:
            parent = around.parent_op()
            around = None if parent is None else parent.parent
        assert around is not None
        self.frame.values[operation.results[0]] = Number("i32", None, self.counters_of[around][int(dim.value.data)])

    def reduction(self, operation: Any) -> Structure:
        """linalg.reduce: the axes of the input, with those that stay first in the output."""
        rank = len(operation.inputs[0].type.get_shape())
        summed = operation.properties["dimensions"].get_values()
        kept = [n for n in range(rank) if n not in summed]
        # One sum after the other: the reduced axes are the innermost loops.
        position = {n: k for k, n in enumerate((*kept, *summed))}
        source = AffineMap(rank, 0, tuple(AffineExpr.dimension(position[n]) for n in range(rank)))
        target = AffineMap(rank, 0, tuple(AffineExpr.dimension(position[n]) for n in kept))
        maps = (*((source,) * len(operation.inputs)), *((target,) * len(operation.outputs)))
        return self.region_structure(operation, maps, rank, True)

    def named_structure(self, operation: Any, axes: str, body: str) -> Structure:
        """A product, a convolution or a pooling, as its row says; maps that the text gives replace the row's."""
        windows = axes.split(",")[0].count("(")
        strides, dilations = (_numbers(operation, k, windows) for k in ("strides", "dilations"))
        maps, loops = parse_axes(axes, strides, dilations)
        given = operation.attributes.get("indexing_maps")
        if is_kind(given, builtin.ArrayAttr):
            maps = [m.data for m in given.data]
            loops = maps[0].num_dims
        kind = scalar_type(operation.outputs[0].type)

        def compute(elements: list[Number], counters: list[Node]) -> list[Number]:
            del counters
            before = elements[-1]
            sign = "u" if "unsigned" in body else "s"
            # Operands are converted to the type of the output before the product (linalg structured operations,
            # numeric casting).
            parts = [self.convert_number(e, kind, sign, operation) for e in elements[:-1]]
            if body == "quantized":
                # Behind the operands their zero points.
                shifted = [self.combine_elements("sub", [parts[n], parts[n + 2]], operation) for n in (0, 1)]
                product = self.combine_elements("mul", shifted, operation)
                return [self.combine_elements("add", [before, product], operation)]
            if body == "product":
                product = self.combine_elements("mul", parts, operation)
                return [self.combine_elements("add", [before, product], operation)]
            name = {"sum": "add"}.get(body, body)
            return [self.combine_elements(name, [before, parts[0]], operation)]

        return Structure(tuple(maps), loops, compute, (True,))

    def combine_elements(self, name: str, values: list[Number], operation: Any) -> Number:
        """A binary operation by its name in linalg, in the type of the output."""
        kind = scalar_type(operation.outputs[0].type)
        dtype, written = values[0].dtype, str(kind)
        if dtype in FLOATS or dtype == "f16":
            known = {"max": "arith.maximumf", "min": "arith.minimumf", "powf": "math.powf"}
            return self.data_arithmetic(known.get(name, f"arith.{name}f"), values, operation, written)
        base = name.removesuffix("_unsigned")
        if dtype == "bool" and base in ("add", "mul"):
            base = {"add": "or", "mul": "and"}[base]
        suffix = {"max": "ui" if base != name else "si", "min": "ui" if base != name else "si"}
        suffix["div"] = "ui" if base != name else "si"
        return self.data_arithmetic(f"arith.{base}{suffix.get(base, 'i')}", values, operation, written)

    def elementwise(self, name: str, elements: list[Number], operation: Any) -> Number:
        """An element-wise named operation."""
        kind = scalar_type(operation.outputs[0].type)
        values = [self.convert_number(e, kind, "s", operation) for e in elements[: len(operation.inputs)]]
        if name in ("fill", "copy"):
            return values[0]
        if name == "select":
            test = self.truth_operand(elements[0], operation)
            (a, dtype), (b, _) = (self.number_data(v, operation, str(kind)) for v in elements[1:3])
            reads = frozenset[str]().union(*(e.reads for e in elements[:3]))
            return Number(dtype, Node("choose", self.span(operation), a.ctype, (test, a, b)), reads=reads)
        if name in ("square", "reciprocal"):
            value = self.hold(values[0], "t", self.span(operation)) if name == "square" else values[0]
            one = self.unit_constant(value, operation)
            operands = [value, value] if name == "square" else [one, value]
            return self.combine_elements("mul" if name == "square" else "div", operands, operation)
        if name in _UNARY:
            return self.data_arithmetic(_UNARY[name], values, operation, str(kind))
        return self.combine_elements(name, values, operation)

    def unit_constant(self, like: Number, operation: Operation) -> Number:
        from polyloom.frontend.loops import make

        node, dtype = self.number_data(like, operation, "f32")
        return Number(dtype, make.constant(1.0, node.ctype, self.span(operation)))


def _numbers(operation: Any, key: str, count: int) -> list[int]:
    found = operation.attributes.get(key) or operation.properties.get(key)
    if found is None:
        return [1] * count
    values = [int(n) for n in found.get_values()]
    return values * count if len(values) == 1 else values


def _covers(found: AffineMap) -> bool:
    """Whether a map stores to every element: its results are different loops."""
    dims = [e.position for e in found.results if isinstance(e, AffineDimExpr)]
    return len(dims) == len(found.results) == len(set(dims))
