# SPDX-License-Identifier: Apache-2.0
"""Values of 64 bits within statements: `y[i] = ((long long)a[i] * b[i]) >> 32` in 32 bits (`functions`).

What is converted from 64 bits to at most 32 is computed before its statement, of the operands of up to 32 bits. A part
that C evaluates conditionally (C17, sections 6.5.13 to 6.5.15) stays as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from polyloom.frontend.c.narrow.functions import WIDTHS, Execution, Names, Unknown, Value, convert_integer
from polyloom.frontend.c.narrow.pairs import Pair
from polyloom.frontend.c.narrow.terms import statements
from polyloom.frontend.loops import make
from polyloom.frontend.loops.affine import callee
from polyloom.frontend.loops.roles import loop_variable
from polyloom.frontend.loops.shape import Statements, block, with_statements
from polyloom.frontend.loops.tree import CASTS, Node, strip


def narrow_values(body: Node, functions: Mapping[str, Node]) -> Node:
    """Rewriting of the statements of a body; `functions` are those that it may call, by name."""
    if not any(_width(node) == 64 for node in body):
        return body
    loops = {v.symbol for n in body if n.kind == "for" and (v := loop_variable(n)) is not None}
    data = {n.symbol for n in body if n.kind == "variable"} - loops
    return with_statements(body, lambda node: _rewrite_statement(node, functions, data))


def _width(node: Node) -> int:
    return WIDTHS.get(node.ctype, (0, False))[0]


def _first_width(types: tuple[str, ...]) -> int:
    return WIDTHS.get(types[0], (0, False))[0] if types else 0


def _rewrite_statement(node: Node, functions: Mapping[str, Node], data: Collection[str]) -> Statements:
    if node.kind == "declare" and len(node.inner) == 1 and node.inner[0].initial:
        declaration = node.inner[0]
        before, value = _rewrite_expression(declaration.inner[-1], functions, data)
        whole = replace(node, inner=(replace(declaration, inner=(*declaration.inner[:-1], value)),))
        return (*before, whole) if before else (node,)
    if node.kind == "update" and len(node.inner) == 2 and _width(node) <= 32 and _first_width(node.types) == 64:
        node = _assignment(node)
    if node.kind == "binary" and node.opcode == "=":
        before, value = _rewrite_expression(node.inner[-1], functions, data)
        if not before:
            return (node,)
        # One block, so that the variables are those of this statement alone.
        return (block((*before, replace(node, inner=(node.inner[0], value))), node),)
    return (with_statements(node, lambda child: _rewrite_statement(child, functions, data)),)


def _is_load(node: Node) -> bool:
    return node.kind == "unary" and node.opcode == "*"


def _assignment(node: Node) -> Node:
    """`x += y`, computed in 64 bits, as `x = x + y` with its conversions (C17, section 6.5.16.2)."""
    target, added = node.inner
    computed = node.types[0]
    wide = replace(node, kind="convert", ctype=computed, opcode="IntegralCast", inner=(target,), types=())
    value = replace(node, kind="binary", ctype=computed, opcode=node.opcode[:-1], inner=(wide, added), types=())
    narrow = replace(wide, ctype=target.ctype, inner=(value,))
    return make.assignment(target, narrow, node)


def _rewrite_expression(node: Node, functions: Mapping[str, Node], data: Collection[str]) -> tuple[Statements, Node]:
    """An expression, and the statements before it that compute its parts of 64 bits. Of loop variables and parameters
    alone, which may be subscripts, it stays affine.
    """
    before = list[Node]()

    def rewrite(part: Node) -> Node | None:
        if part.kind in ("choose", "statements", "sizeof") or part.opcode in ("&&", "||"):
            return part
        bare = strip(part)
        is_cast = bare.kind in CASTS and _width(bare.inner[0]) == 64
        is_call = bare.kind == "call" and callee(bare) in functions and any(_width(a) == 64 for a in bare.inner[1:])
        is_data = any(n.kind in ("element", "member") or n.symbol in data or _is_load(n) for n in bare)
        if (is_cast or is_call) and is_data and 0 < _width(bare) <= 32:
            return _narrow_value(bare, functions, before)
        return None

    value = make.changed(node, rewrite)
    return tuple(before), value


def _narrow_value(node: Node, functions: Mapping[str, Node], before: list[Node]) -> Node:
    leaves = _Leaves(functions)
    try:
        value = leaves.value(node, {})
    except (Unknown, RecursionError):
        return node
    assert not isinstance(value, Pair)
    before.extend(leaves.declared.values())
    known = {name: declared.inner[0] for name, declared in leaves.declared.items()}
    *parts, last = statements(value, replace(node, symbol=f"{node.span.start}-{node.span.end}"), known, node.ctype)
    before.extend(parts)
    return last.inner[0]


@dataclass
class _Leaves(Execution):
    """Symbolic execution of an expression, over variables for its operands of up to 32 bits."""

    functions: Mapping[str, Node]
    path: tuple[str, ...] = ()
    declared: dict[str, Node] = field(default_factory=dict[str, Node])

    def value(self, node: Node, names: Names) -> Value:
        bare = strip(node)
        is_inner = any(_width(part) == 64 for part in bare) or bare.kind in ("integer", "character")
        if names or is_inner or not 0 < _width(bare) <= 32:
            return super().value(bare, names)
        return self._leaf(bare)

    def _leaf(self, node: Node) -> Value:
        name = f"{node.symbol or 'leaf'}@{node.span.start}-{node.span.end}"
        self.declared.setdefault(name, make.variable("operand", node.ctype, name, node, node))
        return convert_integer(("var", name), node.ctype, "int")
