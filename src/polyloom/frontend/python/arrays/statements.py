# SPDX-License-Identifier: Apache-2.0
"""Statements: what they store, what they bind names to, loops and branches; calls of the user's functions in place.

A name stands for a view of an array, for a local array that holds a value, or for what Python has. Names that a loop
binds anew are carried in local arrays; their types are the fixed point of reading the body (Kildall, POPL 1973).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from polyloom.frontend.python.arrays.evaluate import Closure, Evaluator, Frame, affine_relation
from polyloom.frontend.python.arrays.functions.elementwise import binary
from polyloom.frontend.python.arrays.indexing import place
from polyloom.frontend.python.arrays.iterables import Range, element, length, sequence
from polyloom.frontend.python.arrays.site import Site
from polyloom.frontend.python.arrays.values import Data, Generator, as_bool, common_type, items_of, numpy_type, truth
from polyloom.frontend.python.function import stored_names
from polyloom.frontend.python.refuse import STATEMENTS, refused
from polyloom.frontend.python.text import definition
from polyloom.ir.arrays.program import Apply, Form, Read, Value, parts
from polyloom.ir.nest import negate
from polyloom.ir.pla import Constant
from polyloom.names import fresh
from polyloom.sets import Affine, Condition

SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}


@dataclass(frozen=True, slots=True)
class Returned:
    """What a function returns."""

    value: Any


class Interpreter(Evaluator):
    """Reads functions."""

    def block(self, nodes: Sequence[ast.stmt], frame: Frame) -> Returned | None:
        for n, node in enumerate(nodes):
            if isinstance(node, ast.If):
                found = self.branch(node, nodes[n + 1 :], frame)
                if isinstance(found, Returned | bool):
                    # Where one side returns, the rest was read as a part of the other.
                    return found if isinstance(found, Returned) else None
                continue
            found = self.statement(node, frame)
            if found is not None:
                return found
        return None

    def statement(self, node: ast.stmt, frame: Frame) -> Returned | None:
        site = self.site(node, frame)
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Import() | ast.ImportFrom():
                pass
            case ast.Expr(value=value):
                self.evaluate(value, frame)
            case ast.Assign(targets=targets, value=value):
                found = self.evaluate(value, frame)
                for target in targets:
                    self.assign(target, found, frame)
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value) if value is not None:
                kind = self.evaluate(annotation, frame)
                found = self.evaluate(value, frame)
                is_type = isinstance(kind, type) and not isinstance(found, Data)
                self.bind(name, self.call(site, kind, [found], {}) if is_type else found, site, frame)
            case ast.AugAssign():
                self.augment(node, frame)
            case ast.For():
                self.loop(node, frame)
            case ast.Assert(test=test):
                self.assume(site, self.evaluate(test, frame))
            case ast.Return(value=value):
                return Returned(None if value is None else self.evaluate(value, frame))
            case ast.FunctionDef(name=name):
                frame.names[name] = Closure(node, frame)
            case _:
                raise refused(frame.text, node, node, STATEMENTS)
        return None

    def assign(self, target: ast.expr, value: Any, frame: Frame) -> None:
        site = self.site(target, frame)
        match target:
            case ast.Name(id=name):
                self.bind(name, value, site, frame)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                self.unpack(site, targets, value, frame)
            case ast.Subscript(value=base, slice=index):
                self.store(site, self.evaluate(base, frame), self.evaluate(index, frame), value)
            case _:
                help = "assign a name or elements of an array"
                raise site.error("PL0133", f"`{site.written}` cannot be assigned in a kernel", help)

    def unpack(self, site: Site, targets: Sequence[ast.expr], value: Any, frame: Frame) -> None:
        """All right sides before the first store: what a store would change is kept first."""
        items = items_of(value)
        if isinstance(value, Data) and value.shape and value.shape[0].is_constant:
            items = tuple(element(site, value, Affine((), n)) for n in range(value.shape[0].constant))
        if items is None or len(items) != len(targets):
            what = f"{len(items)} values" if items is not None else "what is no tuple"
            raise site.error("PL0133", f"{len(targets)} targets are assigned {what}", "give one value for each target")
        is_store = any(isinstance(t, ast.Subscript) for t in targets)
        kept = [self.kept(site, v) if is_store else v for v in items]
        for target, each in zip(targets, kept, strict=True):
            self.assign(target, each, frame)

    def kept(self, site: Site, value: Any) -> Any:
        """A value that later stores do not change."""
        if not isinstance(value, Data) or not _reads(value.value):
            return value
        return Data(self.builder.local(value.value, site.span), value.weak, value.wide, value.exact, bool(value.shape))

    def store(self, site: Site, base: Any, index: Any, value: Any) -> None:
        if not isinstance(base, Data) or not base.shape:
            raise site.error("PL0138", f"`{site.written}` stores to what is no array", "store to arrays")
        value = self.data(site, value)
        if isinstance(index, Data) and index.dtype == "bool":
            self.is_same_shape(site, index, base)
            site.store(place(site, base, Ellipsis), site.select(index, site.element(value, base.dtype), base))
            return
        site.store(place(site, base, index), value)

    def is_same_shape(self, site: Site, mask: Data, base: Data) -> None:
        if len(site.common_shape([mask.shape, base.shape])) != len(base.shape) or len(mask.shape) != len(base.shape):
            raise site.error("PL0149", f"the mask of `{site.written}` has another shape", "give one of the same shape")

    def augment(self, node: ast.AugAssign, frame: Frame) -> None:
        """`x += y`: of arrays in place, of numbers a new value."""
        site, target = self.site(node, frame), node.target
        value = self.evaluate(node.value, frame)
        if isinstance(target, ast.Subscript):
            base, index = self.evaluate(target.value, frame), self.evaluate(target.slice, frame)
            if isinstance(base, Data) and isinstance(index, Data) and index.dtype == "bool":
                self.is_same_shape(site, index, base)
                self.in_place(site, base, site.select(index, self.operated(site, node, base, value), base))
                return
            if not isinstance(base, Data):
                raise site.error("PL0138", f"`{site.written}` stores to what is no array", "store to arrays")
            at = place(site, base, index)
            self.in_place(site, at, self.operated(site, node, at, value))
            return
        if not isinstance(target, ast.Name):
            raise site.error("PL0133", f"`{site.written}` cannot be assigned in a kernel", "assign a name or elements")
        before = self.evaluate(ast.copy_location(ast.Name(target.id, ast.Load()), target), frame)
        found = self.operated(site, node, before, value)
        if isinstance(before, Data) and before.shape:
            self.in_place(site, place(site, before, Ellipsis), found)
        else:
            self.bind(target.id, found, site, frame)

    def operated(self, site: Site, node: ast.AugAssign, before: Any, value: Any) -> Any:
        if isinstance(node.op, ast.MatMult):
            return self.call(site, np.matmul, [before, value], {})
        return binary(site, SYMBOLS[type(node.op)], before, value)

    def in_place(self, site: Site, target: Data, found: Any) -> None:
        data = site.data(found)
        if numpy_type(data).kind == "f" and numpy_type(target).kind in "iub":
            help = f"write `... = ({site.written.partition('=')[0].strip(' +-*/')} ...).astype(...)`"
            raise site.error("PL0139", f"`{site.written}` stores floats to {target.type_name} in place", help)
        site.store(target, found)

    def bind(self, name: str, value: Any, site: Site, frame: Frame) -> None:
        """A name for a view, or for a local array with the value as it is now."""
        value = self.data(site, value) if isinstance(value, Condition) else value
        if (items := items_of(value)) is not None:
            value = tuple(self.kept(site, v) if isinstance(v, Data) and not v.is_view else v for v in items)
        if isinstance(value, Data) and not value.is_view and not _is_fixed(value):
            # Python evaluates now: what the value reads may change before the name is used.
            local = self.builder.local(value.value, site.span, name)
            value = Data(local, value.weak, value.wide, value.exact, bool(value.shape))
        frame.names[name] = value

    def assume(self, site: Site, test: Any) -> None:
        """What an assertion says of sizes."""
        if isinstance(test, bool) and test:
            return
        if not isinstance(test, Condition) or len(test.pieces) != 1 or self.builder.loops:
            help = "at the head of the function, assert what holds for the sizes; leave other assertions out"
            raise site.error("PL0133", f"`{site.written}` is no affine condition on sizes", help)
        self.builder.assumptions += test.pieces[0].constraints

    # Loops

    def loop(self, node: ast.For, frame: Frame) -> None:
        if node.orelse:
            help = "write its statements behind the loop"
            raise frame.text.error("PL0133", "a loop with `else` cannot stand in a kernel", node.orelse[0], help)
        site = self.site(node.iter, frame)
        items = self.evaluate(node.iter, frame)
        known = sequence(site, items)
        if known is not None:
            for item in known:
                self.assign(node.target, item, frame)
                self.body(node, frame)
            return
        cells = self.carried(node, items, frame)
        before = {**frame.names}
        for name, cell in cells.items():
            frame.names[name] = cell
        loop = self.turn(node, items, frame, cells)
        after = frame.names
        frame.names = {**before, **cells}
        for name, value in after.items():
            if name not in before and isinstance(value, Data) and isinstance(value.value, Read):
                # The last turn's value; an index that names the loop has none behind it.
                symbols = {s for form in (*value.value.index, *value.shape) for s in form.symbols}
                if loop not in symbols:
                    frame.names[name] = value

    def body(self, node: ast.For, frame: Frame) -> None:
        if self.block(node.body, frame) is not None:
            help = "let the loop run to its end, and return behind it"
            raise frame.text.error("PL0133", "`return` within a loop cannot stand in a kernel", node, help)

    def turn(self, node: ast.For, items: Any, frame: Frame, cells: dict[str, Data]) -> str:
        """The loop with its body, behind which the names that are carried are stored; the loop's name."""
        site = self.site(node.iter, frame)
        named = node.target.id if isinstance(node.target, ast.Name) else "i"
        name = fresh(named.strip("_") or "i", self.builder.taken)
        symbol = Affine.symbol(name)
        if isinstance(items, Range) and abs(items.step) == 1:
            up = items.step == 1
            lower, upper = (items.first, items.end) if up else (items.end + 1, items.first + 1)
            step = 1 if up else -1
        else:
            lower, upper, step = Affine(), length(site, items), 1
        with self.builder.loop(name, (lower,), (upper,), 1 if step == 1 else -1, self.site(node, frame).span):
            is_itself = isinstance(items, Range) and abs(items.step) == 1
            self.assign(node.target, symbol if is_itself else element(site, items, symbol), frame)
            self.body(node, frame)
            self.store_cells(site, cells, frame)
        return name

    def store_cells(self, site: Site, cells: dict[str, Data], frame: Frame) -> None:
        """The values that the next turn begins with: all of them are read before one is stored."""
        own = {cell.value.name for cell in cells.values() if isinstance(cell.value, Read)}
        new = dict[str, Any]()
        for name, cell in cells.items():
            found = frame.names[name]
            if found == cell:
                continue
            read = {r.name for r in _reads(found.value)} if isinstance(found, Data) else set[str]()
            assert isinstance(cell.value, Read)
            # A swap: storing one name would change what the other one still reads.
            new[name] = self.kept(site, found) if len(cells) > 1 and read & own - {cell.value.name} else found
        for name, found in new.items():
            # The names change in every turn; stores that a test guards are in the values already.
            guard, self.builder.guard = self.builder.guard, None
            site.store(cells[name], self.data(site, found))
            self.builder.guard = guard

    def carried(self, node: ast.For, items: Any, frame: Frame) -> dict[str, Data]:
        """Local arrays for the names that a turn leaves for the next one, with the first values in them."""
        site = self.site(node, frame)
        names = [n for n in dict.fromkeys(stored_names(_as_function(node))) if n in frame.names]
        names = [n for n in names if n not in _target_names(node.target)]
        names = [n for n in names if not _is_updated_in_place(node, n, frame.names[n])]
        if not names:
            return {}
        types: dict[str, Data] = {}
        # Types only grow, in a lattice of this height: weak, narrow, wide, double.
        for _ in range(4):
            found = self.types_after(node, items, frame, types)
            changed = {n: self.met(site, n, types.get(n, frame.names[n]), found[n]) for n in names}
            changed = {n: data for n, data in changed.items() if data is not None}
            if {n: _kind(d) for n, d in changed.items()} == {n: _kind(d) for n, d in types.items()}:
                break
            types = changed
        cells = dict[str, Data]()
        for name, model in types.items():
            begin = frame.names[name]
            if isinstance(begin, Data) and begin.is_view and _is_stored_to(node, name):
                help = f"write both arrays out in each turn, or copy elements: `{name}[...] = ...`"
                raise site.error("PL0133", f"`{name}` names another array in each turn, and is stored to", help)
            data = site.filled(site.typed(begin, numpy_type(model)), model.shape)
            local = self.builder.local(data.value, site.span, name)
            cells[name] = Data(local, model.weak, model.wide, model.exact, bool(model.shape))
        return cells

    def types_after(self, node: ast.For, items: Any, frame: Frame, types: dict[str, Data]) -> dict[str, Any]:
        """What names stand for behind a turn, which is read and thrown away."""
        builder, names = self.builder, {**frame.names}
        before, tables = builder.snapshot(), {**self.tables}
        prologue, parameters = [*builder.prologue], {**self.parameters}
        for name, model in types.items():
            local = builder.local(model.value, None, name)
            frame.names[name] = Data(local, model.weak, model.wide, model.exact, bool(model.shape))
        try:
            self.turn(node, items, frame, {})
            return frame.names
        finally:
            frame.names = names
            builder.restore(before)
            builder.prologue, self.tables, self.parameters = prologue, tables, parameters

    def met(self, site: Site, name: str, before: Any, after: Any) -> Data | None:
        """What holds a value from before a loop and one from a turn; None where they are the same thing."""
        if before is after or (type(before) is type(after) and before == after):
            return None
        kinds = (Data, Affine, float, bool, Condition)
        if not isinstance(before, kinds) or not isinstance(after, kinds):
            raise site.error("PL0139", f"`{name}` stands for another thing in each turn", "use one name for each")
        first, second = site.data(self.data(site, before)), site.data(self.data(site, after))
        kind = common_type([first, second]) or np.dtype(np.int64)
        a, b = site.typed(first, kind), site.typed(second, kind)
        extents = site.common_shape([a.shape, b.shape])
        if extents != b.shape or (a.shape and a.shape != extents):
            message = f"`{name}` has the shape {_shown(a)} before the loop, and {_shown(b)} in it"
            raise site.error("PL0149", message, "give it one shape")
        return Data(b.value, first.weak and second.weak, a.wide, False)

    # Branches

    def branch(self, node: ast.If, rest: Sequence[ast.stmt], frame: Frame) -> Returned | bool | None:
        """A branch, and the rest of its block where a side returns; True where the rest was read."""
        site = self.site(node.test, frame)
        test = self.evaluate(node.test, frame)
        if isinstance(test, Affine):
            test = affine_relation("!=", test, Affine())
        if isinstance(test, Condition):
            test = self.decided(test)
        if isinstance(test, bool | None | str | tuple | float):
            taken = node.body if test else node.orelse
            found = self.block([*taken, *rest] if _returns(taken) else taken, frame)
            return found if found is not None or not _returns(taken) else True
        returns = _returns(node.body) or _returns(node.orelse)
        first, second = list(node.body), list(node.orelse)
        # What follows is read on the side that goes on: no nest jumps.
        if returns:
            first, second = (side if _always_returns(side) else [*side, *rest] for side in (first, second))
        if not isinstance(test, Condition):
            data = site.truth(test)
            if data.shape:
                help = "write `np.where(condition, a, b)`, or `.any()` or `.all()` of the condition"
                raise site.error("PL0147", f"`{site.written}` decides by an array", help)
            test = Data(as_bool(self.builder.local(truth(data.value), site.span, "test")))
        sides = self.sides(site, test, first, second, frame)
        if not returns:
            return None
        a, b = sides
        if (a is None) != (b is None) and ((a or b) or Returned(None)).value is not None:
            raise site.error("PL0133", "one side of this returns a value, the other none", "return on both sides")
        if a is None or b is None:
            return True
        return Returned(self.merged(site, test, a.value, b.value))

    def decided(self, test: Condition) -> Condition | bool:
        """A condition on sizes that holds for all of them, or for none."""
        if len(test.pieces) == 1 and self.builder.proves(*test.pieces[0].constraints):
            return True
        against = negate(test)
        if len(against.pieces) == 1 and self.builder.proves(*against.pieces[0].constraints):
            return False
        return test

    def sides(
        self, site: Site, test: Any, first: Sequence[ast.stmt], second: Sequence[ast.stmt], frame: Frame
    ) -> tuple[Returned | None, Returned | None]:
        """Both sides; names that they bind differently stand for what the test chooses."""
        before = {**frame.names}
        if isinstance(test, Condition):
            with self.builder.branch(test) as body:
                a = self.block(first, frame)
            names, frame.names = frame.names, {**before}
            with self.builder.branch(negate(test)) as orelse:
                b = self.block(second, frame)
            self.builder.branches(test, body, orelse, site.span)
        else:
            a = self.guarded(site, truth(test.value), first, frame)
            names, frame.names = frame.names, {**before}
            opposite: Value = Apply("eq", "i32", (truth(test.value), Constant(0, "i32")), site.span)
            b = self.guarded(site, opposite, second, frame)
        for name in dict.fromkeys((*names, *frame.names)):
            one, other = names.get(name, _MISSING), frame.names.get(name, _MISSING)
            if one is other or (type(one) is type(other) and one == other):
                continue
            if one is _MISSING or other is _MISSING:
                frame.names.pop(name, None)
                # A side that returns leaves the other's names.
                if (a is not None and one is _MISSING) or (b is not None and other is _MISSING):
                    frame.names[name] = other if one is _MISSING else one
                continue
            if a is None and b is None:
                self.bind(name, self.merged(site, test, one, other), site, frame)
            elif b is not None:
                frame.names[name] = one
        return a, b

    def guarded(self, site: Site, test: Value, nodes: Sequence[ast.stmt], frame: Frame) -> Returned | None:
        """Statements whose stores show where a test of data holds."""
        outer = self.builder.guard
        self.builder.guard = test if outer is None else Apply("and", "i32", (outer, test), site.span)
        try:
            return self.block(nodes, frame)
        finally:
            self.builder.guard = outer

    # Calls

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
            text, node = definition(function)
            cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
            namespace = {**function.__globals__, **{name: cell.cell_contents for name, cell in cells}}
            names = dict[str, Any]()
            defaults = [self.object(site, d) for d in function.__defaults__ or ()]
            known = function.__kwdefaults__ or {}
            keywords = [self.object(site, known[a.arg]) if a.arg in known else None for a in node.args.kwonlyargs]
        values = self.arguments(site, node.args, defaults, keywords, given, named)
        body = node.body if isinstance(node.body, list) else [ast.copy_location(ast.Return(node.body), node.body)]
        bound = frozenset(
            (
                *values,
                *(n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)),
            )
        )
        frame = Frame(text, namespace, {**{k: v for k, v in names.items() if k not in bound}, **values}, bound)
        self.calls.append(function)
        try:
            found = self.block(body, frame)
        finally:
            self.calls.pop()
        return None if found is None else found.value

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
            message = f"`{site.written}` passes {len(given)} arguments for {len(positional)}"
            raise site.error("PL0134", message, "see the function's head")
        known = {*positional, *(a.arg for a in signature.kwonlyargs)}
        for name, value in named.items():
            if name not in known or name in values:
                raise site.error("PL0134", f"`{site.written}` has no use for `{name}`", "see the function's head")
            values[name] = value
        filled = dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=True))
        filled |= {a.arg: d for a, d in zip(signature.kwonlyargs, keywords, strict=True) if d is not None}
        values = {**filled, **values}
        for name in positional:
            if name not in values:
                raise site.error(
                    "PL0134", f"`{site.written}` gives no `{name}`", "pass every argument without a default"
                )
        return values

    def summed(self, site: Site, generator: Generator, begin: Any) -> Any:
        """`sum(element for ...)` as the loop that it is."""
        node, frame = generator.node
        name = fresh("total", {*frame.bound, *frame.names})
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


