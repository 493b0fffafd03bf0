# SPDX-License-Identifier: Apache-2.0
"""What Python has several ways to write is brought into one, on the syntax tree of a function, before it is looked at.

`a = b = c` is two assignments, `continue` a condition, `while i < n: ...; i += 1` a loop over a range, and a loop whose
variable is something else later counts with a name of its own. What a rewriting does not understand it leaves as it
was, and whoever meets it refuses it at its place. New nodes stand where the text stands that they come from.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from copy import copy, deepcopy

from polyloom.names import fresh

Body = list[ast.stmt]


def plain(node: ast.FunctionDef) -> ast.FunctionDef:
    """The function with a rewritten body."""
    made = copy(node)
    made.body = _body(node.body)
    return made


def with_own_names(node: ast.FunctionDef) -> ast.FunctionDef:
    """The function with a name of its own for each loop whose variable is something else elsewhere."""
    taken = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    body = [_own_name(part, node.body[n + 1 :], node.body, taken) for n, part in enumerate(node.body)]
    if body == node.body:
        return node
    made = copy(node)
    made.body = body
    return made


def _own_name(node: ast.stmt, rest: Body, body: Body, taken: set[str]) -> ast.stmt:
    """A loop of the function's outermost block whose variable is assigned elsewhere, and not read before that."""
    if not isinstance(node, ast.For) or not isinstance(node.target, ast.Name):
        return node
    name = node.target.id
    others = [part for part in body if part is not node and _assigns(part, name) and not isinstance(part, ast.For)]
    first = next((part for part in rest if _mentions(part, name)), None)
    again = first is None or _begins(first, name)
    if not others or not again or any(_assigns(part, name) for part in node.body):
        return node
    return _Renamed(name, fresh(f"{name}_", taken)).visit(deepcopy(node))


def _begins(node: ast.stmt, name: str) -> bool:
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


def _body(statements: Sequence[ast.stmt]) -> Body:
    made = [part for statement in statements for part in _statement(statement)]
    return _ranges(made)


def _statement(node: ast.stmt) -> Body:
    match node:
        case ast.Assign(targets=[_, _, *_], value=value) if _repeats(value):
            return [ast.copy_location(ast.Assign([target], value), node) for target in node.targets]
        case ast.For() | ast.While():
            made = copy(node)
            made.body = _body(_without_continue(node.body))
            return [made]
        case ast.If():
            made = copy(node)
            made.body, made.orelse = _body(node.body), _body(node.orelse)
            return [made]
        case _:
            return [node]


def _repeats(value: ast.expr) -> bool:
    """Whether an expression may be evaluated once per target: nothing that a target changes is in it."""
    return isinstance(value, ast.Constant | ast.UnaryOp | ast.Name) and not any(
        isinstance(part, ast.Subscript | ast.Call) for part in ast.walk(value)
    )


def _without_continue(statements: Sequence[ast.stmt]) -> Body:
    """A loop's body with what stands behind `if c: continue` under `else`."""
    for n, node in enumerate(statements):
        if isinstance(node, ast.Continue):
            return list(statements[:n])
        if isinstance(node, ast.If) and _continues(node):
            made, rest = copy(node), list(statements[n + 1 :])
            made.body = _without_continue(_followed(node.body, rest)) or [ast.copy_location(ast.Pass(), node)]
            made.orelse = _without_continue(_followed(node.orelse, rest))
            return [*statements[:n], made]
    return list(statements)


def _followed(side: Sequence[ast.stmt], rest: Sequence[ast.stmt]) -> Body:
    return list(side) if side and isinstance(side[-1], ast.Continue) else [*side, *rest]


def _continues(node: ast.stmt) -> bool:
    if isinstance(node, ast.If):
        return any(_continues(part) for part in (*node.body, *node.orelse))
    return isinstance(node, ast.Continue)


def _ranges(statements: Body) -> Body:
    """`i = a` and, later in the block, `while i < b: ...; i += 1` as `for i in range(a, b)`, where nothing else says
    what i is."""
    made = list(statements)
    for n, node in enumerate(statements):
        found = _counting(node)
        if found is None:
            continue
        loop, name = found
        begins = [k for k in range(n) if _assigns(statements[k], name)]
        later = any(_mentions(part, name) for part in statements[n + 1 :])
        between = begins and any(_mentions(part, name) for part in statements[begins[-1] + 1 : n])
        first = statements[begins[-1]] if begins else None
        if not isinstance(first, ast.Assign) or later or between:
            continue
        assert isinstance(loop.iter, ast.Call)
        loop.iter.args.insert(0, first.value)
        made[n] = loop
        made[begins[-1]] = ast.copy_location(ast.Pass(), first)
    return made


def _counting(node: ast.stmt) -> tuple[ast.For, str] | None:
    """A loop over a range that begins nowhere yet, and its variable."""
    match node:
        case ast.While(
            test=ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[stop]) as test,
            body=[*body, ast.AugAssign(target=ast.Name(id=counted), op=ast.Add() | ast.Sub() as sign, value=step)],
            orelse=[],
        ) if isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) and counted == name:
            up = isinstance(op, ast.Lt | ast.LtE)
            if not body or any(_assigns(part, name) for part in body) or up != isinstance(sign, ast.Add):
                return None
            if isinstance(op, ast.LtE | ast.GtE):
                one = ast.copy_location(ast.Constant(1), stop)
                stop = ast.copy_location(ast.BinOp(stop, ast.Add() if up else ast.Sub(), one), stop)
            by = step if up else ast.copy_location(ast.UnaryOp(ast.USub(), step), step)
            called = ast.copy_location(ast.Name("range", ast.Load()), node)
            within = ast.copy_location(ast.Call(called, [stop, by], []), test)
            target = ast.copy_location(ast.Name(name, ast.Store()), test)
            return ast.copy_location(ast.For(target, within, body, []), node), name
        case _:
            return None


def _assigns(node: ast.stmt, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(node))


def _mentions(node: ast.stmt, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))
