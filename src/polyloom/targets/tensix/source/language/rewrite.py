# SPDX-License-Identifier: Apache-2.0
"""Source rewriting: what Python does not tell a program about itself is told by calls in its text: assignments, and
chains of conditions.

    x = e                            x = _.assign("x", lambda: x, e)
    with pl.v_if(a): ...             with _.chain():
    with pl.v_elseif(b): ...             _.cond(a); ...; _.else_(); _.cond(b); ...; _.else_(); ...
    with pl.v_else: ...

The first assignment of a name is a definition, which takes all lanes; within a condition, later ones keep the lanes
that are not enabled. Places in the file stay what they were.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import CellType, CodeType, FunctionType
from typing import Any, Final, cast

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.python.syntax_tree import Text, find_definition
from polyloom.targets.tensix.source.language import conditions

_RUN: Final = "_polyloom"
_HELP: Final = "`with pl.v_elseif(...):` and `with pl.v_else:` follow a `with pl.v_if(...):`, without anything between"


def rewrite_function(function: FunctionType) -> FunctionType:
    """Function that records. Raises PL0132 where the text cannot be had, PL1252 for conditions out of place."""
    text, node = find_definition(function)
    changed = _Rewriter(text, _visible_names(function)).visit(node)
    assert isinstance(changed, ast.FunctionDef)
    changed.decorator_list = []
    free = [*function.__code__.co_freevars, _RUN]
    # An outer function gives the compiled code its free variables; their cells are the original's, so that later
    # changes are seen.
    outer = ast.FunctionDef(
        name="outer",
        args=ast.arguments([], [ast.arg(name) for name in free], None, [], [], None, []),
        body=[changed],
        decorator_list=[],
    )
    module = ast.fix_missing_locations(ast.Module([outer], []))
    code = compile(module, function.__code__.co_filename, "exec", dont_inherit=True)
    inner = _nested_code(_nested_code(code, "outer"), function.__name__)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[_RUN] = CellType(conditions)
    closure = tuple(cells[name] for name in inner.co_freevars)
    made = FunctionType(inner, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _nested_code(code: CodeType, name: str) -> CodeType:
    return next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)


def _visible_names(function: FunctionType) -> Mapping[str, Any]:
    """Names that the function sees, to recognize conditions under any alias."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    found: dict[str, Any] = dict(function.__globals__)
    for name, cell in cells:
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not yet assigned
            continue
    return found


