# SPDX-License-Identifier: Apache-2.0
"""The statement tree of both languages: nodes with types and with spans in the user's text.

Every conversion is a node, and quotients say how they round, so that no rule of a language (C17 6.3.1, NEP 50) is
decided behind the tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from polyloom.diagnostics import PolyloomError, Span, input_error

_SAME_VALUE = {"LValueToRValue", "NoOp", "ArrayToPointerDecay", "FunctionToPointerDecay", "BuiltinFnToFnPtr"}


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """`ctype` is the type without typedefs and qualifiers: `float`, `signed char`, `float (*)[n]`; `text` is how a
    literal is written, also within a macro; `data` holds clang's own fields. An absent child, such as a missing
    condition of `for`, has the kind ""; attributes and comments are left out."""

    kind: str
    span: Span
    macro: str | None
    ctype: str
    text: str
    data: Mapping[str, Any]
    inner: tuple[Node, ...]

    @property
    def id(self) -> str:
        """Of what is no statement, expression or declaration, such as a case of `_Generic`, nothing."""
        return self.data.get("id", "")

    @property
    def name(self) -> str:
        return self.data.get("name", "")

    @property
    def opcode(self) -> str:
        return self.data.get("opcode", "")

    @property
    def declaration(self) -> str:
        """The identity of what a `DeclRefExpr` names."""
        return self.data["referencedDecl"]["id"]

    def __iter__(self) -> Iterator[Node]:
        """This node and everything below it, from left to right."""
        waiting: list[Node] = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.inner))


def strip(node: Node) -> Node:
    """The expression without parentheses and without conversions that keep its value and its type."""
    while node.kind in ("ParenExpr", "ConstantExpr") or (node.kind.endswith("CastExpr") and _keeps(node)):
        node = node.inner[0]
    return node


def _keeps(cast: Node) -> bool:
    return cast.data["castKind"] in _SAME_VALUE or (
        cast.data["castKind"] in ("IntegralCast", "FloatingCast") and cast.ctype == cast.inner[0].ctype
    )


def written(node: Node) -> str:
    """The first line of a part as it stands in the text."""
    text = node.span.source.text[node.span.start : node.span.end]
    return text.partition("\n")[0]


def refuse(code: str, message: str, node: Node, help: str | None = None, *notes: str) -> PolyloomError:
    """The diagnostic at `node`, with a note where a macro hides it."""
    expanded = (f"this is in the expansion of the macro `{node.macro}`",) if node.macro else ()
    return input_error(code, message, span=node.span, notes=(*notes, *expanded), help=help)
