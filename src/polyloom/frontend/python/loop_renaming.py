# SPDX-License-Identifier: Apache-2.0
"""Renaming of loop variables: a loop whose variable is something else later counts with a name of its own; new nodes
stand where the text stands that they come from.
"""

from __future__ import annotations

import ast
from copy import copy, deepcopy

from polyloom.names import fresh_name

Body = list[ast.stmt]


def rename_loop_variables(node: ast.FunctionDef) -> ast.FunctionDef:
    """The function with a name of its own for each loop whose variable is something else elsewhere."""
    taken = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    body = [_rename_loop(part, node.body[n + 1 :], node.body, taken) for n, part in enumerate(node.body)]
    if body == node.body:
        return node
    made = copy(node)
    made.body = body
    return made


def _rename_loop(node: ast.stmt, rest: Body, body: Body, taken: set[str]) -> ast.stmt:
    """A loop of the function's outermost block whose variable is assigned elsewhere, and not read before that."""
    if not isinstance(node, ast.For) or not isinstance(node.target, ast.Name):
        return node
    name = node.target.id
    others = [part for part in body if part is not node and _assigns_name(part, name) and not isinstance(part, ast.For)]
    first = next((part for part in rest if _mentions_name(part, name)), None)
    # What reads the variable behind the loop means its last value: such a loop keeps its name.
    again = first is None or _has_no_exposed_use(first, name)
    if not others or not again or any(_assigns_name(part, name) for part in node.body):
        return node
    return _Renamed(name, fresh_name(f"{name}_", taken)).visit(deepcopy(node))


def _has_no_exposed_use(node: ast.stmt, name: str) -> bool:
    """Whether a statement gives a name a value before it reads it."""
    match node:
        case ast.Assign(targets=[ast.Name(id=target)], value=value):
            return target == name and not any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(value))
        case ast.For(target=ast.Name(id=target), iter=within):
            return target == name and not any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(within))
        case _:
            return False


class _Renamed(ast.NodeTransformer):
    def __init__(self, name: str, to: str) -> None:
        self.name, self.to = name, to

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self.to, node.ctx), node) if node.id == self.name else node


def _assigns_name(node: ast.stmt, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(node))


def _mentions_name(node: ast.stmt, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))
