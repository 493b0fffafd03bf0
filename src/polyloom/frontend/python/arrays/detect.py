# SPDX-License-Identifier: Apache-2.0
"""Whether a function is one of whole arrays, by its syntax: slices, products, whole arrays as operands, results,
functions that are called in place. All others are loops over elements, which `lower.py` reads."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any

from polyloom.frontend.python.integer_trees import NOTHING
from polyloom.frontend.python.operators import CALLS
from polyloom.frontend.python.types import NAMED

_LOOPS = ("range", "reversed")


def is_array_function(function: FunctionType, node: ast.FunctionDef) -> bool:
    """Whether `ir.arrays` is the form of a function."""
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    if not arguments or any(a.annotation is None for a in arguments):
        return bool(arguments)
    if node.args.defaults or any(d is not None for d in node.args.kw_defaults):
        return True
    ranks = {a.arg: _rank(a.annotation) for a in arguments if a.annotation is not None}
    ranks = {name: rank for name, rank in ranks.items() if rank}
    return any(_is_of_arrays(n, ranks, function) for n in _walk_body(node)) or _has_whole_arrays(node, ranks)


def _rank(annotation: ast.expr) -> int:
    if not isinstance(annotation, ast.Subscript):
        return 0
    return len(annotation.slice.elts) if isinstance(annotation.slice, ast.Tuple) else 1


def _walk_body(node: ast.FunctionDef) -> Iterator[ast.AST]:
    for statement in node.body:
        yield from ast.walk(statement)


def _is_of_arrays(node: ast.AST, ranks: Mapping[str, int], function: FunctionType) -> bool:
    match node:
        case ast.Slice() | ast.MatMult() | ast.Starred() | ast.ListComp() | ast.GeneratorExp() | ast.Break():
            return True
        case ast.Return(value=value):
            return value is not None
        case ast.Assign(targets=[ast.Tuple() | ast.List()]):
            return True
        case ast.AugAssign(target=ast.Name(id=name)):
            return name in ranks
        case ast.For(target=ast.Tuple()):
            return True
        case ast.For(iter=ast.Call(func=ast.Name(id=name))):
            return name in ("enumerate", "zip")
        case ast.BinOp(op=ast.Pow(), right=ast.Constant(value=float())):
            return True
        case ast.Subscript():
            return _is_view(node, ranks)
        case ast.Call(func=called):
            return _is_array_call(called, function, node)
        case _:
            return False


def _is_view(node: ast.Subscript, ranks: Mapping[str, int]) -> bool:
    index = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for part in index:
        match part:
            case ast.Constant(value=value) if value is None or value is Ellipsis:
                return True
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
                return True
            case _:
                pass
    return False


def _is_array_call(called: ast.expr, function: FunctionType, node: ast.Call) -> bool:
    value = _value(called, function)
    if value is NOTHING:
        # A method of a value, other than the conversions and counts of numbers.
        return (
            isinstance(called, ast.Attribute)
            and called.attr not in ("astype", "bit_count")
            and not _is_module(called.value, function)
        )
    if value is function:
        return False
    if isinstance(value, FunctionType) and value.__module__ != "polyloom.frontend.python.types":
        return not _is_known(value)
    if hasattr(value, "function"):
        return True
    module = str(getattr(value, "__module__", "") or "")
    is_numpy = module.partition(".")[0] == "numpy" or type(value).__name__ == "ufunc"
    is_type = isinstance(value, type) and value in NAMED
    return (is_numpy and not is_type and not _is_known(value)) or value in (builtins.len, builtins.sum)


def _is_module(node: ast.expr, function: FunctionType) -> bool:
    return type(_value(node, function)).__name__ == "module"


def _is_known(value: Any) -> bool:
    try:
        return value in CALLS or getattr(value, "__name__", "") == "bitwise_count"
    except TypeError:
        return False


def _value(node: ast.expr, function: FunctionType) -> Any:
    match node:
        case ast.Name(id=name):
            if name in function.__code__.co_varnames:
                return NOTHING
            return function.__globals__.get(name, getattr(builtins, name, NOTHING))
        case ast.Attribute(value=base, attr=name):
            owner = _value(base, function)
            return NOTHING if owner is NOTHING else getattr(owner, name, NOTHING)
        case _:
            return NOTHING


def _has_whole_arrays(node: ast.FunctionDef, ranks: Mapping[str, int]) -> bool:
    """Whether an array is named otherwise than to index it, or with fewer indices than dimensions."""
    bases = dict[int, int]()
    for n in _walk_body(node):
        if isinstance(n, ast.Subscript):
            count = len(n.slice.elts) if isinstance(n.slice, ast.Tuple) else 1
            if isinstance(n.value, ast.Name | ast.Subscript):
                bases[id(n.value)] = bases.get(id(n), 0) + count
    return any(
        isinstance(n, ast.Name) and n.id in ranks and bases.get(id(n), 0) < ranks[n.id] and _is_read(n, bases)
        for n in _walk_body(node)
    )


def _is_read(node: ast.Name, bases: Mapping[int, int]) -> bool:
    return isinstance(node.ctx, ast.Load) or id(node) in bases
