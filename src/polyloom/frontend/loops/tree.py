# SPDX-License-Identifier: Apache-2.0
"""clang's syntax tree as values: nodes with spans in the user's text, and the macro whose expansion a node stands in.

Positions behind macros are those of the expansion. clang writes implicit conversions as nodes, so what C's rules of
promotion do to an expression is read off the tree and decided nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from polyloom.diagnostics import PolyloomError, Span, input_error
from polyloom.frontend.c.text import Files

_QUALIFIER = re.compile(r"\b(?:const|volatile|restrict|register|_Nonnull)\b ?")
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


def ctype(type: Mapping[str, str], aliases: Mapping[str, str]) -> str:
    """A type of clang's without typedefs, which `aliases` names, and without qualifiers."""
    text = _QUALIFIER.sub("", type.get("desugaredQualType", type.get("qualType", ""))).strip()
    while (alias := re.match(r"[A-Za-z_]\w*", text)) and alias[0] in aliases:
        text = _aliased(aliases[alias[0]], text[alias.end() :].strip())
    return re.sub(r"^bool\b", "_Bool", text)  # clang writes `bool` where <stdbool.h> is included


def _aliased(type: str, rest: str) -> str:
    """What is made of an alias of a type: extents of an array follow those that `rest` has, and a pointer to it."""
    if not type.endswith("]") or not rest:
        return f"{type} {rest}".rstrip()
    base, bracket, inner = type.partition("[")
    return f"{base}{rest}{bracket}{inner}" if rest.startswith("[") else f"{base} ({rest}){bracket}{inner}"


def aliases(unit: Mapping[str, Any]) -> dict[str, str]:
    """The typedefs of a translation unit."""
    return {
        t["name"]: ctype(t["type"], {})
        for t in unit["inner"]
        if t["kind"] == "TypedefDecl" and ctype(t["type"], {}) != t["name"]
    }


def strip(node: Node) -> Node:
    """The expression without parentheses and without conversions that keep its value and its type."""
    while node.kind in ("ParenExpr", "ConstantExpr") or (node.kind.endswith("CastExpr") and _keeps(node)):
        node = node.inner[0]
    return node


def _keeps(cast: Node) -> bool:
    return cast.data["castKind"] in _SAME_VALUE or (
        cast.data["castKind"] in ("IntegralCast", "FloatingCast") and cast.ctype == cast.inner[0].ctype
    )


def refuse(code: str, message: str, node: Node, help: str | None = None, *notes: str) -> PolyloomError:
    """The diagnostic at `node`, with a note where a macro hides it."""
    expanded = (f"this is in the expansion of the macro `{node.macro}`",) if node.macro else ()
    return input_error(code, message, span=node.span, notes=(*notes, *expanded), help=help)


class Builder:
    """Makes nodes of clang's JSON objects."""

    def __init__(self, aliases: Mapping[str, str]) -> None:
        self.aliases = aliases
        self.files = Files()

    def build(self, raw: Mapping[str, Any], around: Span | None = None) -> Node:
        """The tree below `raw`; `around` is the span of the parent, for nodes that have none of their own."""
        here = raw.get("range", {})
        begin, end = here.get("begin", {}), here.get("end", {})
        first, last = expanded(begin), expanded(end)
        if "offset" in first:
            # A range may end in another file, where an include stands in the middle of an expression.
            stop = last["offset"] + last["tokLen"] if last.get("file") == first["file"] else 0
            around = self.files.span(first["file"], first["offset"], max(stop, first["offset"] + first["tokLen"]))
        assert around is not None
        macro = self.spelled(first) if "expansionLoc" in begin else None
        # Of a list that is shorter than its array, clang gives the filler and then the values.
        children = raw["array_filler"][1:] if "array_filler" in raw else raw.get("inner", ())
        inner = tuple(
            [self.build(child, around) for child in children if not child.get("kind", "").endswith(("Attr", "Comment"))]
        )
        text = self.spelled(begin.get("spellingLoc", begin)) if raw.get("kind", "").endswith("Literal") else ""
        return Node(raw.get("kind", ""), around, macro, ctype(raw.get("type", {}), self.aliases), text, raw, inner)

    def spelled(self, location: Mapping[str, Any]) -> str:
        return self.files.word(location["file"], location["offset"], location["tokLen"])


def expanded(location: Mapping[str, Any]) -> Mapping[str, Any]:
    """Where a location is in the text: behind a macro, where that is expanded."""
    return location.get("expansionLoc", location)
