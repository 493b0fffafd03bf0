# SPDX-License-Identifier: Apache-2.0
"""`break` as control that is data (if-conversion of exits; Allen, Kennedy, Porterfield, Warren, POPL 1983): a flag that
an iteration clears, on which all statements of the iterations behind it depend.

    for i: A; if c: B; break; R     becomes     flag = True;  for i: if flag: A; if c: B; flag = False  else: R
"""

from __future__ import annotations

import ast
from collections.abc import Sequence


def has_break(node: ast.For) -> bool:
    """Whether a loop has a `break` of its own."""
    return any(map(_breaks, node.body))


def lower_breaks(node: ast.For, flag: str, stop: str) -> ast.For:
    """Loop without a `break`, over the name `flag`, which is true in front of it and becomes `stop`."""
    test = ast.copy_location(ast.Name(flag, ast.Load()), node)
    body = ast.copy_location(ast.If(test, _lower_block(node.body, flag, stop), []), node.body[0])
    return ast.copy_location(ast.For(node.target, node.iter, [body], []), node)


def _breaks(node: ast.stmt) -> bool:
    if isinstance(node, ast.If):
        return any(map(_breaks, (*node.body, *node.orelse)))
    return isinstance(node, ast.Break)


def _lower_block(nodes: Sequence[ast.stmt], flag: str, stop: str) -> list[ast.stmt]:
    """Statements up to a `break`; those behind a test that may break stand on its sides that go on."""
    for n, node in enumerate(nodes):
        if isinstance(node, ast.Break):
            target = ast.copy_location(ast.Name(flag, ast.Store()), node)
            clear = ast.Assign([target], ast.copy_location(ast.Name(stop, ast.Load()), node))
            return [*nodes[:n], ast.copy_location(clear, node)]
        if isinstance(node, ast.If) and _breaks(node):
            # What is behind the test runs on each side that goes on, and on no other.
            sides = [_lower_block([*side, *nodes[n + 1 :]], flag, stop) for side in (node.body, node.orelse)]
            branch = ast.copy_location(ast.If(node.test, sides[0] or [_pass_statement(node)], sides[1]), node)
            return [*nodes[:n], branch]
    return list(nodes)


def _pass_statement(node: ast.stmt) -> ast.stmt:
    return ast.copy_location(ast.Pass(), node)
