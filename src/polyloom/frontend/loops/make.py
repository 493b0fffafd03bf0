# SPDX-License-Identifier: Apache-2.0
"""Node constructors for rewritings and lowerings. Each node stands where the node `at` stands, of which messages then
speak.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from polyloom.diagnostics import Span
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.types import CTYPE, INTEGER
from polyloom.ir.operations import BY_NAME, ElementType
from polyloom.sets import Affine


def declare_variable(name: str, ctype: str, identity: str, at: Node, initial: Node | None = None) -> Node:
    """The statement that declares a variable."""
    inner = () if initial is None else (initial,)
    made = replace(_new_node(at, "variable", ctype, inner), name=name, symbol=identity, initial=initial is not None)
    return _new_node(at, "declare", "", (replace(made, qualified=ctype),))


def _new_node(at: Node, kind: str, ctype: str, inner: tuple[Node, ...] = (), opcode: str = "") -> Node:
    return Node(kind, at.span, ctype, inner, opcode, macro=at.macro)


def variable_reference(declaration: Node, at: Node) -> Node:
    """A reference to a variable."""
    made = _new_node(at, "name", declaration.ctype)
    return replace(made, name=declaration.name, symbol=declaration.symbol)


def number(value: int, at: Node) -> Node:
    """A constant of the type int, which may be negative here."""
    return replace(_new_node(at, "integer", "int"), value=value, text=str(value))


def zero_value(ctype: str, at: Node) -> Node:
    """The value 0 of a type."""
    return replace(_new_node(at, "real", ctype), value=0.0) if ctype in ("float", "double") else number(0, at)


def element(array: Node, index: Node, at: Node) -> Node:
    """Element of an array, `array[index]`, with the type that C gives it: the outermost extent, or the pointer, taken
    off (C17, section 6.5.2.1).
    """
    ctype = array.ctype
    inner = ctype.partition("[")[0] + "[".join(["", *ctype.split("[")[2:]]) if "[" in ctype else ctype.removesuffix("*")
    return _new_node(at, "element", inner.strip(), (array, index))


def assignment(to: Node, value: Node, at: Node) -> Node:
    """`to = value`."""
    return _new_node(at, "binary", to.ctype, (to, value), "=")


def binary(opcode: str, a: Node, b: Node, ctype: str, at: Node) -> Node:
    return _new_node(at, "binary", ctype, (a, b), opcode)


def literal(value: int, span: Span) -> Node:
    """An integer that never wraps."""
    return Node("integer", span, INTEGER, value=value, text=str(value))


def constant(value: float, ctype: str, span: Span) -> Node:
    """A number of an element type."""
    return Node("real", span, ctype, value=value)


def size(form: Affine, span: Span) -> Node:
    """An affine form of sizes."""
    return Node("size", span, INTEGER, value=form)


def reference(identity: str, name: str, ctype: str, span: Span) -> Node:
    """A variable, an argument or an array by its name."""
    return Node("name", span, ctype, name=name, symbol=identity)


def binary_operation(opcode: str, operands: tuple[Node, Node], ctype: str, span: Span) -> Node:
    """A binary operator."""
    return Node("binary", span, ctype, operands, opcode)


def cast(value: Node, ctype: str, span: Span) -> Node:
    """A conversion to an element type."""
    return Node("convert", span, ctype, (value,), "IntegerToElement")


def operation_node(name: str, dtype: ElementType, operands: tuple[Node, ...], at: Node, written: str = "") -> Node:
    """An operation of `ir.operations` on operands of a type; the text calls it `written`."""
    made = _new_node(at, "operation", CTYPE[BY_NAME[name].result(dtype)], operands, name)
    return replace(made, name=written or name, types=(CTYPE[dtype],))


def replace_nodes(node: Node, function: Callable[[Node], Node | None]) -> Node:
    """Tree rewriting from above: every node for which `function` gives another one is replaced; below it,
    nothing is.
    """
    found = function(node)
    if found is not None:
        return found
    inner: Sequence[Node] = [replace_nodes(child, function) for child in node.inner]
    same = all(a is b for a, b in zip(inner, node.inner, strict=True))
    # Unchanged trees keep their identity, by which callers see whether anything was done.
    return node if same else replace(node, inner=tuple(inner))