class _Rewriter(ast.NodeTransformer):
    """Transformer of a function's tree. Functions within the kernel are rewritten with it; classes and lambdas are left
    alone.
    """

    def __init__(self, text: Text, names: Mapping[str, Any]) -> None:
        self.text, self.names = text, names
        self.apart: set[str] = set()

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> ast.AST:
        self.apart |= set(node.names)
        return node

    visit_Nonlocal = visit_Global

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        if len(node.targets) == 1:
            node.value = self._assignment_value(node.targets[0], node.value)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        if node.value is not None:
            node.value = self._assignment_value(node.target, node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        # `x += y` becomes `x = x + y`: vectors have no in-place operators, and the merge needs the new value alone.
        old = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        value = ast.copy_location(ast.BinOp(old, node.op, node.value), node)
        return ast.copy_location(ast.Assign([node.target], self._assignment_value(node.target, value)), node)

    def _assignment_value(self, target: ast.expr, value: ast.expr) -> ast.expr:
        if isinstance(target, ast.Name) and target.id not in self.apart:
            return self._call("assign", value, ast.Constant(target.id), self._previous_value(target), value)
        if isinstance(target, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in target.elts):
            names = ast.Tuple([ast.Constant(getattr(e, "id", "")) for e in target.elts], ast.Load())
            old = ast.Tuple([self._previous_value(e) for e in target.elts], ast.Load())
            return self._call("assign_all", value, names, old, value)
        return value

    def _previous_value(self, target: ast.expr) -> ast.expr:
        """Lambda of no arguments that gives what a name has."""
        plain = isinstance(target, ast.Name) and target.id not in self.apart
        # The name is looked up when it is called: before its first assignment that is a NameError.
        body = ast.Name(target.id, ast.Load()) if plain and isinstance(target, ast.Name) else ast.Constant(None)
        made = ast.Lambda(ast.arguments([], [], None, [], [], None, []), body)
        return ast.fix_missing_locations(ast.copy_location(made, target))

    def _call(self, name: str, at: ast.AST, *arguments: ast.expr) -> ast.Call:
        function = ast.Attribute(ast.Name(_RUN, ast.Load()), name, ast.Load())
        return ast.fix_missing_locations(ast.copy_location(ast.Call(function, list(arguments), []), at))

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name in ("body", "orelse", "finalbody"):
            found: Any = getattr(node, name, None)
            if isinstance(found, list) and found and isinstance(found[0], ast.stmt):
                setattr(node, name, self._join_chains(cast("list[ast.stmt]", found)))
        return super().generic_visit(node)

    def _join_chains(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Statements in which conditions that follow one another are one chain."""
        found: list[ast.stmt] = []
        chain: ast.With | None = None
        for statement in statements:
            kind = self._condition_kind(statement)
            if kind is None or not isinstance(statement, ast.With):
                chain = None
                found.append(statement)
            elif kind in ("v_if", "v_block"):
                opened = self._open_frame(statement, kind)
                found.append(opened)
                chain = opened if kind == "v_if" else None
            elif chain is None:
                raise self._misplaced_error(statement, f"`{kind}` without a `v_if` before it")
            else:
                chain.body += self._chain_arm(statement, kind)
                chain = chain if kind == "v_elseif" else None
        return found

    def _misplaced_error(self, node: ast.stmt, message: str) -> PolyloomError:
        return self.text.error("PL1252", message, node, _HELP)

    def _condition_kind(self, statement: ast.stmt) -> str | None:
        """Kind of condition that a `with` is, if one."""
        if not isinstance(statement, ast.With):
            return None
        kinds = [self._marker(item.context_expr) for item in statement.items]
        if len(kinds) > 1 and any(kinds):
            raise self.text.error("PL1252", "a `with` of several conditions", statement, "write one below the other")
        return kinds[0] if len(kinds) == 1 else None

    def _marker(self, node: ast.expr) -> str | None:
        named = node.func if isinstance(node, ast.Call) else node
        found = self._resolve_name(named)
        if not isinstance(found, conditions.Marker):
            return None
        arguments = len(node.args) if isinstance(node, ast.Call) else 0
        if found.takes != arguments or (isinstance(node, ast.Call) and (node.keywords or found.name == "v_else")):
            raise self.text.error("PL1252", f"`{found.name}` is written `{found.form}`", node, _HELP)
        return found.name

    def _resolve_name(self, node: ast.expr) -> object:
        """Value of a name with dots, None for anything else."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self._resolve_name(node.value)
            return None if base is None else getattr(base, node.attr, None)
        return None

    def _open_frame(self, statement: ast.With, kind: str) -> ast.With:
        at = statement.items[0].context_expr
        body = self._narrowing_statement(at) + statement.body if kind == "v_if" else statement.body
        item = ast.withitem(self._call("chain", at), None)
        return ast.copy_location(ast.With([item], body), statement)

    def _chain_arm(self, statement: ast.With, kind: str) -> list[ast.stmt]:
        at = statement.items[0].context_expr
        # An arm begins with the complement of all conditions before it, then narrows by its own.
        orelse = ast.copy_location(ast.Expr(self._call("else_", at)), at)
        return [orelse, *(self._narrowing_statement(at) if kind == "v_elseif" else []), *statement.body]

    def _narrowing_statement(self, at: ast.expr) -> list[ast.stmt]:
        assert isinstance(at, ast.Call)
        return [ast.copy_location(ast.Expr(self._call("cond", at, *at.args)), at)]
