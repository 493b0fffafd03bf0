# SPDX-License-Identifier: Apache-2.0
"""The element type of every expression that is data, by unification over the whole function (Robinson, 1965).

Arrays, scalars and float constants have a type; operands of an operation and both sides of an assignment have the same
one; comparisons give i32. Integer constants and loop variables take their neighbours' type, i32 where nothing decides.
What is not of the language is refused here, so that later steps need no error paths.
"""

from __future__ import annotations

import ast
import math
from itertools import pairwise
from types import ModuleType

import numpy as np

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.names import suggestion
from polyloom.frontend.python.affine import NOTHING, affine
from polyloom.frontend.python.function import Function, dtype_named
from polyloom.frontend.python.operators import BINARY, CALLS, COMPARE
from polyloom.frontend.python.refuse import EXPRESSIONS, OPERATORS, refused
from polyloom.ir.operations import BY_NAME, ElementType


class Slot:
    """A type that may not be known yet: slots that must agree are linked (mutable: union-find)."""

    __slots__ = ("dtype", "link")

    def __init__(self, dtype: ElementType | None = None) -> None:
        self.dtype: ElementType | None = dtype
        self.link: Slot | None = None

    def root(self) -> Slot:
        slot = self
        while slot.link is not None:
            slot = slot.link
        return slot

    def known(self) -> ElementType:
        return self.root().dtype or "i32"


