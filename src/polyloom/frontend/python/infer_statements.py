# SPDX-License-Identifier: Apache-2.0
"""Type inference of statements: both sides of an assignment agree, and what is no statement of kernels is refused.

Statements are independent of each other: the diagnostics of all of them are collected.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from polyloom.diagnostics import Diagnostic, PolyloomError
from polyloom.frontend.python.infer import Slot, Types
from polyloom.frontend.python.refused_syntax import STATEMENTS, refuse_syntax
from polyloom.frontend.python.resolve_names import Function, element_type_of_name, used_names


def infer_types(function: Function) -> Types:
    """The types of all expressions of a function; raises PL0133 to PL0147, one for each statement at fault."""
    statements = _Statements(function)
    statements.block(_skip_docstring(function.node.body))
    if statements.found:
        raise PolyloomError(*sorted(statements.found, key=lambda found: found.span.start if found.span else 0))
    return statements.types


class _Statements:
    def __init__(self, function: Function) -> None:
        self.function, self.text, self.types = function, function.text, Types(function)
        self.found: list[Diagnostic] = []

    def block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            try:
                self.statement(statement)
            except PolyloomError as error:
                self.found += error.diagnostics

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.For(body=body):
                self.loop(node)
                # The body first: it may decide the types of variables that the test compares.
                self.block(body)
            case ast.While(test=test, body=body, orelse=[]) if self.function.counters & set(used_names(test)):
                self.block(body)
                self.types.slot(test)
            case ast.If(test=test, body=body, orelse=orelse):
                self.block(body)
                self.block(orelse)
                self.types.slot(test)
            case ast.Assert(test=test):
                self.types.slot(test)
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign():
                self.assignment(node)
            case ast.Expr(value=value):
                self.types.slot(value)
                raise self.text.error("PL0133", "this value is not used", node, "assign it, or leave it out")
            case ast.Pass() | ast.Continue() | ast.Return(value=None):
                pass
            case _:
                raise refuse_syntax(self.text, node, node, STATEMENTS)

    def loop(self, node: ast.For) -> None:
        if not isinstance(node.target, ast.Name):
            raise self.text.error("PL0136", "a loop counts one variable", node.target, "write `for i in range(...)`")
        if node.target.id in self.function.order:
            raise self.refuse_fixed(node.target, "an argument")
        if node.orelse:
            raise self.text.error(
                "PL0133",
                "a loop with `else` cannot stand in a kernel",
                node.orelse[0],
                "write its statements behind the loop",
            )

    def assignment(self, node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> None:
        types = self.types
        match node:
            case ast.AugAssign(target=ast.Name(id=name)) if name in self.function.counters:
                types.slot(node.value)
            case ast.Assign(targets=[ast.Name()], value=ast.Name(id=name)) if self.is_array(name):
                raise self.text.error(
                    "PL0141",
                    f"`{name}` is an array, which has no other name",
                    node,
                    f"write `{name}` wherever it is meant",
                )
            case ast.Assign(targets=targets, value=value) if len(targets) == 1 or _is_repeatable(value):
                for target in targets:
                    self.target(target)
                    self.check_store(node, target, types.slot(value))
            case ast.AugAssign(target=target, op=operator, value=value):
                found = types.arithmetic(node, operator, self.target(target), types.slot(value))
                types.operations[node] = found
                self.check_store(node, target, found)
            case ast.AnnAssign(target=target, annotation=annotation, value=value):
                self.declare(target, annotation)
                if value is not None:
                    self.check_store(node, target, types.slot(value))
            case _:
                raise self.text.error(
                    "PL0133",
                    "an assignment to several targets cannot stand in a kernel",
                    node,
                    "write one assignment for each target",
                )

    def declare(self, target: ast.expr, annotation: ast.expr) -> None:
        dtype = element_type_of_name(annotation, self.function.scope)
        if not isinstance(target, ast.Name) or target.id not in self.types.variables or dtype is None:
            raise self.text.error(
                "PL0142",
                "only a local variable can be declared, with an element type",
                annotation,
                "write `x: pl.f32 = ...`",
            )
        if target.id not in self.types.declared:
            self.types.unify_slots(Slot(dtype), self.types.variables[target.id])
            self.types.declared.add(target.id)

    def check_store(self, node: ast.stmt, target: ast.expr, value: Slot) -> None:
        """Type of a store: elements, arguments and declared variables convert what is assigned to them; other variables
        keep one type. Raises PL0139.
        """
        of = self.target(target).root()
        known, found = of.dtype, value.root().dtype
        free = self.types.variables.keys() - self.types.declared
        differs = known is not None and found is not None and known != found
        if differs and isinstance(target, ast.Name) and target.id in free:
            assert known is not None and found is not None
            wider = self.types.promote_types(node, known, found)
            help = f"declare it: `{target.id}: pl.{wider} = ...` converts what is assigned; or use another variable"
            message = f"the variable `{target.id}` is of the type {known}, and {found} is assigned to it"
            raise self.text.error("PL0139", message, node, help)
        self.types.unify_assignment(node, of, value)

    def target(self, node: ast.expr) -> Slot:
        if isinstance(node, ast.Subscript):
            return self.types.slot(node)
        if not isinstance(node, ast.Name):
            raise self.text.error(
                "PL0133",
                f"`{ast.unparse(node)}` cannot be assigned in a kernel",
                node,
                "assign one element or one variable per statement",
            )
        if node.id in self.function.loops:
            raise self.refuse_fixed(node, "a loop's variable")
        if node.id in self.function.parameters and node.id in self.function.order:
            raise self.refuse_fixed(node, "an integer parameter")
        if self.is_array(node.id):
            raise self.text.error(
                "PL0141", f"`{node.id}` is an array, which has no other name", node, "assign its elements"
            )
        return self.types.slot(node)

    def is_array(self, name: str) -> bool:
        return name in self.function.storage and bool(self.function.storage[name].shape)

    def refuse_fixed(self, node: ast.Name, what: str) -> PolyloomError:
        return self.text.error(
            "PL0141",
            f"`{node.id}` is {what}, which a kernel cannot assign",
            node,
            "choose another name for the variable",
        )


def _skip_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    match body:
        case [ast.Expr(value=ast.Constant(value=str())), *rest]:
            return rest
        case _:
            return body


def _is_repeatable(value: ast.expr) -> bool:
    """Whether an expression may be evaluated once per target: nothing that a target changes is in it."""
    return isinstance(value, ast.Constant | ast.UnaryOp | ast.Name) and not any(
        isinstance(part, ast.Subscript | ast.Call) for part in ast.walk(value)
    )
