# SPDX-License-Identifier: Apache-2.0
"""Reference execution of a kernel as the Python function that it is, over NumPy scalars: its own syntax tree with typed
constants.

Python executes the loops, branches and assignments as they stand, so that this is an oracle for the nest, which has
lost them. Rewritten is only what would leave the element types (NumPy enhancement proposal NEP 50, 2021): constants and
loop variables that are data get their inferred type, operations whose meaning in NumPy or Python is another become
calls. Values in affine positions stay Python integers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any, Final

import numpy as np

from polyloom.frontend.python import types as elements
from polyloom.frontend.python.infer import Types, bit_count_operand, is_affine, read_conversion
from polyloom.frontend.python.integer_trees import (
    affine_condition,
    affine_form,
    as_integer,
    depends_on_data,
    steps_range,
)
from polyloom.frontend.python.operators import BINARY, CALLS
from polyloom.frontend.python.resolve_names import Function
from polyloom.ir.library import evaluate, power_program
from polyloom.ir.numbers import NUMPY, WIDTH, type_limits
from polyloom.ir.operations import ALL_TYPES, CONVERSIONS, INTEGERS, ElementType
from polyloom.ir.semantics import operation_function
from polyloom.names import hidden_name
from polyloom.sets import Affine


class Executable:
    """Executable of a kernel: the rewritten function; `code` defines it; `constants` and `sizes` are names that it
    reads.
    """

    def __init__(self, function: Function, types: Types) -> None:
        rewriter = _Rewriter(function, types)
        self.name = function.node.name
        self.constants = rewriter.constants
        self.sizes = rewriter.sizes
        self.code: CodeType = compile(rewriter.module(), function.text.source.name, "exec")

    def bind(self, parameters: Mapping[str, int]) -> Callable[..., None]:
        """The function for parameter values; it takes the kernel's arguments by name."""
        names: dict[str, Any] = {
            **RUNTIME,
            **self.constants,
            **{name: form.evaluate(parameters) for name, form in self.sizes.items()},
        }
        # The kernel's own module is not among the names: all that the text may read of it is bound here.
        exec(self.code, names)
        return names[self.name]