class Types:
    """The types of a function's expressions and of its local variables (`variables`)."""

    def __init__(self, function: Function) -> None:
        self.function, self.text, self.scope = function, function.text, function.scope
        self.slots: dict[ast.expr, Slot] = {}
        self.variables = {name: Slot() for name in sorted(function.data)}

    def of(self, node: ast.expr) -> ElementType:
        """The type of the value of `node`."""
        return self.slots[node].known()

    def variable(self, name: str) -> ElementType:
        """The type of a local variable."""
        return self.variables[name].known()

    def slot(self, node: ast.expr) -> Slot:
        """The type of an expression, the same one whenever it is asked for."""
        if node not in self.slots:
            self.slots[node] = Slot() if affine(node, self.scope) is not None else self.visit(node)
        return self.slots[node]

    def visit(self, node: ast.expr) -> Slot:
        match node:
            case ast.Constant(value=float()):
                return Slot("f32")
            case ast.Constant():
                raise self.text.error(
                    "PL0133",
                    f"`{ast.unparse(node)}` is not a number that a kernel can use",
                    node,
                    "use integers and real numbers",
                )
            case ast.Name() | ast.Attribute():
                return self.name(node)
            case ast.Subscript():
                return self.element(node)
            case ast.BinOp(left=left, op=operator, right=right):
                return self.arithmetic(node, operator, self.slot(left), self.slot(right))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.slot(operand)
                return Slot("i32")
            case ast.UnaryOp(op=operator, operand=operand):
                slot = self.slot(operand)
                return self.integral(node, slot, "~") if isinstance(operator, ast.Invert) else slot
            case ast.Compare(left=left, ops=relations, comparators=others):
                return self.comparison(node, relations, [left, *others])
            case ast.BoolOp(values=values):
                return self.connection(node, values)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.slot(test)
                return self.agree(node, self.slot(body), self.slot(orelse))
            case ast.Call():
                return self.call(node)
            case _:
                raise refused(self.text, node, node, EXPRESSIONS)

    def name(self, node: ast.Name | ast.Attribute) -> Slot:
        if isinstance(node, ast.Name) and node.id in self.variables:
            return self.variables[node.id]
        if isinstance(node, ast.Name) and node.id in self.function.storage:
            storage = self.function.storage[node.id]
            if storage.shape:
                help = f"write an element: `{node.id}[{', '.join('ijklmn'[: len(storage.shape)])}]`"
                raise self.text.error("PL0138", f"`{node.id}` is a whole array", node, help)
            return Slot(storage.dtype)
        value = self.scope.value(node)
        if isinstance(value, float | np.floating) or (isinstance(node, ast.Name) and node.id in self.scope.integers):
            return Slot("f32" if isinstance(value, float | np.floating) else None)
        if value is NOTHING:
            raise self.scope.unknown(node)
        help = "pass it as an argument; of the module's objects, a kernel reads sizes and numbers"
        raise self.text.error("PL0140", f"`{ast.unparse(node)}` is not a value that a kernel can use", node, help)

    def element(self, node: ast.Subscript) -> Slot:
        array, index = subscripts(node)
        storage = self.function.storage.get(array.id) if isinstance(array, ast.Name) else None
        if storage is None or not storage.shape:
            if isinstance(array, ast.Name) and not self.exists(array):
                help = suggestion(array.id, self.function.storage, f"pass it as an argument: `{array.id}: pl.f32[N]`")
                raise self.text.error("PL0140", f"unknown name `{array.id}`", array, help)
            help = f"only arguments have elements: declare it as one, as in `{ast.unparse(array)}: pl.f32[N]`"
            raise self.text.error("PL0138", f"`{ast.unparse(array)}` is not an array argument", array, help)
        for part in index:
            if isinstance(part, ast.Slice | ast.Starred):
                raise refused(self.text, node, part, EXPRESSIONS)
        if len(index) != len(storage.shape):
            help = f"it is declared with the extents [{', '.join(map(str, storage.shape))}]"
            message = (
                f"`{storage.name}` has {len(storage.shape)} dimension{'s' * (len(storage.shape) != 1)}, but "
                f"{len(index)} ind{_ices(len(index))} here"
            )
            raise self.text.error("PL0138", message, node, help)
        return Slot(storage.dtype)

    def exists(self, name: ast.Name) -> bool:
        return name.id in self.scope.bound or name.id in self.scope.integers or self.scope.value(name) is not NOTHING

    def arithmetic(self, node: ast.expr | ast.stmt, operator: ast.operator, left: Slot, right: Slot) -> Slot:
        if type(operator) not in BINARY:
            raise refused(self.text, node, operator, OPERATORS)
        name, symbol = BINARY[type(operator)]
        slot = self.agree(node, left, right)
        if name == "div":
            return self.single(node, slot)
        return slot if "f32" in BY_NAME[name].types else self.integral(node, slot, symbol)

    def single(self, node: ast.expr | ast.stmt, slot: Slot) -> Slot:
        if slot.root().dtype not in (None, "f32"):
            help = "write `//`, which rounds down, or use pl.f32"
            raise self.text.error(
                "PL0144", "`/` of integers gives a double in Python, which the arrays do not have", node, help
            )
        return self.agree(node, slot, Slot("f32"))

    def integral(self, node: ast.expr | ast.stmt, slot: Slot, symbol: str) -> Slot:
        """Integer operations, and so i32 where nothing else decides."""
        if slot.root().dtype == "f32":
            raise self.text.error(
                "PL0139",
                f"`{symbol}` needs integers, not f32",
                node,
                "divide by `/`" if symbol == "//" else "use pl.i8, pl.i16 or pl.i32",
            )
        return slot

    def comparison(self, node: ast.Compare, relations: list[ast.cmpop], operands: list[ast.expr]) -> Slot:
        for relation in relations:
            if type(relation) not in COMPARE:
                raise refused(self.text, node, relation, OPERATORS)
        for a, b in pairwise(operands):
            self.agree(node, self.slot(a), self.slot(b))
        return Slot("i32")

    def connection(self, node: ast.BoolOp, values: list[ast.expr]) -> Slot:
        for value in values:
            self.slot(value)
            if not isinstance(value, ast.Compare | ast.BoolOp) and not (
                isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not)
            ):
                help = f"compare: `{ast.unparse(value)} != 0`; for the bits of integers, write `&` and `|`"
                raise self.text.error("PL0147", f"`{ast.unparse(value)}` is a value, not a condition", value, help)
        return Slot("i32")

    def call(self, node: ast.Call) -> Slot:
        dtype = dtype_named(node.func, self.scope)
        if dtype is not None:
            return self.constant(node, dtype)
        value = self.scope.value(node.func)
        operation = next((name for known, name in CALLS.items() if known is value), None)
        if operation is None:
            raise self.unknown_call(node, value)
        least, most = (1, 1) if BY_NAME[operation].arity == 1 else (2, math.inf)
        if node.keywords or not least <= len(node.args) <= most:
            help = "give it one value" if most == 1 else "give it two values or more"
            raise self.text.error("PL0134", f"`{ast.unparse(node.func)}` has a wrong number of operands", node, help)
        slot = self.slot(node.args[0])
        for argument in node.args[1:]:
            self.agree(node, slot, self.slot(argument))
        if (result := BY_NAME[operation].gives) is not None:
            if len(types := BY_NAME[operation].types) == 1:
                self.agree(node, slot, Slot(types[0]))
            return Slot(result)
        return slot if operation != "sqrt" else self.root(node, slot)

    def root(self, node: ast.Call, slot: Slot) -> Slot:
        if slot.root().dtype not in (None, "f32"):
            raise self.text.error(
                "PL0139", f"`{ast.unparse(node.func)}` needs an f32", node, "declare its operand as pl.f32"
            )
        return self.agree(node, slot, Slot("f32"))

    def constant(self, node: ast.Call, dtype: ElementType) -> Slot:
        slot = self.slot(node.args[0]) if len(node.args) == 1 and not node.keywords else None
        number = slot is not None and (
            affine(node.args[0], self.scope) is not None or is_float_constant(node.args[0], self)
        )
        if slot is None or not number:
            help = "values are not converted; it takes a constant, or an expression of loops and sizes"
            raise self.text.error("PL0139", f"`{ast.unparse(node.func)}` cannot convert this", node, help)
        return self.agree(node, slot, Slot(dtype))

    def unknown_call(self, node: ast.Call, value: object) -> PolyloomError:
        if value is NOTHING and isinstance(node.func, ast.Name) and node.func.id not in self.scope.bound:
            return self.text.error(
                "PL0140",
                f"unknown name `{node.func.id}`",
                node.func,
                suggestion(node.func.id, _call_names(), _CALLABLE),
            )
        if isinstance(node.func, ast.Name) and node.func.id == self.function.node.name:
            return self.text.error("PL0134", f"`{self.function.node.name}` calls itself", node, "write a loop")
        if (
            value is NOTHING
            and isinstance(node.func, ast.Attribute)
            and isinstance(self.scope.value(node.func.value), ModuleType)
        ):
            return self.scope.unknown(node.func)
        name = ast.unparse(node.func)
        known = {"range": "`range` can stand in the head of a loop only", "print": "a kernel prints nothing"}
        help = {"print": "look at the arrays after the call", "float": "write pl.f32", "int": "use integer arrays"}.get(
            name, _CALLABLE
        )
        return self.text.error("PL0134", known.get(name, f"`{name}` cannot be called in a kernel"), node, help)

    def agree(self, node: ast.expr | ast.stmt, a: Slot, b: Slot) -> Slot:
        """Link two types; raises PL0139 at `node` where they are known and differ."""
        a, b = a.root(), b.root()
        if a is b:
            return a
        if a.dtype and b.dtype and a.dtype != b.dtype:
            help = f"declare all operands and the target as pl.{a.dtype}, or all as pl.{b.dtype}"
            raise self.text.error("PL0139", f"`{_head(node)}` mixes {a.dtype} and {b.dtype}", node, help)
        # Either may be the root: the one that stays takes over the other's type.
        b.link = a
        a.dtype = a.dtype or b.dtype
        return a


_CALLABLE = "a kernel calls min, max, abs and pl.sqrt; write other functions' statements where they would be called"


def _call_names() -> list[str]:
    return ["range", *sorted(set(CALLS.values()))]


def _ices(count: int) -> str:
    return "ex" if count == 1 else "ices"


def _head(node: ast.AST) -> str:
    return ast.unparse(node).partition("\n")[0]


def is_float_constant(node: ast.expr, types: Types) -> bool:
    """Whether `node` is a real number or the name of one."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        return is_float_constant(node.operand, types)
    return isinstance(node, ast.Constant) or (
        isinstance(node, ast.Name | ast.Attribute) and isinstance(types.scope.value(node), float | np.floating)
    )


def subscripts(node: ast.Subscript) -> tuple[ast.expr, list[ast.expr]]:
    """The array and the indices of `A[i, j]`, or of `A[i][j]`."""
    own = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    if not isinstance(node.value, ast.Subscript):
        return node.value, own
    array, outer = subscripts(node.value)
    return array, outer + own
