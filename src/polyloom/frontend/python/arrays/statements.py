# SPDX-License-Identifier: Apache-2.0
"""Statements: what they store, and what they bind names to.

A name stands for a view of an array, for a local array that holds a value, or for what Python has.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from polyloom.frontend.python.arrays.evaluate import SYMBOLS, MaskedValues, selects_elements
from polyloom.frontend.python.arrays.functions.elementwise import binary
from polyloom.frontend.python.arrays.indexing import place
from polyloom.frontend.python.arrays.iterables import element
from polyloom.frontend.python.arrays.names import Closure, Frame, ReturnValue
from polyloom.frontend.python.arrays.site import Site
from polyloom.frontend.python.arrays.values import Data, as_sequence, is_mask, numpy_type
from polyloom.frontend.python.refused_syntax import STATEMENTS, refuse_syntax
from polyloom.ir.arrays.program import Form, Read, Value, parts
from polyloom.ir.pla import Constant
from polyloom.sets import Affine, Condition


class Statements(MaskedValues):
    """Statements in blocks."""

    def block(self, nodes: Sequence[ast.stmt], frame: Frame) -> ReturnValue | None:
        for n, node in enumerate(nodes):
            if isinstance(node, ast.If):
                found = self.branch(node, nodes[n + 1 :], frame)
                if isinstance(found, ReturnValue | bool):
                    # Where one side returns, the rest was read as a part of the other.
                    return found if isinstance(found, ReturnValue) else None
                continue
            found = self.statement(node, frame)
            if found is not None:
                return found
        return None

    def statement(self, node: ast.stmt, frame: Frame) -> ReturnValue | None:
        site = self.site(node, frame)
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Import() | ast.ImportFrom():
                pass
            case ast.Expr(value=value):
                self.evaluate(value, frame)
            case ast.Assign(targets=[ast.Subscript() as target], value=value) if selects_elements(value, target.slice):
                index = self.evaluate(target.slice, frame)
                found = self.masked_value(value, target.slice, index, frame)
                self.store(self.site(target, frame), self.evaluate(target.value, frame), index, found, True)
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
                return ReturnValue(None if value is None else self.evaluate(value, frame))
            case ast.FunctionDef(name=name):
                frame.names[name] = Closure(node, frame)
            case _:
                raise refuse_syntax(frame.text, node, node, STATEMENTS)
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
                raise site.error("PL0133", f"`{site.source_text}` cannot be assigned in a kernel", help)

    def unpack(self, site: Site, targets: Sequence[ast.expr], value: Any, frame: Frame) -> None:
        """All right sides before the first store: what a store would change is kept first."""
        items = as_sequence(value)
        count = None if items is None else len(items)
        if isinstance(value, Data) and value.shape and value.shape[0].is_constant:
            count = value.shape[0].constant
            # An array may have any number of elements: those of another one than of targets are never made.
            items = [element(site, value, Affine((), n)) for n in range(count if count == len(targets) else 0)]
        if items is None or count != len(targets):
            what = f"{count} values" if count is not None else "what is no tuple"
            raise site.error("PL0133", f"{len(targets)} targets are assigned {what}", "give one value for each target")
        is_store = any(isinstance(t, ast.Subscript) for t in targets)
        kept = [self.snapshot(site, v) if is_store else v for v in items]
        for target, each in zip(targets, kept, strict=True):
            self.assign(target, each, frame)

    def snapshot(self, site: Site, value: Any) -> Any:
        """A value that later stores do not change."""
        if not isinstance(value, Data) or not arrays_read(value.value):
            return value
        return Data(self.builder.local(value.value, site.span), value.weak, value.wide, value.exact, bool(value.shape))

    def store(self, site: Site, base: Any, index: Any, value: Any, is_masked: bool = False) -> None:
        """`base[index] = value`; a masked value is one of all elements."""
        if not isinstance(base, Data) or not base.shape:
            raise site.error("PL0138", f"`{site.source_text}` stores to what is no array", "store to arrays")
        value = self.data(site, value)
        if is_mask(index):
            self.is_same_shape(site, index, base)
            value = value if is_masked else self.number_beside_mask(site, value)
            site.store(place(site, base, Ellipsis), site.select(index, site.element(value, base.dtype), base))
            return
        site.store(place(site, base, index), value)

    def augment(self, node: ast.AugAssign, frame: Frame) -> None:
        """`x += y`: of arrays in place, of numbers a new value."""
        site, target = self.site(node, frame), node.target
        if isinstance(target, ast.Subscript):
            index = self.evaluate(target.slice, frame)
            value = self.masked_value(node.value, target.slice, index, frame)
            base = self.evaluate(target.value, frame)
            if isinstance(base, Data) and is_mask(index):
                self.is_same_shape(site, index, base)
                with self.guard_mask(site, index):
                    found = self.augmented_value(site, node, base, value)
                self.in_place(site, base, site.select(index, found, base))
                return
            if not isinstance(base, Data):
                raise site.error("PL0138", f"`{site.source_text}` stores to what is no array", "store to arrays")
            at = place(site, base, index)
            self.in_place(site, at, self.augmented_value(site, node, at, value))
            return
        if not isinstance(target, ast.Name):
            raise site.error(
                "PL0133", f"`{site.source_text}` cannot be assigned in a kernel", "assign a name or elements"
            )
        value = self.evaluate(node.value, frame)
        before = self.evaluate(ast.copy_location(ast.Name(target.id, ast.Load()), target), frame)
        found = self.augmented_value(site, node, before, value)
        if isinstance(before, Data) and before.shape:
            self.in_place(site, place(site, before, Ellipsis), found)
        else:
            self.bind(target.id, found, site, frame)

    def augmented_value(self, site: Site, node: ast.AugAssign, before: Any, value: Any) -> Any:
        if isinstance(node.op, ast.MatMult):
            return self.call(site, np.matmul, [before, value], {})
        return binary(site, SYMBOLS[type(node.op)], before, value)

    def in_place(self, site: Site, target: Data, found: Any) -> None:
        data = site.data(found)
        if numpy_type(data).kind == "f" and numpy_type(target).kind in "iub":
            help = f"write `... = ({site.source_text.partition('=')[0].strip(' +-*/')} ...).astype(...)`"
            raise site.error("PL0139", f"`{site.source_text}` stores floats to {target.type_name} in place", help)
        site.store(target, found)

    def bind(self, name: str, value: Any, site: Site, frame: Frame) -> None:
        """A name for a view, or for a local array with the value as it is now."""
        value = self.data(site, value) if isinstance(value, Condition) else value
        if (items := as_sequence(value)) is not None:
            value = tuple(self.snapshot(site, v) if isinstance(v, Data) and not v.is_view else v for v in items)
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
            raise site.error("PL0133", f"`{site.source_text}` is no affine condition on sizes", help)
        self.builder.assumptions += test.pieces[0].constraints


def arrays_read(value: Value) -> list[Read]:
    found = [value] if isinstance(value, Read) else list[Read]()
    for part in parts(value):
        found += arrays_read(part)
    return found


def _is_fixed(data: Data) -> bool:
    """Whether a value of rank 0 stays as it is: a constant or a form."""
    return not data.shape and isinstance(data.value, Constant | Form)
