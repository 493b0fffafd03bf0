# SPDX-License-Identifier: Apache-2.0
"""Loops: over ranges, arrays, pairs; names that a turn leaves for the next one.

Such names are carried in local arrays; their types are the fixed point of reading the body (Kildall, POPL 1973).
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from polyloom.frontend.python.arrays.branches import Branches
from polyloom.frontend.python.arrays.breaks import has_break, lower_breaks
from polyloom.frontend.python.arrays.iterables import Range, element, length, sequence
from polyloom.frontend.python.arrays.names import Frame
from polyloom.frontend.python.arrays.site import Site
from polyloom.frontend.python.arrays.statements import arrays_read
from polyloom.frontend.python.arrays.values import Data, common_type, numpy_type
from polyloom.frontend.python.resolve_names import stored_names
from polyloom.ir.arrays.program import Read
from polyloom.ir.pla import Constant
from polyloom.names import dotted_name, fresh_name
from polyloom.sets import Affine, Condition


class Loops(Branches):
    """`for`."""

    def loop(self, node: ast.For, frame: Frame) -> None:
        if node.orelse:
            help = "write its statements behind the loop"
            raise frame.text.error("PL0133", "a loop with `else` cannot stand in a kernel", node.orelse[0], help)
        if has_break(node):
            # Names with a dot are no user's.
            flag, stop = dotted_name("running", node.lineno), dotted_name("stop", node.lineno)
            frame.names |= {flag: Data(Constant(1, "i32")), stop: Data(Constant(0, "i32"))}
            self.loop(lower_breaks(node, flag, stop), frame)
            frame.names = {name: value for name, value in frame.names.items() if name not in (flag, stop)}
            return
        site = self.site(node.iter, frame)
        items = self.evaluate(node.iter, frame)
        known = sequence(site, items)
        if known is not None:
            for item in known:
                self.assign(node.target, item, frame)
                self.body(node, frame)
            return
        cells = self.carry_names(node, items, frame)
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
        name = fresh_name(named.strip("_") or "i", self.builder.taken)
        symbol = Affine.symbol(name)
        if isinstance(items, Range) and abs(items.step) == 1:
            up = items.step == 1
            lower, upper = (items.first, items.end) if up else (items.end + 1, items.first + 1)
            step = 1 if up else -1
        else:
            lower, upper, step = Affine(), length(site, items), 1
        span = self.site(node, frame).span
        with self.builder.loop(name, (lower,), (upper,), 1 if step == 1 else -1, span, named):
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
            read = {r.name for r in arrays_read(found.value)} if isinstance(found, Data) else set[str]()
            assert isinstance(cell.value, Read)
            # A swap: storing one name would change what the other one still reads.
            new[name] = self.snapshot(site, found) if len(cells) > 1 and read & own - {cell.value.name} else found
        for name, found in new.items():
            # The names change in every turn; stores that a test guards are in the values already.
            guard, self.builder.guard = self.builder.guard, None
            site.store(cells[name], self.data(site, found))
            self.builder.guard = guard

    def carry_names(self, node: ast.For, items: Any, frame: Frame) -> dict[str, Data]:
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
            found = self.infer_turn(node, items, frame, types)
            changed = {n: self.meet(site, n, types.get(n, frame.names[n]), found[n]) for n in names}
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
            data = site.fill_shape(site.convert_data(begin, numpy_type(model)), model.shape)
            local = self.builder.local(data.value, site.span, name)
            cells[name] = Data(local, model.weak, model.wide, model.exact, bool(model.shape))
        return cells

    def infer_turn(self, node: ast.For, items: Any, frame: Frame, types: dict[str, Data]) -> dict[str, Any]:
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

    def meet(self, site: Site, name: str, before: Any, after: Any) -> Data | None:
        """What holds a value from before a loop and one from a turn; None where they are the same thing."""
        if before is after or (type(before) is type(after) and before == after):
            return None
        kinds = (Data, Affine, float, bool, Condition)
        if not isinstance(before, kinds) or not isinstance(after, kinds):
            raise site.error("PL0139", f"`{name}` stands for another thing in each turn", "use one name for each")
        first, second = site.data(self.data(site, before)), site.data(self.data(site, after))
        kind = common_type([first, second]) or np.dtype(np.int64)
        a, b = site.convert_data(first, kind), site.convert_data(second, kind)
        extents = site.common_shape([a.shape, b.shape])
        if extents != b.shape or (a.shape and a.shape != extents):
            message = f"`{name}` has the shape {_type_text(a)} before the loop, and {_type_text(b)} in it"
            raise site.error("PL0149", message, "give it one shape")
        return Data(b.value, first.weak and second.weak, a.wide, False)


def _kind(data: Data) -> tuple[Any, ...]:
    return data.dtype, data.weak, data.wide, data.shape


def _type_text(data: Data) -> str:
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
