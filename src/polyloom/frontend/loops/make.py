# SPDX-License-Identifier: Apache-2.0
"""Nodes that a rewriting makes. Each stands where the node `at` stands, of which messages then speak."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from polyloom.diagnostics import Span
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.types import CTYPE, INTEGER
from polyloom.ir.operations import BY_NAME, ElementType
from polyloom.sets import Affine


def variable(name: str, ctype: str, identity: str, at: Node, initial: Node | None = None) -> Node:
    """The statement that declares a variable."""
    data = {"id": identity, "name": name, "type": {"qualType": ctype}, **({"init": "c"} if initial is not None else {})}
    inner = () if initial is None else (initial,)
    made = Node("VarDecl", at.span, at.macro, ctype, "", data, inner)
    return Node("DeclStmt", at.span, at.macro, "", "", {}, (made,))


def named(declaration: Node, at: Node) -> Node:
    """A reference to a variable."""
    of = {"id": declaration.id, "name": declaration.name, "kind": declaration.kind}
    data = {"id": f"{at.id}@{declaration.id}", "referencedDecl": of}
    return Node("DeclRefExpr", at.span, at.macro, declaration.ctype, "", data, ())


def number(value: int, at: Node) -> Node:
    """A constant of the type int, which may be negative here."""
    return Node("IntegerLiteral", at.span, at.macro, "int", str(value), {"value": str(value)}, ())


def zero(ctype: str, at: Node) -> Node:
    """The value 0 of a type."""
    if ctype not in ("float", "double"):
        return number(0, at)
    return Node("FloatingLiteral", at.span, at.macro, ctype, "0", {"value": "0"}, ())


def element(array: Node, index: Node, at: Node) -> Node:
    """`array[index]`."""
    ctype = array.ctype
    inner = ctype.partition("[")[0] + "[".join(["", *ctype.split("[")[2:]]) if "[" in ctype else ctype.removesuffix("*")
    return Node("ArraySubscriptExpr", at.span, at.macro, inner.strip(), "", {}, (array, index))


def assignment(to: Node, value: Node, at: Node) -> Node:
    """`to = value`."""
    data = {"id": f"{at.id}=", "opcode": "="}
    return Node("BinaryOperator", at.span, at.macro, to.ctype, "", data, (to, value))


def binary(opcode: str, a: Node, b: Node, ctype: str, at: Node) -> Node:
    data = {"id": f"{at.id}{opcode}", "opcode": opcode}
    return Node("BinaryOperator", at.span, at.macro, ctype, "", data, (a, b))


def literal(value: int, span: Span) -> Node:
    """An integer that never wraps."""
    return Node("IntegerLiteral", span, None, INTEGER, str(value), {"value": str(value)}, ())


def constant(value: float, ctype: str, span: Span) -> Node:
    """A number of an element type."""
    return Node("FloatingLiteral", span, None, ctype, "", {"value": value}, ())


def size(form: Affine, span: Span) -> Node:
    """An affine form of sizes."""
    return Node("Size", span, None, INTEGER, "", {"form": form}, ())


def reference(identity: str, name: str, ctype: str, span: Span) -> Node:
    """A variable, an argument or an array by its name."""
    return Node("DeclRefExpr", span, None, ctype, "", {"referencedDecl": {"id": identity, "name": name}}, ())


def other(text: str, span: Span) -> Node:
    """What is no integer expression."""
    return Node("Other", span, None, "", text, {}, ())


def unary(opcode: str, operand: Node, ctype: str, span: Span) -> Node:
    return Node("UnaryOperator", span, None, ctype, "", {"opcode": opcode}, (operand,))


def combined(opcode: str, operands: tuple[Node, Node], ctype: str, span: Span) -> Node:
    """A binary operator."""
    return Node("BinaryOperator", span, None, ctype, "", {"opcode": opcode}, operands)


def chosen(name: str, operands: tuple[Node, Node], ctype: str, span: Span) -> Node:
    """The minimum or the maximum of integers that never wrap."""
    return Node("Operation", span, None, ctype, "", {"opcode": name}, operands)


def cast(value: Node, ctype: str, span: Span) -> Node:
    """A conversion to an element type."""
    return Node("ImplicitCastExpr", span, None, ctype, "", {"castKind": "IntegerToElement"}, (value,))


def operation(name: str, dtype: ElementType, operands: tuple[Node, ...], at: Node, written: str = "") -> Node:
    """An operation of `ir.operations` on operands of a type; the text calls it `written`."""
    data = {"id": at.id, "opcode": name, "dtype": dtype, "name": written or name}
    return Node("Operation", at.span, at.macro, CTYPE[BY_NAME[name].result(dtype)], "", data, operands)


def changed(node: Node, function: Callable[[Node], Node | None]) -> Node:
    """The tree with every node for which `function` gives another one replaced, from above; below it, nothing is."""
    found = function(node)
    if found is not None:
        return found
    inner: Sequence[Node] = [changed(child, function) for child in node.inner]
    same = all(a is b for a, b in zip(inner, node.inner, strict=True))
    return node if same else replace(node, inner=tuple(inner))
