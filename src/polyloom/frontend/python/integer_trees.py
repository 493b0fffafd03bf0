# SPDX-License-Identifier: Apache-2.0
"""Integer expressions of Python as trees of numbers that never wrap (Python language reference, section 6.7), and the
names of a kernel.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import index
from types import ModuleType
from typing import Any

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.frontend.loops import affine as forms
from polyloom.frontend.loops import make
from polyloom.frontend.loops.obstacles import find_obstacle
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.types import INTEGER
from polyloom.frontend.python.syntax_tree import Text
from polyloom.frontend.python.types import Size, steps
from polyloom.frontend.suggestions import suggestion
from polyloom.ir.library import LARGEST_POWER
from polyloom.sets import Affine, Condition

OPCODES: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "mod",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
SYMBOLS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
LIMIT = 1 << 31
NOTHING = object()
"""The value of a name that has none."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Scope of a kernel's names (Python language reference, section 4.2.2): `integers` are loops, integer parameters
    and names for affine expressions; names that are `bound` by the function otherwise are data; all others are looked
    up in `namespace`, the module's.
    """

    text: Text
    namespace: Mapping[str, object]
    bound: frozenset[str]
    integers: Mapping[str, Affine]
    trees: dict[ast.expr, Node] = field(default_factory=dict, compare=False, repr=False)
    """What `integer_tree` has read: of a sum of n terms, n parts are asked for one by one."""

    @property
    def forms(self) -> forms.Scope:
        """Scope of the loop reader: what the names of integers stand for."""
        return forms.Scope(self.integers, {}, {})

    def bind_form(self, name: str, value: Affine) -> Scope:
        return replace(self, integers={**self.integers, name: value})

    def value(self, node: ast.expr) -> object:
        """The module's object that a name or an attribute of one stands for, or NOTHING."""
        match node:
            case ast.Name(id=name) if name not in self.bound:
                # The module's names hide the builtins (Python language reference, section 4.2.2).
                return self.namespace.get(name, getattr(builtins, name, NOTHING))
            case ast.Attribute(value=base, attr=attribute):
                owner = self.value(base)
                return NOTHING if owner is NOTHING else getattr(owner, attribute, NOTHING)
            case _:
                return NOTHING

    def unknown(self, node: ast.Name | ast.Attribute) -> PolyloomError:
        """PL0140 for a name that stands for nothing."""
        if isinstance(node, ast.Name):
            return self.text.error(
                "PL0140",
                f"unknown name `{node.id}`",
                node,
                suggestion(
                    node.id,
                    self.visible_names(),
                    f"pass it as an argument, or declare a size: `{node.id} = pl.size({node.id!r})`",
                ),
            )
        owner = self.value(node.value)
        known = [name for name in dir(owner) if not name.startswith("_")] if isinstance(owner, ModuleType) else []
        return self.text.error(
            "PL0140",
            f"`{ast.unparse(node.value)}` has no `{node.attr}`",
            node,
            suggestion(node.attr, known, "pass its value as an argument"),
        )

    def visible_names(self) -> list[str]:
        """The names that can stand in a kernel."""
        return [
            *self.bound,
            *self.integers,
            *(name for name, value in self.namespace.items() if isinstance(value, int | float | Size)),
        ]


def _module_integer(value: object) -> Affine | None:
    if isinstance(value, Size):
        return value.form
    number = as_integer(value)
    return None if number is None else Affine((), number)


def as_integer(value: Any) -> int | None:
    """The integer that an object of the module is, if it is one."""
    try:
        return index(value)
    except TypeError:
        return None


def integer_tree(node: ast.expr, scope: Scope) -> Node:
    """Integer expression as a tree of numbers that never wrap; what is none of these is data, or has no opcode."""
    if node not in scope.trees:
        scope.trees[node] = _integer_tree(node, scope)
    return scope.trees[node]


def _integer_tree(node: ast.expr, scope: Scope) -> Node:
    at = scope.text.span(node)
    match node:
        # True and False are integers of Python, too: `is_affine` decides where they are not meant.
        case ast.Constant(value=int(value)):
            return make.literal(int(value), at)
        case ast.Name(id=name) if name in scope.bound:
            return make.reference(name, name, INTEGER, at)
        case ast.Name() | ast.Attribute():
            form = _module_integer(scope.value(node))
            return Node("other", at) if form is None else make.size(form, at)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            return Node(
                "unary", at, INTEGER, (integer_tree(operand, scope),), "-" if isinstance(sign, ast.USub) else "+"
            )
        case ast.BinOp(op=ast.Pow()):
            power = _constant_power(node, scope)
            return Node("other", at) if power is None else make.literal(power, at)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPCODES and not isinstance(
            operator, ast.Div
        ):
            operands = integer_tree(left, scope), integer_tree(right, scope)
            return make.binary_operation(OPCODES[type(operator)], operands, INTEGER, at)
        case ast.IfExp(test=condition, body=body, orelse=orelse):
            parts = condition_tree(condition, scope), integer_tree(body, scope), integer_tree(orelse, scope)
            return Node("choose", at, INTEGER, parts)
        # min and max of two or more, by identity: whatever the text calls them.
        case ast.Call(func=called, args=[_, _, *_] as operands, keywords=[]) if scope.value(called) in (min, max):
            name = "min" if scope.value(called) is min else "max"
            return reduce(
                lambda a, b: Node("operation", at, INTEGER, (a, b), name),
                [integer_tree(operand, scope) for operand in operands],
            )
        case ast.Subscript(value=array, slice=index):
            return Node("element", at, INTEGER, (integer_tree(array, scope), integer_tree(index, scope)))
        case _:
            return Node("other", at)