class _Rewriter:
    """Rewriter of a kernel's syntax tree: makes new nodes; the function's own tree stays as it is. Names of the runtime
    are hidden: Python runs them, and nobody can write them.
    """

    def __init__(self, function: Function, types: Types) -> None:
        self.function, self.types, self.scope = function, types, function.scope
        self.constants: dict[str, Any] = {}
        self.sizes: dict[str, Affine] = {}

    def module(self) -> ast.Module:
        node = self.function.node
        arguments = [ast.arg(name) for name in self.function.order]
        # Keyword-only: `Kernel` has bound the call, and sizes come in any order.
        signature = ast.arguments(
            posonlyargs=[], args=[], kwonlyargs=arguments, kw_defaults=[None] * len(arguments), defaults=[]
        )
        body = [self.statement(statement) for statement in node.body]
        # Without decorators: the result must not become a kernel again.
        function = ast.FunctionDef(name=node.name, args=signature, body=body, decorator_list=[])
        return ast.fix_missing_locations(ast.Module([ast.copy_location(function, node)], []))

    def statement(self, node: ast.stmt) -> ast.stmt:
        return ast.copy_location(self.rewrite_statement(node), node)

    def rewrite_statement(self, node: ast.stmt) -> ast.stmt:
        match node:
            case ast.For(target=target, iter=iterable, body=body):
                within = steps_range(iterable, self.scope) or iterable
                return ast.For(target, self.exact(within), [self.statement(inner) for inner in body], [])
            case ast.If(test=test, body=body, orelse=orelse):
                return ast.If(
                    self.test(test),
                    [self.statement(inner) for inner in body],
                    [self.statement(inner) for inner in orelse],
                )
            case ast.Assign(targets=[ast.Name(id=name) as target], value=value) if name in self.scope.integers:
                # The name stands in affine positions, where a Python integer that does not wrap is meant.
                return ast.Assign([target], self.exact(value))
            case ast.AugAssign(target=ast.Name(id=name) as target, op=operator, value=value) if (
                name in self.scope.integers
            ):
                return ast.AugAssign(target, operator, self.exact(value))
            case ast.Assign(targets=targets, value=value):
                dtype = self.types.node_type(targets[0])
                return ast.Assign([self.exact(target) for target in targets], self.convert_operand(value, dtype))
            case ast.While(test=test, body=body):
                return ast.While(self.exact(test), [self.statement(inner) for inner in body], [])
            case ast.Continue():
                return ast.Continue()
            case ast.Return():
                return ast.Return(None)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                return ast.Assign([target], self.convert_operand(value, self.types.node_type(target)))
            # Written out, as the operation may be a call; indices have no effects, so computing them twice changes
            # nothing.
            case ast.AugAssign(target=target, op=operator, value=value):
                of, dtype = self.types.node_type(target), self.types.operation(node)
                before = _convert(self.load_target(target), of, dtype)
                found = self.operation(before, operator, self.convert_operand(value, dtype), dtype)
                return ast.Assign([self.exact(target)], _convert(found, dtype, of))
            case _:
                return ast.Pass()

    def load_target(self, target: ast.expr) -> ast.expr:
        found = self.exact(target)
        if isinstance(found, ast.Subscript):
            return ast.Subscript(found.value, found.slice, ast.Load())
        assert isinstance(found, ast.Name)
        return ast.Name(found.id, ast.Load())

    def exact(self, node: ast.expr) -> ast.expr:
        """The node with sizes and the module's integers as names of the runtime; all else in it is Python."""
        return _Names(self).visit(node)

    def test(self, node: ast.expr) -> ast.expr:
        """A node whose truth is the test's."""
        if affine_condition(node, self.scope) is not None:
            return self.exact(node)
        match node:
            case ast.BoolOp(op=operator, values=values):
                return ast.BoolOp(operator, [self.test(value) for value in values])
            case ast.UnaryOp(op=ast.Not() as operator, operand=operand):
                return ast.UnaryOp(operator, self.test(operand))
            case ast.Compare(left=left, ops=relations, comparators=others):
                return ast.Compare(self.data(left), relations, [self.data(other) for other in others])
            case _:
                return self.data(node)

    def data(self, node: ast.expr) -> ast.expr:
        """A node whose value is a NumPy scalar of the inferred type."""
        return ast.copy_location(self.typed_expression(node), node)

    def typed_expression(self, node: ast.expr) -> ast.expr:
        dtype = self.types.node_type(node)
        found = affine_form(node, self.scope) if is_affine(node, self.scope) else None
        if found is not None:
            return self.constant(dtype, found.constant) if found.is_constant else _call(dtype, self.exact(node))
        match node:
            case ast.Constant(value=bool() | float() as value):
                return self.constant(dtype, value)
            case ast.Name(id=name) if name in self.scope.bound:
                return node
            case ast.Name() | ast.Attribute():
                value: Any = self.scope.value(node)
                return self.constant(dtype, float(value))
            case ast.Subscript():
                return self.exact(node)
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                return _call("pow", self.data(left), self.exact(right))
            case ast.BinOp(left=left, op=operator, right=right):
                return self.operation(
                    self.convert_operand(left, dtype), operator, self.convert_operand(right, dtype), dtype
                )
            case ast.UnaryOp(op=operator, operand=operand) if not isinstance(operator, ast.Not):
                return ast.UnaryOp(operator, self.data(operand))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return ast.IfExp(
                    self.test(test), self.convert_operand(body, dtype), self.convert_operand(orelse, dtype)
                )
            case ast.Call():
                return self.call(node, dtype)
            case _:
                return _call("bool", self.test(node))

    def convert_operand(self, node: ast.expr, dtype: ElementType) -> ast.expr:
        """The value of a node, converted."""
        return _convert(self.data(node), self.types.node_type(node), dtype)

    def call(self, node: ast.Call, dtype: ElementType) -> ast.expr:
        found = read_conversion(node, self.scope)
        if found is not None:
            return self.convert_operand(*found)
        counted = bit_count_operand(node, self.scope)
        if counted is not None:
            return _call(f"popcount_{counted[1]}", self.data(counted[0]))
        name = CALLS[self.scope.value(node.func)]
        operands = [self.convert_operand(argument, dtype) for argument in node.args]
        return _call(name, *(operands if len(operands) > 1 else [self.data(node.args[0])]))

    def operation(self, left: ast.expr, operator: ast.operator, right: ast.expr, dtype: ElementType) -> ast.expr:
        name = f"{BINARY[type(operator)][0]}_{dtype}"
        # What NumPy computes otherwise is in the runtime; the rest is NumPy's own operator.
        return _call(name, left, right) if hidden_name(name) in RUNTIME else ast.BinOp(left, operator, right)

    def constant(self, dtype: ElementType, value: float) -> ast.expr:
        name = hidden_name(f"constant_{len(self.constants)}")
        self.constants[name] = NUMPY[dtype].type(value)
        return ast.Name(name, ast.Load())

    def size(self, form: Affine) -> ast.expr:
        name = hidden_name(f"size_{len(self.sizes)}")
        self.sizes[name] = form
        return ast.Name(name, ast.Load())


