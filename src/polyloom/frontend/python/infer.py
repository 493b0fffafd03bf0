# SPDX-License-Identifier: Apache-2.0
"""Type inference: the element type of every expression that is data, as NumPy has it (NEP 50, 2021).

Arrays, scalars and declared variables have a type; where two of them meet, the operation is on NumPy's common type, and
a comparison gives a bool. Constants and loop variables are weak: they take their neighbours' type, by unification over
the whole function (Robinson, 1965); where nothing decides, an integer is an i32 and a real number an f32. A variable
without a declaration has one type all along. What is not of the language is refused here, so that later steps need no
error paths.
"""

from __future__ import annotations

import ast
import math
from itertools import pairwise
from types import ModuleType

import numpy as np

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.python.integer_trees import NOTHING, Scope, affine_form
from polyloom.frontend.python.operators import BINARY, CALLS, COMPARE
from polyloom.frontend.python.refused_syntax import EXPRESSIONS, OPERATORS, refuse_syntax
from polyloom.frontend.python.resolve_names import Function, element_type_of_name
from polyloom.frontend.suggestions import suggestion
from polyloom.ir.library import LARGEST_POWER
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import ALL_TYPES, BY_NAME, INTEGERS, ElementType


class Slot:
    """Type variable: a type that may not be known yet; slots that must agree are linked (mutable: union-find, Tarjan
    1975). A `real` one is of a number of floating point, whatever its type.
    """

    __slots__ = ("dtype", "link", "real")

    def __init__(self, dtype: ElementType | None = None, real: bool = False) -> None:
        self.dtype: ElementType | None = dtype
        self.real = real
        self.link: Slot | None = None

    def root(self) -> Slot:
        slot = self
        while slot.link is not None:
            slot = slot.link
        return slot

    def resolved_type(self) -> ElementType:
        root = self.root()
        # NumPy's own defaults have 64 bits, in which no machine here computes data.
        return root.dtype or ("f32" if root.real else "i32")