def _constant_power(node: ast.BinOp, scope: Scope) -> int | None:
    """Power of two integer constants, as large as it is; None for other powers."""
    match affine_form(node.left, scope), affine_form(node.right, scope):
        # A larger base is of no type, so that it is refused as it is.
        case Affine((), base), Affine((), exponent) if 0 <= exponent <= LARGEST_POWER and base.bit_length() <= 64:
            return base**exponent
        case _:
            return None


def condition_tree(node: ast.expr, scope: Scope) -> Node:
    """Test of integers as a tree (Python language reference, section 6.10): a chain a < b < c is a < b and b < c."""
    at = scope.text.span(node)
    match node:
        case ast.Compare(left=left, ops=relations, comparators=others):
            sides = [integer_tree(side, scope) for side in (left, *others)]
            found = [
                make.binary_operation(SYMBOLS.get(type(relation), "is"), (a, b), INTEGER, at)
                for a, relation, b in zip(sides, relations, sides[1:], strict=False)
            ]
            return reduce(lambda a, b: make.binary_operation("&&", (a, b), INTEGER, at), found)
        case ast.BoolOp(op=operator, values=values):
            opcode = "||" if isinstance(operator, ast.Or) else "&&"
            parts = [condition_tree(value, scope) for value in values]
            return reduce(lambda a, b: make.binary_operation(opcode, (a, b), INTEGER, at), parts)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return Node("unary", at, INTEGER, (condition_tree(operand, scope),), "!")
        case _:
            return integer_tree(node, scope)


def affine_form(node: ast.expr, scope: Scope) -> Affine | None:
    """The affine form of an integer expression, as far as names tell."""
    return forms.affine_form(integer_tree(node, scope), scope.forms)


def affine_condition(node: ast.expr, scope: Scope) -> Condition | None:
    """Affine condition of a test; a bare integer holds where it is not 0."""
    return forms.affine_condition(condition_tree(node, scope), scope.forms)


def array_extent(node: ast.expr, scope: Scope) -> Affine:
    """Affine form of an extent; raises PL0135 at the part that is not affine, and PL0140."""
    check_no_text(node, scope.text)
    check_names(node, scope)
    found = affine_form(node, scope)
    if found is None:
        why = find_obstacle(integer_tree(node, scope), scope.forms)
        raise input_error("PL0135", f"an extent {why.reason}", span=why.part.span, help=why.help)
    # Coefficients are 32 bits in the files that a target writes.
    if any(abs(c) >= LIMIT for c in (found.constant, *(c for _, c in found.terms))):
        raise scope.text.error("PL0135", "an extent has a constant that is too large", node, "stay below 2**31")
    return found


def check_no_text(node: ast.expr, text: Text) -> None:
    """Raises PL0135 for an extent in quotation marks, as other packages' annotations have them."""
    match node:
        case ast.Constant(value=str(name)):
            used = re.findall(r"[A-Za-z_]\w*", name) or ["N"]
            help = f"write {name} without quotation marks; above the function: "
            help += f'`{", ".join(used)} = pl.sizes("{" ".join(used)}")`'
            raise text.error("PL0135", "an extent is a text", node, help)
        case _:
            pass


def check_names(node: ast.expr, scope: Scope) -> None:
    """Raises PL0140 for a name in an integer expression that stands for nothing."""
    match node:
        case ast.Name(id=name) if name not in scope.bound and scope.value(node) is NOTHING:
            raise scope.unknown(node)
        case ast.Attribute() if scope.value(node) is NOTHING and scope.value(node.value) is not NOTHING:
            raise scope.unknown(node)
        case ast.BinOp() | ast.UnaryOp() | ast.IfExp() | ast.Call():
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    check_names(child, scope)
        case _:
            pass


def depends_on_data(node: ast.expr, scope: Scope) -> bool:
    """Whether an integer expression has an element or a variable of data in it."""
    return affine_form(node, scope) is None and any(
        isinstance(n, ast.Subscript) or (isinstance(n, ast.Name) and n.id in scope.bound and n.id not in scope.integers)
        for n in ast.walk(node)
    )


def steps_range(node: ast.expr, scope: Scope) -> ast.expr | None:
    """Range of a loop of steps, `pl.steps(range(N))`; None for another loop's."""
    match node:
        case ast.Call(func=function, args=[inner], keywords=[]) if scope.value(function) is steps:
            return inner
        case _:
            return None
