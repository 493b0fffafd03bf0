# SPDX-License-Identifier: Apache-2.0
"""Lowering of a typed Python function to the statement tree, and its nest.

Python's own rules become explicit here: quotients round down (Python language reference, section 6.7), operands are
converted to NumPy's common type (NEP 50, 2021), integers of loops and sizes never wrap, and a `range` is a loop over
its first value, its end and its step.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.loops import make
from polyloom.frontend.loops.affine import Scope
from polyloom.frontend.loops.body import lower_body
from polyloom.frontend.loops.jumps import remove_continue
from polyloom.frontend.loops.returns import replace_returns
from polyloom.frontend.loops.roles import Roles
from polyloom.frontend.loops.substatements import block
from polyloom.frontend.loops.tree import STEPS, Node
from polyloom.frontend.loops.types import CTYPE, INTEGER
from polyloom.frontend.python import integer_trees as integers
from polyloom.frontend.python.infer import Types, bit_count_operand, is_affine, read_conversion, subscripts
from polyloom.frontend.python.integer_trees import (
    LIMIT,
    OPCODES,
    SYMBOLS,
    affine_condition,
    affine_form,
    check_names,
    depends_on_data,
    steps_range,
)
from polyloom.frontend.python.operators import CALLS
from polyloom.frontend.python.refusal_codes import translate_refusal
from polyloom.frontend.python.resolve_names import Function, stored_names
from polyloom.ir.nest import Nest, accesses, assignments
from polyloom.ir.nest_c import default_assumptions
from polyloom.ir.numbers import WIDTH, element_constant
from polyloom.ir.operations import SIGNED, UNSIGNED, ElementType
from polyloom.sets import Affine
from polyloom.sets.normal_form import conjunction


def lower_kernel(function: Function, types: Types, *, indirect: bool = False) -> Nest:
    """Nest of a typed function; with `indirect`, indices and bounds may be data."""
    tree, text = _Tree(function, types, indirect), function.text
    names = {name: Affine.symbol(name) for name in function.parameters if name in function.order}
    domain = default_assumptions(function.parameters, function.storage.values())
    scope = Scope(names, function.storage, {}, function.loops, domain=domain)
    stored = frozenset(stored_names(function.node))
    roles = Roles(function.loops, frozenset(names), stored, (stored - function.loops) & function.scope.integers.keys())
    try:
        nodes, assumptions, storage = lower_body(
            tree.function(), tree.parameters(), roles, scope, function.parameters, indirect=indirect
        )
    except PolyloomError as error:
        raise translate_refusal(error) from None
    used = {r.name for a in assignments(nodes) for r in (a.target, *accesses(a.value))}
    # Locals that constant folding or symbols made needless would be registers for nothing.
    kept = tuple(s for s in storage if s.role == "argument" or s.name in used)
    whole = conjunction(domain, assumptions)
    return Nest(function.node.name, function.parameters, whole, kept, nodes, text.line(function.node.lineno))


class _Tree:
    """Construction of the statement tree of a function."""

    def __init__(self, function: Function, types: Types, indirect: bool) -> None:
        self.indirect = indirect
        self.source, self.types, self.text, self.scope = function, types, function.text, function.scope

    def function(self) -> tuple[Node, ...]:
        """The statements, after the declarations of the variables that hold data."""
        node = self.source.node
        at = self.text.line(node.lineno)
        ground = Node("block", at)
        declared = [
            make.declare_variable(name, CTYPE[self.types.variable(name)], name, ground)
            for name in sorted(self.source.data)
        ]
        whole = remove_continue(replace(ground, inner=self.statements(node.body)))
        returned = replace_returns(whole, None) or whole
        return (*declared, *returned.inner)

    def parameters(self) -> list[Node]:
        """The arguments that are storage."""
        return [
            Node("parameter", s.span, CTYPE[s.dtype] + "*" * bool(s.shape), name=s.name, symbol=s.name)
            for s in self.source.storage.values()
            if s.span is not None
        ]

    def statements(self, nodes: Sequence[ast.stmt]) -> tuple[Node, ...]:
        return tuple([made for node in nodes for made in self.statement(node)])

    def statement(self, node: ast.stmt) -> tuple[Node, ...]:
        at = self.text.span(node)
        plain = Node("", at)
        match node:
            case ast.For(target=ast.Name(id=name), iter=within, body=inner):
                return (self.loop(node, name, within, inner),)
            case ast.While(test=test, body=inner):
                return (replace(plain, kind="while", inner=(self.test(test), self.block(inner, plain))),)
            case ast.If(test=test, body=inner, orelse=orelse):
                sides = [self.block(side, plain) for side in (inner, orelse) if side]
                return (replace(plain, kind="if", inner=(self.test(test), *sides)),)
            # a = b = e, whose value type inference allows only where it may be evaluated once per target.
            case ast.Assign(targets=targets, value=value):
                return tuple([self.lower_assignment(target, value, node) for target in targets])
            case ast.AnnAssign(target=target, value=value) if value is not None:
                return (self.lower_assignment(target, value, node),)
            case ast.AugAssign():
                return (self.lower_augmented(node),)
            case ast.Assert(test=test):
                return (replace(plain, kind="assume", inner=(integers.condition_tree(test, self.scope),)),)
            case ast.Continue():
                return (replace(plain, kind="continue"),)
            case ast.Return():
                return (replace(plain, kind="return"),)
            case _:
                return ()

    def block(self, nodes: Sequence[ast.stmt], at: Node) -> Node:
        return block(self.statements(nodes), at)

    def loop(self, node: ast.For, name: str, within: ast.expr, inner: Sequence[ast.stmt]) -> Node:
        """Loop statement as `for (name = first; name < end; name += step)` (Python language reference, section 8.3)."""
        stepped = steps_range(within, self.scope)
        first, end, step = self.range(stepped or within)
        at = self.text.span(node)
        none = Node("", at)
        own = replace(none, span=self.text.span(node.target))
        # `_` is a common name of a loop; nests print as C, where a leading underscore is reserved.
        head = make.declare_variable(name.lstrip("_") or "t", INTEGER, name, own, first)
        counter = make.reference(name, name, INTEGER, own.span)
        test = make.binary_operation("<" if step > 0 else ">", (counter, end), INTEGER, end.span)
        grows = make.literal(abs(step), at)
        counts = Node("update", at, INTEGER, (counter, grows), "+=" if step > 0 else "-=")
        parts = head, none, test, counts, self.block(inner, none)
        return Node("for", at, "", parts, text=STEPS if stepped else "")

    def range(self, node: ast.expr) -> tuple[Node, Node, int]:
        """Range of a loop: its first value, where it ends, and its step; `reversed` exchanges the ends.
        Raises PL0136.
        """
        scope = self.scope
        match node:
            case ast.Call(func=function, args=[inner], keywords=[]) if scope.value(function) is builtins.reversed:
                first, end, step = self.range(inner)
                if abs(step) != 1:
                    help = "count down: `range(last, first - 1, -step)`"
                    raise self.text.error("PL0136", "a range with a step cannot be reversed", node, help)
                return self.shift_bound(end, -step), self.shift_bound(first, -step), -step
            case ast.Call(func=function, args=[stop], keywords=[]) if scope.value(function) is builtins.range:
                return make.literal(0, self.text.span(stop)), self.bound(stop), 1
            case ast.Call(func=function, args=[start, stop, *steps], keywords=[]) if (
                scope.value(function) is builtins.range and len(steps) <= 1
            ):
                by = self.step(steps[0]) if steps else 1
                return self.bound(start), self.bound(stop), by
            case _:
                help = "write `range(start, stop)`, or with a step of -1"
                raise self.text.error("PL0136", f"a kernel cannot iterate over `{ast.unparse(node)}`", node, help)

    def shift_bound(self, node: Node, by: int) -> Node:
        return make.binary_operation("+" if by > 0 else "-", (node, make.literal(1, node.span)), INTEGER, node.span)

    def step(self, node: ast.expr) -> int:
        step = affine_form(node, self.scope)
        if step is None or not step.is_constant or not step.constant:
            help = "count by a constant that is not 0"
            raise self.text.error("PL0136", f"a loop's step is a constant, not {ast.unparse(node)}", node, help)
        return step.constant

    def lower_assignment(self, target: ast.expr, value: ast.expr, node: ast.stmt) -> Node:
        to = self.target(target)
        found = integers.integer_tree(value, self.scope) if to.ctype == INTEGER else self.value(value)
        return Node("binary", self.text.span(node), to.ctype, (to, found), "=")

    def lower_augmented(self, node: ast.AugAssign) -> Node:
        """Augmented assignment (Python language reference, section 7.2.1), in the operands' common type, converted back
        on the store.
        """
        to, at, opcode = self.target(node.target), self.text.span(node), OPCODES[type(node.op)] + "="
        if to.ctype == INTEGER:
            inner = to, integers.integer_tree(node.value, self.scope)
            return Node("update", at, INTEGER, inner, opcode)
        dtype = self.types.operation(node)
        inner = to, self.convert_operand(node.value, dtype)
        return Node("update", at, to.ctype, inner, opcode, types=(CTYPE[dtype], CTYPE[dtype]))

    def target(self, node: ast.expr) -> Node:
        if isinstance(node, ast.Name) and node.id in self.scope.integers:
            return make.reference(node.id, node.id, INTEGER, self.text.span(node))
        return self.value(node)

    def convert_operand(self, node: ast.expr, dtype: ElementType) -> Node:
        """The value of `node` in a type."""
        found = self.value(node)
        return found if self.types.node_type(node) == dtype else make.cast(found, CTYPE[dtype], found.span)

    def value(self, node: ast.expr) -> Node:
        """Expression on data, with its inferred type."""
        dtype, at = self.types.node_type(node), self.text.span(node)
        ctype = CTYPE[dtype]
        # An affine form keeps loops visible: it becomes an index value, not arithmetic on data.
        if is_affine(node, self.scope):
            return make.cast(integers.integer_tree(node, self.scope), ctype, at)
        match node:
            case ast.Name(id=name) if name in self.types.variables or name in self.source.storage:
                return make.reference(name, name, ctype, at)
            case ast.Constant() | ast.Name() | ast.Attribute():
                return self.number(node, dtype)
            case ast.Subscript():
                return self.element(node, ctype)
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                by = affine_form(right, self.scope)
                assert by is not None
                operands = self.value(left), make.constant(by.constant, ctype, self.text.span(right))
                return make.operation_node("pow", dtype, operands, self.value(left))
            case ast.BinOp(left=left, op=operator, right=right):
                operands = self.convert_operand(left, dtype), self.convert_operand(right, dtype)
                return make.binary_operation(OPCODES[type(operator)], operands, ctype, at)
            case ast.UnaryOp(operand=operand, op=operator) if not isinstance(operator, ast.Not):
                opcode = "-" if isinstance(operator, ast.USub) else "~" if isinstance(operator, ast.Invert) else "+"
                return Node("unary", at, ctype, (self.value(operand),), opcode)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                parts = self.test(test), self.convert_operand(body, dtype), self.convert_operand(orelse, dtype)
                return Node("choose", at, ctype, parts)
            case ast.Call():
                return self.call(node)
            case _:
                return replace(self.test(node), ctype=ctype)

    def call(self, node: ast.Call) -> Node:
        found = read_conversion(node, self.scope)
        if found is not None:
            return self.convert_operand(*found)
        at = self.place(node)
        counted = bit_count_operand(node, self.scope)
        if counted is not None:
            return self.bits(*counted, at)
        name = CALLS[self.scope.value(node.func)]
        if len(node.args) == 1:
            return make.operation_node(name, self.types.node_type(node.args[0]), (self.value(node.args[0]),), at)
        dtype = self.types.node_type(node)
        operands = [self.convert_operand(argument, dtype) for argument in node.args]
        return reduce(lambda a, b: make.operation_node(name, dtype, (a, b), at), operands)

    def bits(self, node: ast.expr, result: ElementType, at: Node) -> Node:
        """Population count of an integer's magnitude, as `int.bit_count` and `np.bitwise_count` have it."""
        dtype, value = self.types.node_type(node), self.value(node)
        value = make.operation_node("abs", dtype, (value,), at) if dtype in SIGNED else value
        # The magnitude of the least integer fits the unsigned type of its width.
        unsigned: ElementType = UNSIGNED[WIDTH[dtype].bit_length() - 4] if dtype != "bool" else "u8"
        found = make.operation_node("popcount", unsigned, (make.cast(value, CTYPE[unsigned], at.span),), at)
        return found if result == "i32" else make.cast(found, CTYPE[result], at.span)

    def place(self, node: ast.expr) -> Node:
        return Node("", self.text.span(node))

    def number(self, node: ast.expr, dtype: ElementType) -> Node:
        value: Any = node.value if isinstance(node, ast.Constant) else self.scope.value(node)
        found = element_constant(int(value) if isinstance(value, bool) else float(value), dtype)
        if found is None:
            help = "use a constant in range, or declare a wider type"
            raise self.text.error("PL0143", f"{float(value)} is no {dtype}", node, help)
        return make.constant(found, CTYPE[dtype], self.text.span(node))

    def element(self, node: ast.Subscript, ctype: str) -> Node:
        """The element that is read or written; raises PL0137 where an index counts from the end."""
        array, parts = subscripts(node)
        assert isinstance(array, ast.Name)
        shape = self.source.storage[array.id].shape
        found = make.reference(array.id, array.id, ctype + "[]" * len(shape), self.text.span(array))
        for part, extent in zip(parts, shape, strict=True):
            form = affine_form(part, self.scope)
            if form is not None and form.is_constant and form.constant < 0:
                # Only a constant tells: whether `A[i - 1]` is negative somewhere is for the checks of the nest.
                help = f"write `{extent + form}`: a kernel counts from 0"
                raise self.text.error("PL0137", f"the index {form} counts from the end", part, help)
            inner = found, self.exact(part, "PL0137", "an index")
            found = Node("element", self.text.span(node), ctype, inner)
        return found

    def test(self, node: ast.expr) -> Node:
        """A condition: affine, or of data."""
        if affine_condition(node, self.scope) is not None:
            # Affine tests keep their form: the loop reader makes branches of them, not selections.
            return integers.condition_tree(node, self.scope)
        at, bool_ = self.text.span(node), CTYPE["bool"]
        match node:
            case ast.Compare(left=left, ops=relations, comparators=others):
                sides = [left, *others]
                found = [
                    make.binary_operation(SYMBOLS[type(relation)], self.compared_operands(a, b), bool_, at)
                    for a, relation, b in zip(sides, relations, others, strict=False)
                ]
                return reduce(lambda a, b: make.binary_operation("&&", (a, b), bool_, at), found)
            case ast.BoolOp(op=operator, values=values):
                opcode = "||" if isinstance(operator, ast.Or) else "&&"
                parts = [self.test(value) for value in values]
                return reduce(lambda a, b: make.binary_operation(opcode, (a, b), bool_, at), parts)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Node("unary", at, bool_, (self.test(operand),), "!")
            case _:
                return self.value(node)

    def compared_operands(self, left: ast.expr, right: ast.expr) -> tuple[Node, Node]:
        """Operands of a comparison in their common type; where both are integers that never wrap, they may be affine,
        and the affine reading is kept beside the data.
        """
        dtype = self.types.common(left, right)
        exact = [integers.integer_tree(side, self.scope) for side in (left, right)]
        data = self.convert_operand(left, dtype), self.convert_operand(right, dtype)
        if not all(map(self.counts, exact)):
            return data
        a, b = (
            replace(value, kind="exact", inner=pair)
            for value, pair in zip(data, zip(exact, data, strict=True), strict=True)
        )
        return a, b

    def bound(self, node: ast.expr) -> Node:
        return self.exact(node, "PL0136", "a loop's bound")

    def exact(self, node: ast.expr, code: str, what: str) -> Node:
        """An index or a bound; PL0140 for an unknown name in it, `code` for constants that are too large."""
        check_names(node, self.scope)
        form, found = affine_form(node, self.scope), integers.integer_tree(node, self.scope)
        if form is not None and any(abs(c) >= LIMIT for c in (form.constant, *(c for _, c in form.terms))):
            raise self.text.error(code, f"{what} has a constant that is too large", node, "stay below 2**31")
        if not self.indirect or not depends_on_data(node, self.scope):
            return found
        self.types.slot(node)
        return Node("exact", found.span, INTEGER, (found, self.value(node)))

    def counts(self, node: Node) -> bool:
        """Whether a tree has integers that never wrap only."""
        return all(
            n.ctype == INTEGER and n.kind != "element" and (n.kind != "name" or n.symbol in self.scope.integers)
            for n in node
        )