class Types:
    """Inferred types of a function's expressions and of its local variables (`variables`)."""

    def __init__(self, function: Function) -> None:
        self.function, self.text, self.scope = function, function.text, function.scope
        self.slots: dict[ast.expr, Slot] = {}
        self.variables = {name: Slot() for name in sorted(function.data)}
        self.declared = set[str]()
        self.operations: dict[ast.stmt, Slot] = {}

    def node_type(self, node: ast.expr) -> ElementType:
        """The type of the value of `node`."""
        return self.slots[node].resolved_type()

    def operation(self, node: ast.AugAssign) -> ElementType:
        """The type in which `x += y` adds."""
        return self.operations[node].resolved_type()

    def common(self, a: ast.expr, b: ast.expr) -> ElementType:
        """The type in which two operands are compared."""
        return self.promote_types(a, self.node_type(a), self.node_type(b))

    def promote_types(self, node: ast.expr | ast.stmt, a: ElementType, b: ElementType) -> ElementType:
        """Type promotion, to NumPy's common type (NEP 50, 2021); raises PL0139 where that is one of 64 bits."""
        found = _PROMOTED.get(np.result_type(NUMPY[a], NUMPY[b]))
        if found is not None:
            return found
        wide = np.result_type(NUMPY[a], NUMPY[b])
        help = f"convert one of them: `pl.{a}(...)` or `pl.{b}(...)`"
        raise self.text.error("PL0139", f"`{_head_line(node)}` joins {a} and {b}, in NumPy as {wide}", node, help)

    def variable(self, name: str) -> ElementType:
        """The type of a local variable."""
        return self.variables[name].resolved_type()

    def slot(self, node: ast.expr) -> Slot:
        """The type of an expression, the same one whenever it is asked for."""
        if node not in self.slots:
            self.slots[node] = Slot() if is_affine(node, self.scope) else self.visit(node)
        return self.slots[node]

    def visit(self, node: ast.expr) -> Slot:
        match node:
            case ast.Constant(value=bool()):
                return Slot("bool")
            case ast.Constant(value=float()):
                return Slot(real=True)
            case ast.Constant():
                raise self.text.error(
                    "PL0133",
                    f"`{ast.unparse(node)}` is not a number that a kernel can use",
                    node,
                    "use integers and real numbers",
                )
            case ast.Name() | ast.Attribute():
                return self.infer_name(node)
            case ast.Subscript():
                return self.infer_element(node)
            # Before other operators: its exponent is a constant, not an operand of the common type.
            case ast.BinOp(op=ast.Pow()):
                return self.infer_power(node)
            case ast.BinOp(left=left, op=operator, right=right):
                return self.arithmetic(node, operator, self.slot(left), self.slot(right))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.slot(operand)
                return Slot("bool")
            case ast.UnaryOp(op=operator, operand=operand):
                slot = self.slot(operand)
                return self.require_integers(node, slot, "~") if isinstance(operator, ast.Invert) else slot
            case ast.Compare(left=left, ops=relations, comparators=others):
                return self.infer_comparison(node, relations, [left, *others])
            case ast.BoolOp(values=values):
                return self.infer_connection(node, values)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.slot(test)
                return self.unify_operands(node, self.slot(body), self.slot(orelse))
            case ast.Call():
                return self.infer_call(node)
            case _:
                raise refuse_syntax(self.text, node, node, EXPRESSIONS)

    def infer_name(self, node: ast.Name | ast.Attribute) -> Slot:
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
            return Slot(real=isinstance(value, float | np.floating))
        if value is NOTHING:
            raise self.scope.unknown(node)
        help = "pass it as an argument; of the module's objects, a kernel reads sizes and numbers"
        raise self.text.error("PL0140", f"`{ast.unparse(node)}` is not a value that a kernel can use", node, help)

    def infer_element(self, node: ast.Subscript) -> Slot:
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
                raise refuse_syntax(self.text, node, part, EXPRESSIONS)
        if len(index) != len(storage.shape):
            help = f"it is declared with the extents [{', '.join(map(str, storage.shape))}]"
            message = (
                f"`{storage.name}` has {len(storage.shape)} dimension{'s' * (len(storage.shape) != 1)}, but "
                f"{len(index)} ind{_index_ending(len(index))} here"
            )
            raise self.text.error("PL0138", message, node, help)
        return Slot(storage.dtype)

    def exists(self, name: ast.Name) -> bool:
        return name.id in self.scope.bound or name.id in self.scope.integers or self.scope.value(name) is not NOTHING

    def arithmetic(self, node: ast.expr | ast.stmt, operator: ast.operator, left: Slot, right: Slot) -> Slot:
        if type(operator) not in BINARY:
            raise refuse_syntax(self.text, node, operator, OPERATORS)
        name, symbol = BINARY[type(operator)]
        slot = self.unify_operands(node, left, right)
        if name == "div":
            return self.infer_quotient(slot)
        # An operation that f32 lacks is one of integers: `&`, `<<`, `//`.
        return slot if "f32" in BY_NAME[name].types else self.require_integers(node, slot, symbol)

    def infer_quotient(self, slot: Slot) -> Slot:
        """True division: `/` gives a real number (Python language reference, section 6.7), of integers a double, as in
        NumPy.
        """
        root = slot.root()
        if root.dtype is None:
            root.real = True
        return Slot("f64") if root.dtype in (*INTEGERS, "bool") else root

    def infer_power(self, node: ast.BinOp) -> Slot:
        """`x ** 3`: a product."""
        exponent = affine_form(node.right, self.scope)
        if exponent is None or not exponent.is_constant or not 0 <= exponent.constant <= LARGEST_POWER:
            help = "multiply: `x * x`; for a root, write pl.sqrt"
            message = f"only powers with a constant exponent from 0 to {LARGEST_POWER} can stand in a kernel"
            raise self.text.error("PL0133", message, node.right, help)
        self.slot(node.right)
        slot = self.slot(node.left)
        if slot.root().dtype == "bool":
            raise self.text.error("PL0139", "`**` needs numbers, not bool", node, "use pl.i32 or pl.f32")
        return slot

    def require_integers(self, node: ast.expr | ast.stmt, slot: Slot, symbol: str) -> Slot:
        """Integer operations, and so i32 where nothing else decides."""
        root = slot.root()
        if root.real or root.dtype in ("f16", "f32", "f64"):
            raise self.text.error(
                "PL0139",
                f"`{symbol}` needs integers, not {slot.resolved_type()}",
                node,
                "divide by `/`" if symbol == "//" else "use integers, or convert: `pl.i32(...)`",
            )
        return slot

    def infer_comparison(self, node: ast.Compare, relations: list[ast.cmpop], operands: list[ast.expr]) -> Slot:
        for relation in relations:
            if type(relation) not in COMPARE:
                raise refuse_syntax(self.text, node, relation, OPERATORS)
        for a, b in pairwise(operands):
            self.unify_operands(node, self.slot(a), self.slot(b))
        return Slot("bool")

    def infer_connection(self, node: ast.BoolOp, values: list[ast.expr]) -> Slot:
        for value in values:
            # `and` of Python gives an operand, not a truth value (Python language reference, section 6.11): only
            # conditions are taken.
            if self.slot(value).root().dtype != "bool" and not is_affine_test(value):
                help = f"compare: `{ast.unparse(value)} != 0`; for the bits of integers, write `&` and `|`"
                raise self.text.error("PL0147", f"`{ast.unparse(value)}` is a value, not a condition", value, help)
        return Slot("bool")

    def infer_call(self, node: ast.Call) -> Slot:
        found = read_conversion(node, self.scope)
        if found is not None:
            return self.infer_conversion(node, *found)
        counted = bit_count_operand(node, self.scope)
        if counted is not None:
            self.require_integers(node, self.slot(counted[0]), "bit_count")
            return Slot(counted[1])
        value = self.scope.value(node.func)
        # By identity: NumPy arrays and other objects of the module may not be hashable.
        operation = next((name for known, name in CALLS.items() if known is value), None)
        if operation is None:
            raise self.unknown_call(node, value)
        least, most = (1, 1) if BY_NAME[operation].arity == 1 else (2, math.inf)
        if node.keywords or not least <= len(node.args) <= most:
            help = "give it one value" if most == 1 else "give it two values or more"
            raise self.text.error("PL0134", f"`{ast.unparse(node.func)}` has a wrong number of operands", node, help)
        slot = self.slot(node.args[0])
        for argument in node.args[1:]:
            slot = self.unify_operands(node, slot, self.slot(argument))
        if (result := BY_NAME[operation].gives) is not None:
            if len(types := BY_NAME[operation].types) == 1:
                self.unify_operands(node, slot, Slot(types[0]))
            return Slot(result)
        return slot if operation in ("min", "max", "abs") else self.infer_real_function(node, operation, slot)

    def infer_real_function(self, node: ast.Call, operation: str, slot: Slot) -> Slot:
        """A function of a real number."""
        root, types = slot.root(), BY_NAME[operation].types
        if root.dtype is None:
            root.real = True
        elif root.dtype not in types:
            help = f"convert its operand: `{ast.unparse(node.func)}(pl.f32(...))`"
            message = f"`{ast.unparse(node.func)}` needs an {' or an '.join(types)}, not {root.dtype}"
            raise self.text.error("PL0139", message, node, help)
        return root

    def infer_conversion(self, node: ast.Call, value: ast.expr, dtype: ElementType) -> Slot:
        """`pl.u8(x)`: of a constant or a loop variable, what gives it a type."""
        slot = self.slot(value)
        return self.unify_assignment(node, Slot(dtype), slot) if slot.root().dtype is None else Slot(dtype)

    def unify_assignment(self, node: ast.expr | ast.stmt, target: Slot, value: Slot) -> Slot:
        """Unification of an assignment: what is stored is converted; what is weak takes the type."""
        a, b = target.root(), value.root()
        return a if a.dtype is not None and b.dtype is not None else self.unify_slots(a, b)

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

    def unify_operands(self, node: ast.expr | ast.stmt, a: Slot, b: Slot) -> Slot:
        """Unification of two operands: the type in which they meet. A weak one takes the other's type, two types
        promote.
        """
        a, b = a.root(), b.root()
        if a is b:
            return a
        if a.dtype is not None and b.dtype is not None:
            return a if a.dtype == b.dtype else Slot(self.promote_types(node, a.dtype, b.dtype))
        # At most one of them is known here.
        known, weak = (a, b) if a.dtype is not None else (b, a)
        if known.dtype in (*INTEGERS, "bool") and (weak.real or known.dtype == "bool"):
            # As in Python, a real number beside integers is a double, and an integer beside bools is none of these.
            weak.dtype = "f64" if weak.real else "i32"
            return Slot(self.promote_types(node, known.dtype, weak.dtype))
        return self.unify_slots(known, weak)

    def unify_slots(self, a: Slot, b: Slot) -> Slot:
        """Union of two type variables: one type from now on."""
        a, b = a.root(), b.root()
        if a is not b:
            # Either may be the root: the one that stays takes over the other's type.
            b.link = a
            a.dtype, a.real = a.dtype or b.dtype, a.real or b.real
        return a


