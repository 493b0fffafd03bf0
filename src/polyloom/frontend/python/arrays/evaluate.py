# SPDX-License-Identifier: Apache-2.0
"""Expressions: what each stands for, from the names of a function and the objects of its module."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.names import suggestion
from polyloom.frontend.python.affine import NOTHING
from polyloom.frontend.python.arrays.builder import Builder
from polyloom.frontend.python.arrays.functions import call_handler
from polyloom.frontend.python.arrays.functions.creation import FUNCTIONS as CREATION
from polyloom.frontend.python.arrays.functions.creation import astype, table
from polyloom.frontend.python.arrays.functions.elementwise import FUNCTIONS as ELEMENTWISE
from polyloom.frontend.python.arrays.functions.elementwise import (
    RELATIONS,
    binary,
    compare,
    invert_test,
    inverted,
    negated,
)
from polyloom.frontend.python.arrays.functions.products import FUNCTIONS as PRODUCTS
from polyloom.frontend.python.arrays.functions.products import matmul
from polyloom.frontend.python.arrays.functions.reductions import FUNCTIONS as REDUCTIONS
from polyloom.frontend.python.arrays.functions.reductions import METHODS
from polyloom.frontend.python.arrays.functions.shaping import FUNCTIONS as SHAPING
from polyloom.frontend.python.arrays.functions.shaping import ravel, reshape, transpose
from polyloom.frontend.python.arrays.indexing import index_array
from polyloom.frontend.python.arrays.iterables import Numbered, Paired, Range, make_range, reverse, sequence
from polyloom.frontend.python.arrays.site import Site
from polyloom.frontend.python.arrays.values import (
    Bound,
    Data,
    Generator,
    as_bool,
    bounds_of,
    items_of,
    numpy_type,
    truth,
)
from polyloom.frontend.python.refuse import EXPRESSIONS, refused
from polyloom.frontend.python.text import Text
from polyloom.frontend.python.types import NAMED, Size
from polyloom.ir.arrays.program import Cases
from polyloom.ir.nest import negate
from polyloom.ir.pla import Constant
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.normal import conjunction

FUNCTIONS: dict[Any, Callable[..., Any]] = {**ELEMENTWISE, **REDUCTIONS, **CREATION, **PRODUCTS, **SHAPING}
_SYMBOLS: dict[type[ast.operator], str] = {
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
_RELATIONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


_REDUCTIONS: dict[Any, tuple[Any, Any]] = {
    np.add: (np.sum, np.cumsum),
    np.multiply: (np.prod, np.cumprod),
    np.maximum: (np.max, None),
    np.minimum: (np.min, None),
    np.logical_and: (np.all, None),
    np.logical_or: (np.any, None),
}
"""What `reduce` and `accumulate` of a function of two are."""


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


@dataclass(slots=True)
class Evaluator:
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

    def evaluate(self, node: ast.expr, frame: Frame) -> Any:
        site = self.site(node, frame)
        match node:
            case ast.Constant(value=value):
                return self.object(site, value)
            case ast.Name(id=name):
                return self.name(site, name, frame)
            case ast.Attribute(value=base, attr=attribute):
                return self.attribute(site, self.evaluate(base, frame), attribute)
            case ast.Subscript(value=base, slice=index):
                return self.subscript(site, self.evaluate(base, frame), self.evaluate(index, frame))
            case ast.Slice(lower=lower, upper=upper, step=step):
                parts = [None if p is None else self.evaluate(p, frame) for p in (lower, upper, step)]
                return slice(*parts)
            case ast.BinOp(left=left, op=ast.MatMult(), right=right):
                return matmul(site, self.evaluate(left, frame), self.evaluate(right, frame))
            case ast.BinOp(left=left, op=operator, right=right):
                return binary(site, _SYMBOLS[type(operator)], self.evaluate(left, frame), self.evaluate(right, frame))
            case ast.UnaryOp(op=operator, operand=operand):
                return self.unary(site, operator, self.evaluate(operand, frame))
            case ast.Compare(left=left, ops=relations, comparators=others):
                sides = [self.evaluate(side, frame) for side in (left, *others)]
                found = [
                    self.compare(site, relation, a, b)
                    for relation, a, b in zip(relations, sides, sides[1:], strict=False)
                ]
                return self.joined(site, "and", found)
            case ast.BoolOp(op=operator, values=values):
                return self.tests(site, "and" if isinstance(operator, ast.And) else "or", values, frame)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.choice(site, self.evaluate(test, frame), body, orelse, frame)
            case ast.Call():
                return self.called(site, node, frame)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return tuple(self.items(items, frame))
            case ast.GeneratorExp():
                return Generator((node, frame))
            case ast.ListComp():
                return self.comprehension(site, node, frame)
            case ast.Lambda():
                return Closure(node, frame)
            case _:
                raise refused(frame.text, node, node, EXPRESSIONS)

    def items(self, nodes: Sequence[ast.expr], frame: Frame) -> list[Any]:
        found = list[Any]()
        for node in nodes:
            if isinstance(node, ast.Starred):
                found += sequence(self.site(node, frame), self.evaluate(node.value, frame)) or ()
            else:
                found.append(self.evaluate(node, frame))
        return found

    def object(self, site: Site, given: object) -> Any:
        """An object of Python's as a value."""
        value: Any = given
        kind: Any = type(given)
        if issubclass(kind, np.integer | np.floating):
            typed = site.typed(0.0 if issubclass(kind, np.floating) else Affine(), value.dtype)
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
                return tuple(self.object(site, v) for v in items_of(value) or ())
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
                    raise site.error("PL0140", f"`{site.written}` is nothing that is known", help)
                return self.object(site, found)

    def subscript(self, site: Site, given: object, index: Any) -> Any:
        base: Any = given
        if isinstance(given, Data):
            if isinstance(index, Data) and index.dtype == "bool":
                help = "write `np.where(mask, a, b)`, or sum what the mask selects: `np.sum(np.where(mask, x, 0))`"
                raise site.error("PL0149", f"the length of `{site.written}` depends on data", help)
            return index_array(site, base, index)
        if isinstance(given, tuple | list | str | dict):
            known = _plain(index)
            try:
                return self.object(site, base[known])
            except (IndexError, KeyError, TypeError) as error:
                raise site.error("PL0137", f"`{site.written}`: {error}", "use a constant index in range") from None
        raise site.error("PL0138", f"`{site.written}` indexes a {type(base).__name__}", "index arrays")

    def unary(self, site: Site, operator: ast.unaryop, operand: Any) -> Any:
        match operator:
            case ast.USub():
                return negated(site, operand)
            case ast.UAdd():
                return operand
            case ast.Invert():
                return inverted(site, operand)
            case _:
                if isinstance(operand, Condition):
                    return negate(operand)
                if isinstance(operand, bool | None):
                    return not operand
                return invert_test(site, self.data(site, operand))

    def data(self, site: Site, value: Any) -> Any:
        """A test as data."""
        if isinstance(value, Condition):
            true, false = Constant(1, "i32"), Constant(0, "i32")
            return Data(as_bool(Cases(value, true, false, (), site.span)))
        return value

    def compare(self, site: Site, relation: ast.cmpop, a: Any, b: Any) -> Any:
        if isinstance(relation, ast.Is | ast.IsNot):
            if a is None or b is None or isinstance(a, bool) or isinstance(b, bool):
                return (a is b) == isinstance(relation, ast.Is)
            raise site.error("PL0133", f"`{site.written}` compares by identity", "compare by `==`")
        if type(relation) not in _RELATIONS:
            if isinstance(b, tuple | str) and not isinstance(a, Data):
                return (a in b) == isinstance(relation, ast.In)
            raise site.error("PL0133", f"`{site.written}` cannot stand in a kernel", "compare by `==`, joined by `or`")
        symbol = _RELATIONS[type(relation)]
        if isinstance(a, Affine) and isinstance(b, Affine):
            return affine_relation(symbol, a, b)
        if isinstance(a, Data) or isinstance(b, Data):
            return compare(site, symbol, self.data(site, a), self.data(site, b))
        if any(isinstance(v, Affine) and not v.is_constant for v in (a, b)):
            return compare(site, symbol, a, b)
        x, y = (v.constant if isinstance(v, Affine) else v for v in (a, b))
        found = {"==": x == y, "!=": x != y}
        if symbol in found:
            return found[symbol]
        return bool(getattr(x, f"__{RELATIONS[symbol]}__")(y))

    def joined(self, site: Site, name: str, tests: Sequence[Any]) -> Any:
        """`and` or `or` of tests: of affine conditions a condition, of others data."""
        found = tests[0]
        for other in tests[1:]:
            if isinstance(found, bool):
                decides = found == (name == "or")
                found = found if decides else other
            elif isinstance(other, bool):
                found = other if other == (name == "or") else found
            elif isinstance(found, Condition) and isinstance(other, Condition):
                found = conjunction(found, other) if name == "and" else Condition((*found.pieces, *other.pieces))
            elif isinstance(found, Condition) and not site.truth(other).shape:
                # The second test is made only where the first one does not decide.
                known = Constant(int(name == "or"), "i32")
                second = truth(site.truth(other).value)
                sides = (second, known) if name == "and" else (known, second)
                found = Data(as_bool(Cases(found, sides[0], sides[1], (), site.span)))
            else:
                found = site.join_tests(name, site.truth(self.data(site, found)), site.truth(self.data(site, other)))
        return found

    def tests(self, site: Site, name: str, values: Sequence[ast.expr], frame: Frame) -> Any:
        found = list[Any]()
        for value in values:
            test = self.evaluate(value, frame)
            if isinstance(test, Data) and test.shape:
                help = f"write `{'&' if name == 'and' else '|'}` for arrays"
                raise site.error("PL0147", f"`{site.written}` joins arrays by `{name}`", help)
            found.append(test if isinstance(test, bool | Condition) else site.truth(test))
            # Python does not evaluate what is decided.
            if isinstance(test, bool) and test == (name == "or"):
                break
        return self.joined(site, name, found)

    def choice(self, site: Site, test: Any, body: ast.expr, orelse: ast.expr, frame: Frame) -> Any:
        if isinstance(test, Affine | float) and (not isinstance(test, Affine) or test.is_constant):
            test = bool(test.constant if isinstance(test, Affine) else test)
        if isinstance(test, Affine):
            test = affine_relation("!=", test, Affine())
        if isinstance(test, bool | None | str | tuple):
            return self.evaluate(body if test else orelse, frame)
        a, b = (
            self.within(test, body, frame),
            self.within(negate(test) if isinstance(test, Condition) else None, orelse, frame),
        )
        return self.merged(site, test, a, b)

    def within(self, test: Any, node: ast.expr, frame: Frame) -> Any:
        """A value where an affine condition holds."""
        if not isinstance(test, Condition) or len(test.pieces) != 1:
            return self.evaluate(node, frame)
        known = len(self.builder.domain)
        self.builder.domain += test.pieces[0].constraints
        try:
            return self.evaluate(node, frame)
        finally:
            del self.builder.domain[known:]

    def merged(self, site: Site, test: Any, a: Any, b: Any) -> Any:
        """`a` where a test holds, `b` elsewhere."""
        if a is b or (type(a) is type(b) and not isinstance(a, Data) and a == b):
            return a
        pair = items_of(a), items_of(b)
        if pair[0] is not None and pair[1] is not None and len(pair[0]) == len(pair[1]):
            return tuple(self.merged(site, test, x, y) for x, y in zip(pair[0], pair[1], strict=True))
        a, b = self.data(site, a), self.data(site, b)
        if not isinstance(test, Condition):
            found = site.truth(test)
            if found.shape:
                help = "write `np.where(condition, a, b)`, or `.any()` or `.all()` of the condition"
                raise site.error("PL0147", f"`{site.written}` decides by an array", help)
            return site.select(found, a, b)
        model = site.select(Data(as_bool(Constant(1, "i32"))), a, b)
        if model.weak and model.wide and isinstance(a, Affine | bool) and isinstance(b, Affine | bool):
            model = Data(model.value, wide=True, exact=True)
        kind = numpy_type(model)
        first, second = site.broadcast([site.typed(a, kind), site.typed(b, kind)])
        extents = site.common_shape([first.shape, second.shape])
        value = Cases(test, first.value, second.value, extents, site.span)
        return Data(value, model.weak, model.wide, model.wide and first.exact and second.exact)

    def called(self, site: Site, node: ast.Call, frame: Frame) -> Any:
        function = self.evaluate(node.func, frame)
        given = self.items(node.args, frame)
        named = dict[str, Any]()
        for keyword in node.keywords:
            if keyword.arg is None:
                raise site.error("PL0134", f"`{site.written}` passes arguments by `**`", "name every argument")
            named[keyword.arg] = self.evaluate(keyword.value, frame)
        return self.call(site, function, given, named)

    def call(self, site: Site, function: Any, given: Sequence[Any], named: dict[str, Any]) -> Any:
        if isinstance(function, Bound):
            return self.method(site, function, given, named)
        if isinstance(function, Generator):
            return self.summed(site, function, given[0])
        if len(given) == 1 and _is_element_type(function):
            return astype(site, self.data(site, given[0]), function)
        if function is range:
            return make_range(site, *given)
        if function is enumerate and given:
            start = named.get("start", given[1] if len(given) > 1 else Affine())
            return Numbered(given[0], start)
        if function is zip:
            return Paired(tuple(given))
        if function is reversed and len(given) == 1:
            return reverse(site, given[0])
        if function in (tuple, list) and len(given) == 1:
            listed = sequence(site, given[0])
            return given[0] if listed is None else tuple(listed)
        if isinstance(getattr(function, "__self__", None), np.ufunc):
            return self.ufunc_method(site, function, given, named)
        try:
            handler = FUNCTIONS.get(function)
        except TypeError:
            handler = None
        if handler is not None:
            found = call_handler(handler, site, [self.data(site, g) for g in given], named)
            return _as_strong(site, function, found)
        if _is_written_in_python(function):
            return self.inline(site, function, given, named)
        raise self.unknown_call(site, function)

    def ufunc_method(self, site: Site, method: Any, given: Sequence[Any], named: dict[str, Any]) -> Any:
        """`np.add.outer(x, y)`, and `np.maximum.reduce(x)` along the first axis."""
        if method.__name__ == "outer" and len(given) == 2 and not named:
            a, b = (site.data(self.data(site, g)) for g in given)
            index = (Ellipsis, *[None] * len(b.shape))
            return self.call(site, method.__self__, [index_array(site, a, index) if a.shape else a, b], {})
        function = _REDUCTIONS.get(method.__self__)
        if method.__name__ in ("reduce", "accumulate") and function is not None and given:
            chosen = function[0 if method.__name__ == "reduce" else 1]
            if chosen is not None:
                return self.call(site, chosen, given, {"axis": Affine(), **named} if len(given) == 1 else named)
        raise self.unknown_call(site, method)

    def method(self, site: Site, method: Bound, given: Sequence[Any], named: dict[str, Any]) -> Any:
        owner, name = method.owner, method.name
        if name == "astype" and given:
            return astype(site, owner, *given, **named)
        if name == "reshape":
            return reshape(site, owner, *given, **named)
        if name == "flatten":
            return self.call(site, np.copy, [ravel(site, owner)], {})
        if name in ("item", "tolist") and not given and isinstance(owner, Data) and not owner.shape:
            return owner
        if name == "fill" and len(given) == 1:
            site.store(owner, given[0])
            return None
        if name == "bit_count" and isinstance(owner, Data):
            raise site.error("PL0134", f"`{site.written}` cannot stand in a kernel of arrays", "write it in loops")
        if name in METHODS:
            return self.call(site, METHODS[name], [owner, *given], named)
        help = suggestion(name, METHODS, "the page of arrays lists methods")
        raise site.error("PL0134", f"arrays have no method `{name}` in a kernel", help)

    def unknown_call(self, site: Site, function: Any) -> PolyloomError:
        name = getattr(function, "__name__", type(function).__name__)
        if function is print:
            return site.error("PL0134", "a kernel prints nothing", "look at the arrays after the call")
        known = [f.__name__ for f in FUNCTIONS if hasattr(f, "__name__")]
        help = suggestion(
            name, known, "the page of arrays lists what a kernel calls; others are written as functions of Python"
        )
        return site.error("PL0134", f"`{name}` cannot be called in a kernel", help)

    def summed(self, site: Site, generator: Generator, begin: Any) -> Any:
        """`sum(element for ... in ...)`."""
        raise NotImplementedError

    def comprehension(self, site: Site, node: ast.ListComp, frame: Frame) -> Any:
        """A list over what Python has all elements of."""
        found = list[Any]()

        def run(level: int) -> None:
            if level == len(node.generators):
                found.append(self.evaluate(node.elt, frame))
                return
            part = node.generators[level]
            iterable = self.evaluate(part.iter, frame)
            items = as_constants(iterable) or sequence(site, iterable)
            if items is None or part.ifs:
                help = "write a loop that assigns the elements of an array"
                raise site.error("PL0133", f"`{site.written}` has as many elements as a size says", help)
            for item in items:
                self.assign_names(part.target, item, frame)
                run(level + 1)

        before = {**frame.names}
        run(0)
        frame.names = before
        return tuple(found)

    def assign_names(self, target: ast.expr, value: Any, frame: Frame) -> None:
        """Names of a comprehension or a loop, for values that nobody changes."""
        if isinstance(target, ast.Name):
            frame.names[target.id] = value
            return
        parts, items = target.elts if isinstance(target, ast.Tuple | ast.List) else [], items_of(value)
        if not parts or items is None or len(parts) != len(items):
            site = self.site(target, frame)
            raise site.error("PL0136", f"`{site.written}` does not fit what the loop gives", "name each value")
        for part, each in zip(parts, items, strict=True):
            self.assign_names(part, each, frame)


