# SPDX-License-Identifier: Apache-2.0
"""`print` in kernels: statements that are taken out of the function (`frontend.prints`)."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from polyloom.frontend.prints import Print, local_name
from polyloom.frontend.python.syntax_tree import Text

_Make = Callable[[int, ast.Call], list[ast.stmt]]


def is_builtin_print(function: FunctionType, node: ast.FunctionDef) -> bool:
    """Whether `print` is Python's own in a function: neither the file nor the function has another one."""
    known = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    stored = (n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return known.get("print", print) is print and "print" not in {*stored, *(a.arg for a in _arguments(node))}


def remove_prints(node: ast.FunctionDef) -> ast.FunctionDef:
    """Function without its prints; the tree is changed in place."""
    return _replace(node, lambda number, call: [])


def assign_prints(node: ast.FunctionDef) -> ast.FunctionDef:
    """Function in which each printed value is assigned to a name; the tree is changed in place."""
    return _replace(node, _assignments)


def read_prints(text: Text, node: ast.FunctionDef) -> tuple[Print, ...]:
    """Prints of a function, in the order of the text. Errors: PL1510 for what cannot be printed."""
    arrays = {a.arg for a in _arguments(node) if isinstance(a.annotation, ast.Subscript)}
    return tuple(_read_print(text, call, arrays) for call in _calls(node))


def _read_print(text: Text, call: ast.Call, arrays: set[str]) -> Print:
    if call.keywords:
        help = "write the values and texts alone: they are shown with blanks in between"
        raise text.error("PL1510", "a print in a kernel has no options", call.keywords[0].value, help)
    for value in call.args:
        if isinstance(value, ast.Name) and value.id in arrays:
            help = f"print its elements, as in `print({value.id}[i])` within a loop"
            raise text.error("PL1510", f"`{value.id}` is an array, and a print shows numbers", value, help)
        if isinstance(value, ast.Starred | ast.JoinedStr) or (isinstance(value, ast.Constant) and value.value is None):
            help = 'write texts and values side by side, as in `print("sum", x, i)`'
            raise text.error("PL1510", "a print in a kernel shows texts and numbers", value, help)
    # Texts may contain the sign that begins a conversion.
    format = " ".join(_label(value).replace("%", "%%") if _is_text(value) else "%s" for value in call.args)
    expressions = tuple(ast.unparse(value) for value in call.args if not _is_text(value))
    return Print(text.span(call), format, expressions)


def _is_text(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _label(value: ast.expr) -> str:
    assert isinstance(value, ast.Constant)
    return str(value.value)


def _arguments(node: ast.FunctionDef) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    """Prints in the order of the text."""
    for child in ast.iter_child_nodes(node):
        if (call := _print_call(child)) is not None:
            yield call
        # Expressions contain no statement, and may be nested more deeply than a recursion reaches.
        elif not isinstance(child, ast.expr):
            yield from _calls(child)


def _print_call(node: ast.AST) -> ast.Call | None:
    """Call of a statement that is a print."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name):
        return node.value if node.value.func.id == "print" else None
    return None


def _assignments(number: int, call: ast.Call) -> list[ast.stmt]:
    """Two assignments for each value: what is assigned once may be another name for an affine expression
    (`resolve_names`), of which no statement is left.
    """
    # A text alone is seen by a number that nobody shows.
    values = [value for value in call.args if not _is_text(value)] or [ast.copy_location(ast.Constant(0), call)]
    made = list[ast.stmt]()
    for n, value in enumerate(values):
        for _ in range(2):
            target = ast.copy_location(ast.Name(local_name(number, n), ast.Store()), value)
            made.append(ast.copy_location(ast.Assign([target], value), value))
    return made


class _Replacement(ast.NodeTransformer):
    def __init__(self, make: _Make) -> None:
        self.make, self.count = make, 0

    def visit(self, node: ast.AST) -> Any:
        return node if isinstance(node, ast.expr) else super().visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        call = _print_call(node)
        if call is None:
            return node
        self.count += 1
        return self.make(self.count - 1, call)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        # A body of prints alone is one without statements, which Python's grammar has not.
        if isinstance(node, ast.FunctionDef | ast.For | ast.If | ast.While) and not node.body:
            node.body = [ast.copy_location(ast.Pass(), node)]
        return node


def _replace(node: ast.FunctionDef, make: _Make) -> ast.FunctionDef:
    found = _Replacement(make).visit(node)
    assert isinstance(found, ast.FunctionDef)
    return found