_PROMOTED: dict[object, ElementType] = {NUMPY[dtype]: dtype for dtype in ALL_TYPES}
_CALLABLE = (
    "a kernel calls min, max, abs, pl.sqrt and others that the page of Python lists, such as pl.exp; write other "
    "functions' statements where they would be called"
)


def _call_names() -> list[str]:
    return ["range", *sorted(set(CALLS.values()))]


def _index_ending(count: int) -> str:
    return "ex" if count == 1 else "ices"


def _head_line(node: ast.AST) -> str:
    return ast.unparse(node).partition("\n")[0]


def is_affine(node: ast.expr, scope: Scope) -> bool:
    """Whether a node is an affine expression of loops and sizes; True and False are none."""
    return (
        not (isinstance(node, ast.Constant) and isinstance(node.value, bool)) and affine_form(node, scope) is not None
    )


def is_affine_test(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare | ast.BoolOp) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )


def read_conversion(node: ast.Call, scope: Scope) -> tuple[ast.expr, ElementType] | None:
    """Explicit conversion, `pl.u8(x)`, `np.uint8(x)` or `x.astype(np.uint8)`: its operand and its type; None for other
    calls.
    """
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="astype"), args=[named], keywords=[]):
            dtype = element_type_of_name(named, scope)
        case ast.Call(func=named, args=[value], keywords=[]):
            dtype = element_type_of_name(named, scope)
        case _:
            return None
    return None if dtype is None else (value, dtype)


def bit_count_operand(node: ast.Call, scope: Scope) -> tuple[ast.expr, ElementType] | None:
    """Bit count, `x.bit_count()` or `np.bitwise_count(x)`: its operand, and the type of the number; None for other
    calls.
    """
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="bit_count") as called, args=[], keywords=[]):
            return (value, "i32") if scope.value(called) is NOTHING else None
        case ast.Call(func=called, args=[value], keywords=[]) if scope.value(called) is _BITWISE_COUNT:
            return value, "u8"
        case _:
            return None


_BITWISE_COUNT = getattr(np, "bitwise_count", object())
"""Of NumPy 2."""


def subscripts(node: ast.Subscript) -> tuple[ast.expr, list[ast.expr]]:
    """The array and the indices of `A[i, j]`, or of `A[i][j]`."""
    own = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    if not isinstance(node.value, ast.Subscript):
        return node.value, own
    array, outer = subscripts(node.value)
    return array, outer + own
