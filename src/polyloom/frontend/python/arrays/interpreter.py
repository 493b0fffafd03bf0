# SPDX-License-Identifier: Apache-2.0
"""Functions of the user's, read in the place of their calls."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import FunctionType
from typing import Any

from polyloom.frontend.python.arrays.loops import Loops
from polyloom.frontend.python.arrays.names import Closure, Frame
from polyloom.frontend.python.arrays.site import Site
from polyloom.frontend.python.arrays.values import Data, Generator
from polyloom.frontend.python.syntax_tree import find_definition
from polyloom.ir.arrays.program import has_sum
from polyloom.names import fresh_name


class Interpreter(Loops):
    """Reads functions."""

    def inline(self, site: Site, function: Any, given: Sequence[Any], named: dict[str, Any]) -> Any:
        function = getattr(function, "function", function)
        if function in self.calls:
            name = getattr(function, "__name__", "lambda")
            raise site.error("PL0134", f"`{name}` calls itself", "write a loop: a kernel has no stack")
        if isinstance(function, Closure):
            node, text, namespace, names = (
                function.node,
                function.frame.text,
                function.frame.namespace,
                function.frame.names,
            )
            defaults = [self.evaluate(d, function.frame) for d in node.args.defaults]
            keywords = [None if d is None else self.evaluate(d, function.frame) for d in node.args.kw_defaults]
        else:
            assert isinstance(function, FunctionType)
            text, node = find_definition(function)
            cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
            namespace = {**function.__globals__, **{name: cell.cell_contents for name, cell in cells}}
            names = dict[str, Any]()
            defaults = [self.object(site, d) for d in function.__defaults__ or ()]
            known = function.__kwdefaults__ or {}
            keywords = [self.object(site, known[a.arg]) if a.arg in known else None for a in node.args.kwonlyargs]
        values = self.arguments(site, node.args, defaults, keywords, given, named)
        # Python evaluates an argument once, however often the function names it.
        values = {name: self.argument_value(site, name, value) for name, value in values.items()}
        body = node.body if isinstance(node.body, list) else [ast.copy_location(ast.Return(node.body), node.body)]
        bound = frozenset(
            (
                *values,
                *(n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)),
            )
        )
        frame = Frame(text, namespace, {**{k: v for k, v in names.items() if k not in bound}, **values}, bound)
        # A function in its own call would be read for ever.
        self.calls.append(function)
        try:
            found = self.block(body, frame)
        finally:
            self.calls.pop()
        return None if found is None else found.value

    def argument_value(self, site: Site, name: str, value: Any) -> Any:
        """An argument as its parameter has it: a sum, or what holds one, is a local array that all uses read."""
        if not isinstance(value, Data) or not has_sum(value.value):
            return value
        return Data(self.builder.local(value.value, site.span, name), value.weak, value.wide, value.exact)

    def arguments(
        self,
        site: Site,
        signature: ast.arguments,
        defaults: Sequence[Any],
        keywords: Sequence[Any],
        given: Sequence[Any],
        named: dict[str, Any],
    ) -> dict[str, Any]:
        """Values by the names of parameters, by position, by keyword and by default."""
        positional = [a.arg for a in (*signature.posonlyargs, *signature.args)]
        values = dict(zip(positional, given, strict=False))
        if signature.vararg is not None:
            values[signature.vararg.arg] = tuple(given[len(positional) :])
        elif len(given) > len(positional):
            message = f"`{site.source_text}` passes {len(given)} arguments for {len(positional)}"
            raise site.error("PL0134", message, "see the function's head")
        known = {*positional, *(a.arg for a in signature.kwonlyargs)}
        for name, value in named.items():
            if name not in known or name in values:
                raise site.error("PL0134", f"`{site.source_text}` has no use for `{name}`", "see the function's head")
            values[name] = value
        filled = dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=True))
        filled |= {a.arg: d for a, d in zip(signature.kwonlyargs, keywords, strict=True) if d is not None}
        values = {**filled, **values}
        for name in positional:
            if name not in values:
                raise site.error(
                    "PL0134", f"`{site.source_text}` gives no `{name}`", "pass every argument without a default"
                )
        return values

    def sum_generator(self, site: Site, generator: Generator, begin: Any) -> Any:
        """`sum(element for ...)` as the loop that it is."""
        node, frame = generator.node
        name = fresh_name("total", {*frame.bound, *frame.names})
        add = ast.AugAssign(ast.Name(name, ast.Store()), ast.Add(), node.elt)
        body: list[ast.stmt] = [ast.copy_location(add, node.elt)]
        for part in reversed(node.generators):
            for test in part.ifs:
                body = [ast.copy_location(ast.If(test, body, []), test)]
            body = [ast.copy_location(ast.For(part.target, part.iter, body, []), part.iter)]
        inner = Frame(frame.text, frame.namespace, {**frame.names, name: begin}, frame.bound | {name})
        for statement in body:
            ast.fix_missing_locations(statement)
        self.block(body, inner)
        return inner.names[name]
