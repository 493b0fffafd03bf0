# SPDX-License-Identifier: Apache-2.0
"""Statement tree as a form between passes: its text, and its verifier as a list of rules.

Kinds that no rule knows are what a language has beyond loops; the reader refuses them at their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from polyloom.diagnostics import INTERNAL, Diagnostic, PolyloomError
from polyloom.frontend.loops.tree import CASTS, Node
from polyloom.frontend.loops.types import COUNTING, NARROW
from polyloom.passes import Form

Rule = Callable[[Node], bool]
_CHILDREN: Final = {
    "unary": (1, 1),
    "binary": (2, 2),
    "update": (2, 2),
    "choose": (3, 3),
    "convert": (1, 1),
    "cast": (1, 1),
    "element": (2, 2),
    "exact": (2, 2),
    "for": (5, 5),
    "while": (2, 3),
    "do": (2, 2),
    "if": (2, 3),
    "assume": (1, 1),
    "name": (0, 0),
    "size": (0, 0),
}
"""How many a kind has at least and at most."""
_ARITHMETIC: Final = ("+", "-", "*", "/", "%", "//", "mod", "&", "|", "^")
_COMPARISONS: Final = ("<", "<=", ">", ">=", "==", "!=")
_INTEGERS: Final = (*COUNTING, *NARROW)


def print_tree(nodes: Sequence[Node]) -> str:
    """A line per node: its kind, its operator or value, its name, and its type."""
    return "".join(line for node in nodes for line in _lines(node, ""))


def _lines(node: Node, margin: str) -> Iterator[str]:
    value = "" if node.value is None else str(node.value)
    words = (node.kind or "nothing", node.opcode, node.name, value, ", ".join(node.types))
    of = f": {node.ctype}" if node.ctype else ""
    yield f"{margin}{' '.join(word for word in words if word)}{of}\n"
    for child in node.inner:
        yield from _lines(child, margin + "  ")


def _has_its_children(node: Node) -> bool:
    least, most = _CHILDREN.get(node.kind, (0, len(node.inner)))
    return least <= len(node.inner) <= most


def _has_operands_of_its_type(node: Node) -> bool:
    """Conversions are nodes: what is computed with data has one type. Numbers that count may mix, and pointers."""
    if node.kind != "binary" or node.opcode not in (*_ARITHMETIC, *_COMPARISONS):
        return True
    results = (node.ctype,) if node.opcode in _ARITHMETIC else ()
    # What is no number has no type, and is refused later, where it is used.
    types = {*results, *(child.ctype for child in node.inner)} - {""}
    return len(types) <= 1 or types <= {*_INTEGERS} or any(set("*[(") & set(each) for each in types)


def _says_how_it_converts(node: Node) -> bool:
    return node.kind not in CASTS or bool(node.opcode)


def _is_indexed_by_an_integer(node: Node) -> bool:
    return node.kind != "element" or node.inner[1].ctype in ("", *_INTEGERS)


def _has_an_identity(node: Node) -> bool:
    return node.kind not in ("name", "variable", "parameter") or bool(node.symbol)


RULES: Final[dict[str, Rule]] = {
    "has another number of children": _has_its_children,
    "has operands of another type": _has_operands_of_its_type,
    "does not say how it converts": _says_how_it_converts,
    "is indexed by no integer": _is_indexed_by_an_integer,
    "has no identity": _has_an_identity,
}
"""What is said of a node that breaks a rule."""


def verify(nodes: Sequence[Node]) -> Sequence[Node]:
    """Verifier of the statement tree: gives the statements themselves; raises PL0977 with every violation of the first
    rule that is violated.
    """
    every = [part for node in nodes for part in node]
    for says, rule in RULES.items():
        # Rule by rule: a wrong number of children would make the later rules fail in ways of their own.
        broken = [node for node in every if not rule(node)]
        if broken:
            raise PolyloomError(
                *(Diagnostic("PL0977", f"a `{n.kind}` {n.opcode} {says}", INTERNAL, span=n.span) for n in broken)
            )
    return nodes


FORM: Final[Form[Sequence[Node]]] = Form(print_tree, verify)
