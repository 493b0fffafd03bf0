# SPDX-License-Identifier: Apache-2.0
"""Control flow: loops with values that turns pass on, branches with results, parallel loops with reductions (MLIR
language reference, dialects affine and scf).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from typing import Any, Final

from xdsl.ir import Block, Operation

from polyloom.frontend.loops import make
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.types import CTYPE, INTEGER
from polyloom.frontend.mlir.element_types import DYNAMIC, element_type, is_array_type
from polyloom.frontend.mlir.lowering.integers import map_trees, set_tree
from polyloom.frontend.mlir.lowering.packing import Packing
from polyloom.frontend.mlir.lowering.values import Number, Value, View, extreme, integer, integer_constant

_IDENTITY: Final = {
    "addf": 0.0,
    "mulf": 1.0,
    "maximumf": -inf,
    "minimumf": inf,
    "maxnumf": -inf,
    "minnumf": inf,
    "addi": 0,
    "muli": 1,
    "andi": -1,
    "ori": 0,
    "xori": 0,
    "maxu": 0,
}
"""Neutral elements of the reductions of affine.parallel."""
_REDUCTIONS: Final = {"maxs": "arith.maxsi", "mins": "arith.minsi", "maxu": "arith.maxui", "minu": "arith.minui"}


class Control(Packing):
    """Loops and branches."""

    def constant_step(self, node: Node, operation: Operation) -> int:
        step = integer_constant(node)
        if step is None or step <= 0:
            help = "count by a positive constant"
            raise self.refuse("PL0174", "the step of a loop is no positive constant", operation, help)
        return step

    def lower_affine_loop(self, operation: Any) -> None:
        at = self.span(operation)
        bounds = list[Node]()
        for kind, name in (("lower", "max"), ("upper", "min")):
            operands = self.map_operands(getattr(operation, f"{kind}BoundOperands"), operation)
            trees = map_trees(operation.properties[f"{kind}BoundMap"].data, operands, at)
            bounds.append(extreme(name, trees, at))
        step = self.constant_step(integer(operation.properties["step"].value.data, at), operation)
        self.counted_loop(operation, bounds[0], bounds[1], step, operation.inits)

    def lower_scf_loop(self, operation: Any) -> None:
        lower, upper, step = (self.integer_operand(o, operation) for o in operation.operands[:3])
        by = self.constant_step(step, operation)
        self.counted_loop(operation, lower, upper, by, operation.operands[3:])

    def counted_loop(self, operation: Any, lower: Node, upper: Node, step: int, initial: Sequence[Any]) -> None:
        """A loop, with a variable for each value that a turn passes on."""
        block, at = operation.regions[0].block, self.span(operation)
        self.flush(self.written_roots(operation), operation)
        # Cells begin with the initial values, so that a loop without turns gives these.
        cells = [self.carry_value(arg, init, operation) for arg, init in zip(block.args[1:], initial, strict=True)]
        with self.loop(self.loop_name(block.args[0]), lower, upper, step, at) as counter:
            self.frame.values[block.args[0]] = self.counter_value(counter, block.args[0].type)
            self.frame.values |= dict(zip(block.args[1:], cells, strict=True))
            self.run_block(block)
            if cells:
                self.assign_turn_values(cells, block.last_op)
        self.frame.values |= dict(zip(operation.results, cells, strict=True))

    def counter_value(self, counter: Node, kind: Any) -> Number:
        return Number(element_type(kind), None, counter)

    def loop_name(self, value: Any) -> str:
        hint = self.name_hint(value)
        return "i" if hint == "t" and not value.name_hint else hint

    def carry_value(self, argument: Any, initial: Any, operation: Operation) -> Value:
        """The variable or the array that holds what one turn leaves for the next one."""
        found, at = self.frame.values[initial], self.span(operation)
        name = self.name_hint(argument)
        if isinstance(found, View):
            # Each turn may replace the elements in place where nobody reads the initial tensor again.
            if self.is_last_use(found, operation):
                return found
            made = self.local_array(name, found.dtype, found.shape, operation)
            self.copy_elements(found, made, at)
            return made
        # A counter is an integer that never wraps, of which loops make an affine form; data would make every index of
        # it indirect.
        counts = found.dtype is None or becomes_index(argument)
        if found.data is None and found.truth is None and found.integer is not None and counts:
            return Number(found.dtype, None, self.counter(name, found.integer, at))
        node, dtype = self.number_data(found, operation, str(argument.type))
        cell = self.variable(name, dtype, at)
        self.assign(cell, node, at)
        truth = cell if dtype == "bool" else None
        return Number(dtype, cell, truth=truth, reads=frozenset({cell.symbol}))

    def assign_turn_values(self, cells: Sequence[Value], yields: Any) -> None:
        """What a turn leaves: all values are read before one is stored (parallel assignment; a swap needs a copy)."""
        at = self.span(yields)
        found: list[Value] = [self.frame.values[o] for o in yields.operands]
        for n, (cell, value) in enumerate(zip(cells, found, strict=True)):
            own = _identity(cell)
            for later in range(n + 1, len(found)):
                other = found[later]
                if isinstance(other, Number) and (own in other.reads or _mentions(other, own)):
                    found[later] = self.hold(other, "next", at)
                    # Integers that count read no storage: their trees name the counters.
                    if other.integer is not None:
                        counter = self.counter("next", other.integer, at)
                        found[later] = replace(found[later], integer=counter)
                elif isinstance(other, View) and other.identity == own and other is not cells[later]:
                    found[later] = self.copy_array(other, yields.operands[later], yields)
            if isinstance(cell, View):
                assert isinstance(value, View)
                if value.identity != cell.identity:
                    self.copy_elements(value, cell, at)
                continue
            assert isinstance(value, Number)
            self.assign_number(cell, value, yields)

    def assign_number(self, cell: Number, value: Number, operation: Operation) -> None:
        at = self.span(operation)
        if cell.data is None:
            assert cell.integer is not None
            if value.integer is None:
                help = "let it be computed from loops, sizes and constants"
                raise self.refuse("PL0174", "an index that a loop passes on is data", operation, help)
            if value.integer is not cell.integer:
                self.assign(cell.integer, value.integer, at)
            return
        node, _ = self.number_data(value, operation, str(cell.dtype))
        if node is not cell.data:
            self.assign(cell.data, node, at)

    def written_roots(self, operation: Operation) -> frozenset[str]:
        """The arrays that operations within an operation may change."""
        found = set[str]()
        for inner in operation.walk():
            # Every other operation that has a view may write to it, or make another name of it that is written to.
            if inner.name in _READERS:
                continue
            for operand in inner.operands:
                known = self.frame.values.get(operand)
                if isinstance(known, View):
                    found.add(known.identity)
        return frozenset(found)

    def branch(self, operation: Any) -> None:
        """scf.if and affine.if; results are variables that each side assigns."""
        at = self.span(operation)
        if operation.name == "affine.if":
            operands = self.map_operands(operation.operands, operation)
            test = set_tree(operation.properties["condition"].data, operands, at)
        else:
            test = self.truth_operand(self.number(operation.operands[0]), operation)
        self.flush(self.written_roots(operation), operation)
        sides = [region.block for region in operation.regions if region.blocks]
        if operation.results and self.choose_integers(operation, test, sides):
            return
        cells = [self.result_cell(result, operation) for result in operation.results]
        blocks = [self.side(block, cells, at) for block in sides]
        # An `else` without statements; a branch of pure values leaves nothing at all.
        if len(blocks) == 2 and not blocks[1].inner:
            blocks.pop()
        if blocks[0].inner or len(blocks) == 2:
            self.statements.append(Node("if", at, "", (test, *blocks)))
        self.frame.values |= dict(zip(operation.results, cells, strict=True))

    def side(self, block: Block, cells: Sequence[Value], at: Any) -> Node:
        with self.collect() as made:
            self.run_block(block)
            if cells:
                self.assign_turn_values(cells, block.last_op)
        return Node("block", at, "", tuple(made))

    def choose_integers(self, operation: Any, test: Node, sides: Sequence[Block]) -> bool:
        """Results that count, of sides without statements, are conditional expressions."""
        if any(element_type(r.type) is not None and str(r.type) != "index" for r in operation.results):
            return False
        # As data, a variable is better: on a machine both sides are computed for a conditional expression.
        if not all(becomes_index(r) for r in operation.results):
            return False
        if any(is_array_type(r.type) for r in operation.results) or len(sides) < 2:
            return False
        found = list[list[Number]]()
        for block in sides:
            with self.collect() as made:
                self.run_block(block)
            last = block.last_op
            assert last is not None
            found.append([self.number(o) for o in last.operands])
            # Statements of a side must not run for the other one: then each side assigns a variable.
            if made or any(n.integer is None for n in found[-1]):
                return False
        at = self.span(operation)
        for result, first, second in zip(operation.results, *found, strict=True):
            assert first.integer is not None and second.integer is not None
            node = Node("choose", at, INTEGER, (test, first.integer, second.integer))
            self.frame.values[result] = Number(first.dtype, None, node)
        return True

    def result_cell(self, result: Any, operation: Operation) -> Value:
        at, name = self.span(operation), self.name_hint(result)
        if is_array_type(result.type):
            dtype = self.array_type(result.type, operation)
            shape = self.extents(result.type, (), operation) if DYNAMIC not in result.type.get_shape() else None
            if shape is None or not str(result.type).startswith("tensor"):
                help = "give the tensor a static shape, or write both sides as loops; a memref has one name"
                raise self.refuse("PL0173", "a branch chooses between arrays", operation, help)
            return self.local_array(name, dtype, shape, operation)
        dtype = element_type(result.type)
        if dtype is None or (str(result.type) == "index" and becomes_index(result)):
            return Number(dtype, None, self.counter(name, integer(0, at), at))
        cell = self.variable(name, dtype, at)
        return Number(dtype, cell, truth=cell if dtype == "bool" else None, reads=frozenset({cell.symbol}))

    def lower_parallel(self, operation: Any) -> None:
        """scf.parallel: loops, the first outermost; reductions in this order."""
        count = len(operation.lowerBound)
        groups = (operation.lowerBound, operation.upperBound, operation.step)
        lower, upper, steps = ([self.integer_operand(o, operation) for o in group] for group in groups)
        by = [self.constant_step(step, operation) for step in steps]
        initial = operation.operands[3 * count :]
        self.flush(self.written_roots(operation), operation)
        cells = [self.carry_value(r, i, operation) for r, i in zip(operation.results, initial, strict=True)]
        block = operation.regions[0].block

        def body() -> None:
            self.run_block(block)
            reduce = block.last_op
            assert reduce is not None
            for cell, operand, region in zip(cells, reduce.operands, reduce.regions, strict=True):
                assert isinstance(cell, Number)
                # The first argument is what is reduced so far (MLIR language reference, scf.reduce).
                self.frame.values |= dict(zip(region.block.args, (cell, self.number(operand)), strict=True))
                self.run_block(region.block)
                last = region.block.last_op
                assert last is not None
                self.assign_number(cell, self.number(last.operands[0]), reduce)

        self.nested_loops(operation, lower, upper, by, block, body)
        self.frame.values |= dict(zip(operation.results, cells, strict=True))

    def affine_parallel(self, operation: Any) -> None:
        """affine.parallel: loops, the first outermost; reductions from their neutral elements."""
        at, bounds = self.span(operation), list[list[Node]]()
        first = operation.properties["lowerBoundsMap"].data
        # The operands of both maps stand one behind the other.
        split = first.num_dims + first.num_symbols
        parts = (operation.operands[:split], operation.operands[split:])
        for kind, name, values in zip(("lower", "upper"), ("max", "min"), parts, strict=True):
            trees = map_trees(operation.properties[f"{kind}BoundsMap"].data, self.map_operands(values, operation), at)
            found = list[Node]()
            # One map has the bounds of all loops; a group are those of one, of which the maximum or minimum counts.
            for count in operation.properties[f"{kind}BoundsGroups"].get_values():
                found.append(extreme(name, trees[:count], at))
                trees = trees[count:]
            bounds.append(found)
        by = [self.constant_step(integer(s.value.data, at), operation) for s in operation.properties["steps"].data]
        kinds = [r.data for r in operation.properties["reductions"].data]
        self.flush(self.written_roots(operation), operation)
        cells = [self.neutral_cell(r, k, operation) for r, k in zip(operation.results, kinds, strict=True)]
        block = operation.regions[0].block

        def body() -> None:
            self.run_block(block)
            last = block.last_op
            assert last is not None
            for cell, kind, operand in zip(cells, kinds, last.operands, strict=bool(cells)):
                name = _REDUCTIONS.get(kind, f"arith.{kind}")
                found = self.data_arithmetic(name, [cell, self.number(operand)], operation, str(operand.type))
                self.assign_number(cell, found, operation)

        self.nested_loops(operation, bounds[0], bounds[1], by, block, body)
        self.frame.values |= dict(zip(operation.results, cells, strict=True))

    def neutral_cell(self, result: Any, kind: str, operation: Operation) -> Number:
        cell = self.result_cell(result, operation)
        assert isinstance(cell, Number)
        if kind not in _IDENTITY or cell.data is None:
            help = "reduce by addf, addi, mulf, muli, andi, ori, maxu, or by a minimum or maximum of floats"
            raise self.refuse("PL0172", f"a reduction by {kind} of {result.type}", operation, help)
        at = self.span(operation)
        self.assign(cell.data, make.constant(_IDENTITY[kind], CTYPE[cell.dtype or "i32"], at), at)
        return cell

    def nested_loops(
        self,
        operation: Operation,
        lower: Sequence[Node],
        upper: Sequence[Node],
        steps: Sequence[int],
        block: Block,
        body: Callable[[], None],
        level: int = 0,
    ) -> None:
        if level == len(lower):
            body()
            return
        argument, at = block.args[level], self.span(operation)
        with self.loop(self.loop_name(argument), lower[level], upper[level], steps[level], at) as counter:
            self.frame.values[argument] = self.counter_value(counter, argument.type)
            self.nested_loops(operation, lower, upper, steps, block, body, level + 1)

    def region(self, operation: Any) -> None:
        """scf.execute_region and memref.alloca_scope of one block."""
        if len(operation.regions[0].blocks) != 1:
            help = "lower it to structured loops and branches"
            raise self.refuse("PL0176", f"{operation.name} has several blocks", operation, help)
        block = operation.regions[0].block
        self.run_block(block)
        last = block.last_op
        assert last is not None
        self.frame.values |= {r: self.frame.values[o] for r, o in zip(operation.results, last.operands, strict=False)}


def becomes_index(value: Any) -> bool:
    """Whether an integer indexes an array or bounds a loop, perhaps behind arithmetic or turns (a forward slice)."""
    waiting, seen = [value], {value}
    while waiting:
        for use in waiting.pop().uses:
            user: Any = use.operation
            dialect, _, name = user.name.partition(".")
            # The value that a store stores is data.
            stores = name in ("store", "insert") and use.index == 0
            if (name in _INDEXING and not stores) or (dialect == "affine" and name not in ("yield", "store")):
                return True
            if user.name == "scf.for" and use.index < 3:
                return True
            new = list(user.results) if dialect in ("arith", "index") else list[Any]()
            if name == "yield" and dialect in ("scf", "affine"):
                parent = user.parent_op()
                new = [parent.results[use.index]] if parent.results else []
                blocks = [parent.regions[0].block] if parent.name.endswith(".for") else []
                new += [block.args[use.index + 1] for block in blocks]
            if user.name == "scf.for" and use.index >= 3:
                new = [user.results[use.index - 3], user.regions[0].block.args[use.index - 2]]
            waiting += [each for each in new if each not in seen]
            seen.update(new)
    return False


_INDEXING: Final = frozenset(
    ("load", "store", "extract", "insert", "alloc", "alloca", "subview", "extract_slice", "insert_slice", "empty")
)
_READERS: Final = frozenset(("affine.load", "memref.load", "memref.dim", "tensor.dim", "tensor.extract"))


def _mentions(number: Number, symbol: str) -> bool:
    trees = (number.data, number.integer, number.truth)
    return any(node.symbol == symbol for tree in trees if tree is not None for node in tree)


def _identity(cell: Value) -> str:
    if isinstance(cell, View):
        return cell.identity
    node = cell.data or cell.integer
    return "" if node is None else node.symbol