def as_constants(items: Any) -> list[Any] | None:
    """The numbers of a range between constants."""
    if isinstance(items, Range) and items.first.is_constant and items.end.is_constant:
        return [Affine((), n) for n in range(items.first.constant, items.end.constant, items.step)]
    return None


def _as_strong(site: Site, function: Any, found: Any) -> Any:
    """What a function of NumPy's gives is of NumPy's types, also of a number of Python's."""
    module = str(getattr(function, "__module__", None) or "numpy")
    if module.partition(".")[0] != "numpy" or not isinstance(found, float | Data):
        return found
    data = site.data(found)
    return Data(data.value, wide=data.wide, exact=data.exact, is_view=data.is_view)


def _is_written_in_python(function: object) -> bool:
    return isinstance(function, FunctionType | Closure) or hasattr(function, "function")


def _is_element_type(function: object) -> bool:
    return isinstance(function, type) and function in NAMED


def _plain(index: Any) -> Any:
    """A constant index as Python has it."""
    found: object = index
    if isinstance(found, Affine) and found.is_constant:
        return found.constant
    if isinstance(found, slice):
        return slice(*map(_plain, bounds_of(index)))
    return index


def affine_relation(symbol: str, a: Affine, b: Affine) -> Any:
    """A comparison of integers that never wrap, as a condition; decided where both are constant."""
    difference = a - b
    pieces = {
        "==": (Polyhedron((difference, -difference)),),
        "!=": (Polyhedron((difference - 1,)), Polyhedron((-difference - 1,))),
        "<": (Polyhedron((-difference - 1,)),),
        "<=": (Polyhedron((-difference,)),),
        ">": (Polyhedron((difference - 1,)),),
        ">=": (Polyhedron((difference,)),),
    }[symbol]
    found = Condition(pieces)
    return found.contains({}) if difference.is_constant else found
