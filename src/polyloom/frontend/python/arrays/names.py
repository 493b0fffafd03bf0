# SPDX-License-Identifier: Apache-2.0
"""Names, attributes and elements: what the text of a function names."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from polyloom.frontend.python.arrays.builder import Builder
from polyloom.frontend.python.arrays.functions.creation import table
from polyloom.frontend.python.arrays.functions.shaping import ravel, transpose
from polyloom.frontend.python.arrays.indexing import index_array
from polyloom.frontend.python.arrays.site import Site
from polyloom.frontend.python.arrays.values import (
    Bound,
    Data,
    Generator,
    as_bool,
    as_sequence,
    numpy_type,
    slice_bounds,
)
from polyloom.frontend.python.integer_trees import NOTHING
from polyloom.frontend.python.syntax_tree import Text
from polyloom.frontend.python.types import Size
from polyloom.frontend.suggestions import suggestion
from polyloom.ir.arrays.program import Cases
from polyloom.ir.pla import Constant
from polyloom.sets import Affine, Condition


@dataclass(slots=True)
class Frame:
    """A function that is being read: its text, the objects around it, what its names stand for (mutable), and which
    names it binds anywhere."""

    text: Text
    namespace: Mapping[str, object]
    names: dict[str, Any]
    bound: frozenset[str]


@dataclass(frozen=True, slots=True)
class Closure:
    """A `lambda`, or a function that is defined within another."""

    node: ast.Lambda | ast.FunctionDef
    frame: Frame


@dataclass(frozen=True, slots=True)
class ReturnValue:
    """What a function returns."""

    value: Any


@dataclass(slots=True)
class Names:
    """`parameters` are the sizes in the order of the text, `tables` the arrays of modules that are read, `calls` the
    functions that are being read (mutable)."""

    builder: Builder
    parameters: dict[str, None] = field(default_factory=dict[str, None])
    tables: dict[int, Data] = field(default_factory=dict[int, Data])
    calls: list[object] = field(default_factory=list[object])

    def site(self, node: ast.expr | ast.stmt, frame: Frame) -> Site:
        return Site(self.builder, frame.text, node, self.call)

    def inline(self, site: Site, function: Any, given: Sequence[Any], named: dict[str, Any]) -> Any:
        """What a function of the user's gives."""
        raise NotImplementedError

    def sum_generator(self, site: Site, generator: Generator, begin: Any) -> Any:
        """`sum(element for ... in ...)`."""
        raise NotImplementedError

    def evaluate(self, node: ast.expr, frame: Frame) -> Any:
        """What an expression stands for."""
        raise NotImplementedError

    def call(self, site: Site, function: Any, given: Sequence[Any], named: dict[str, Any]) -> Any:
        """What a function gives."""
        raise NotImplementedError

    def block(self, nodes: Sequence[ast.stmt], frame: Frame) -> ReturnValue | None:
        """Executes statements."""
        raise NotImplementedError

    def branch(self, node: ast.If, rest: Sequence[ast.stmt], frame: Frame) -> ReturnValue | bool | None:
        """A branch, and the rest of its block where a side returns; True where the rest was read."""
        raise NotImplementedError

    def loop(self, node: ast.For, frame: Frame) -> None:
        """A loop."""
        raise NotImplementedError

    def object(self, site: Site, given: object) -> Any:
        """An object of Python's as a value."""
        value: Any = given
        kind: Any = type(given)
        if issubclass(kind, np.integer | np.floating):
            typed = site.convert_data(0.0 if issubclass(kind, np.floating) else Affine(), value.dtype)
            number = float(value) if issubclass(kind, np.floating) else int(value)
            return Data(Constant(number, typed.dtype, site.span), wide=typed.wide, exact=typed.wide)
        match given:
            case bool() | float() | str() | None:
                return value
            case Size():
                self.parameters |= dict.fromkeys(name for name, _ in value.form.terms)
                return value.form
            case int():
                return Affine((), int(value))
            case np.bool_():
                return bool(value)
            case np.ndarray():
                return self.table(site, value)
            case tuple() | list():
                return tuple(self.object(site, v) for v in as_sequence(value) or ())
            case _:
                return value

    def table(self, site: Site, constants: Any) -> Data:
        """An array of the module, stored once at the begin of the function."""
        if id(constants) not in self.tables:
            outer, self.builder.statements = self.builder.statements, self.builder.prologue
            self.tables[id(constants)] = table(site, constants)
            self.builder.statements = outer
        return self.tables[id(constants)]

    def name(self, site: Site, name: str, frame: Frame) -> Any:
        if name in frame.names:
            return frame.names[name]
        # A name that the function binds anywhere is its own everywhere, as in Python.
        if name in frame.bound:
            help = "assign it in front of this; behind a loop, a name has a value only if it had one before"
            raise site.error("PL0148", f"`{name}` has no value here", help)
        value = frame.namespace.get(name, getattr(builtins, name, NOTHING))
        if value is NOTHING:
            known = [*frame.names, *(n for n, v in frame.namespace.items() if isinstance(v, int | float | Size))]
            help = suggestion(name, known, f"pass it as an argument, or declare a size: `{name} = pl.size({name!r})`")
            raise site.error("PL0140", f"unknown name `{name}`", help)
        return self.object(site, value)

    def attribute(self, site: Site, base: Any, name: str) -> Any:
        match base, name:
            case Data(), "T":
                return transpose(site, base)
            case Data(), "shape":
                return base.shape
            case Data(), "ndim":
                return Affine((), len(base.shape))
            case Data(), "size":
                return self.call(site, len, [ravel(site, base)], {})
            case Data(), "dtype":
                return numpy_type(base)
            case Data() | Affine() | float() | bool(), _:
                return Bound(base, name)
            case _:
                found = getattr(base, name, NOTHING)
                if found is NOTHING:
                    known = [n for n in dir(base) if not n.startswith("_")] if isinstance(base, ModuleType) else []
                    help = suggestion(name, known, "pass its value as an argument")
                    raise site.error("PL0140", f"`{site.source_text}` is nothing that is known", help)
                return self.object(site, found)

    def subscript(self, site: Site, given: object, index: Any) -> Any:
        base: Any = given
        if isinstance(given, Data):
            if isinstance(index, Data) and index.dtype == "bool":
                help = "write `np.where(mask, a, b)`, or sum what the mask selects: `np.sum(np.where(mask, x, 0))`"
                raise site.error("PL0149", f"the length of `{site.source_text}` depends on data", help)
            return index_array(site, base, index)
        if isinstance(given, tuple | list | str | dict):
            known = _python_index(index)
            try:
                return self.object(site, base[known])
            except (IndexError, KeyError, TypeError) as error:
                raise site.error("PL0137", f"`{site.source_text}`: {error}", "use a constant index in range") from None
        raise site.error("PL0138", f"`{site.source_text}` indexes a {type(base).__name__}", "index arrays")

    def data(self, site: Site, value: Any) -> Any:
        """A test as data."""
        if isinstance(value, Condition):
            true, false = Constant(1, "i32"), Constant(0, "i32")
            return Data(as_bool(Cases(value, true, false, (), site.span)))
        return value


def _python_index(index: Any) -> Any:
    """A constant index as Python has it."""
    found: object = index
    if isinstance(found, Affine) and found.is_constant:
        return found.constant
    if isinstance(found, slice):
        return slice(*map(_python_index, slice_bounds(index)))
    return index