class _Names(ast.NodeTransformer):
    """Substitution of the module's sizes and integers; copies what it changes."""

    def __init__(self, rewriter: _Rewriter) -> None:
        self.rewriter = rewriter

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.replace_name(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return self.replace_name(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """An index that is data has its type."""
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        index = [self.index(part) for part in parts]
        slice = ast.Tuple(index, ast.Load()) if isinstance(node.slice, ast.Tuple) else index[0]
        return ast.copy_location(ast.Subscript(self.visit(node.value), slice, node.ctx), node)

    def index(self, part: ast.expr) -> ast.expr:
        if not depends_on_data(part, self.rewriter.scope):
            return self.visit(part)
        self.rewriter.types.slot(part)
        return self.rewriter.data(part)

    def replace_name(self, node: ast.Name | ast.Attribute) -> ast.expr:
        value: Any = self.rewriter.scope.value(node)
        if isinstance(value, elements.Size):
            return ast.copy_location(self.rewriter.size(value.form), node)
        number = as_integer(value)
        if number is not None:
            return ast.copy_location(ast.Constant(number), node)
        return ast.copy_location(ast.Name(hidden_name(value), node.ctx), node) if value in _BUILTINS else node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        fields = {name: self.child(value) for name, value in ast.iter_fields(node)}
        return ast.copy_location(type(node)(**fields), node) if isinstance(node, ast.expr) else type(node)(**fields)

    def child(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.child(item) for item in value]  # pyright: ignore[reportUnknownVariableType] (any field of any node)
        return self.visit(value) if isinstance(value, ast.AST) else value


_BUILTINS: Final = (range, reversed, min, max)
"""Functions of Python that stand in affine positions, whatever the text calls them."""


def _call(name: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(hidden_name(name), ast.Load()), list(arguments), [])


def _convert(value: ast.expr, source: ElementType, to: ElementType) -> ast.expr:
    return value if source == to else _call(f"{source}_to_{to}", value)


def _wrapping_type(dtype: ElementType) -> Callable[[int], Any]:
    """A Python integer as an element of `dtype`, wrapped."""
    # NumPy refuses an integer that is out of range instead of wrapping it.
    (least, _), size, kind = type_limits(dtype) or (0, 0), 1 << WIDTH[dtype], NUMPY[dtype].type
    return lambda value: kind((int(value) - least) % size + least)


def _wrapping_operation(wrap: Callable[[int], Any], operation: Callable[[int, int], int]) -> Callable[[Any, Any], Any]:
    """An operation on Python's integers, whose result wraps."""
    return lambda a, b: wrap(operation(int(a), int(b)))


def _minimum(*values: Any) -> Any:
    """Minimum as `min` of `ir.operations`: numbers before NaNs, the first of equals (IEEE 754-2008, minNum)."""
    least = values[0]
    for value in values[1:]:
        least = value if value < least or least != least else least
    return least


def _maximum(*values: Any) -> Any:
    greatest = values[0]
    for value in values[1:]:
        greatest = value if value > greatest or greatest != greatest else greatest
    return greatest


def _bit_counter(to: Callable[[int], Any]) -> Callable[[Any], Any]:
    return lambda x: to(int(x).bit_count())


def _evaluate_power(base: Any, exponent: int) -> Any:
    dtype = next(t for t in ALL_TYPES if NUMPY[t] == base.dtype)
    return evaluate(power_program(exponent, dtype), base)


def _runtime_names() -> dict[str, Any]:
    names: dict[str, Any] = {"f32": np.float32, "min": _minimum, "max": _maximum, "abs": np.abs, "sqrt": np.sqrt}
    names |= {"f16": np.float16, "f64": np.float64, "bool": np.bool_}
    names |= {f"popcount_{t}": _bit_counter(NUMPY[t].type) for t in ("i32", "u8")}
    names |= {o.name: elements.numpy_conversion(o.name) for o in CONVERSIONS}
    names |= {name: getattr(elements, name) for name in ("exp", "exp2", "log", "sin", "cos", "tanh")}
    names |= {name: getattr(elements, name) for name in ("floor", "ceil", "trunc", "rint")} | {"pow": _evaluate_power}
    for source in ALL_TYPES:
        for to in ALL_TYPES:
            names[f"{source}_to_{to}"] = operation_function(f"to_{to}", source)
    for dtype in INTEGERS:
        wrap, bits = _wrapping_type(dtype), WIDTH[dtype] - 1
        names[dtype] = wrap
        names[f"floordiv_{dtype}"] = _wrapping_operation(wrap, lambda a, b: a // b)
        names[f"mod_{dtype}"] = _wrapping_operation(wrap, lambda a, b: a % b)
        # The default binds this type's value; a closure would see the last one of the loop.
        names[f"shl_{dtype}"] = _wrapping_operation(wrap, lambda a, b, bits=bits: a << (b & bits))
        names[f"shr_{dtype}"] = _wrapping_operation(wrap, lambda a, b, bits=bits: a >> (b & bits))
    return {hidden_name(name): value for name, value in names.items()} | {
        hidden_name(value): value for value in _BUILTINS
    }


RUNTIME = _runtime_names()