_MISSING = object()


def _reads(value: Value) -> list[Read]:
    found = [value] if isinstance(value, Read) else list[Read]()
    for part in parts(value):
        found += _reads(part)
    return found


def _is_fixed(data: Data) -> bool:
    """Whether a value of rank 0 stays as it is: a constant or a form."""
    return not data.shape and isinstance(data.value, Constant | Form)


def _kind(data: Data) -> tuple[Any, ...]:
    return data.dtype, data.weak, data.wide, data.shape


def _shown(data: Data) -> str:
    return f"({', '.join(map(str, data.shape))})"


def _as_function(node: ast.For) -> ast.FunctionDef:
    arguments = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.FunctionDef(name="", args=arguments, body=node.body, decorator_list=[])


def _target_names(target: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}


def _is_updated_in_place(node: ast.For, name: str, value: Any) -> bool:
    """Whether a loop only updates the elements of the array that a name stands for."""
    if not isinstance(value, Data) or not value.shape:
        return False
    updates = {id(n.target) for n in ast.walk(node) if isinstance(n, ast.AugAssign)}
    stored = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)]
    return all(id(n) in updates for n in stored)


def _is_stored_to(node: ast.For, name: str) -> bool:
    """Whether a loop stores to elements of what a name stands for."""
    for n in ast.walk(node):
        target = n.target if isinstance(n, ast.AugAssign) else n if isinstance(n, ast.Subscript) else None
        while isinstance(target, ast.Subscript | ast.Attribute):
            is_store = isinstance(target.ctx, ast.Store)
            target = target.value
            if is_store and isinstance(target, ast.Name) and target.id == name:
                return True
    return False


def _returns(nodes: Sequence[ast.stmt]) -> bool:
    """Whether some statement returns, outside of loops."""
    return any(
        isinstance(n, ast.Return) or (isinstance(n, ast.If) and (_returns(n.body) or _returns(n.orelse))) for n in nodes
    )


def _always_returns(nodes: Sequence[ast.stmt]) -> bool:
    return any(
        isinstance(n, ast.Return) or (isinstance(n, ast.If) and _always_returns(n.body) and _always_returns(n.orelse))
        for n in nodes
    )
