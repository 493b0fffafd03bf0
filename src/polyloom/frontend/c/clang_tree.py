# SPDX-License-Identifier: Apache-2.0
"""clang's syntax tree as nodes with spans in the user's text, and the macro whose expansion a node stands in.

Positions behind macros are those of the expansion. clang writes implicit conversions as nodes, so what C's rules of
promotion (C17, section 6.3.1.8) do to an expression is read off the tree and decided nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from polyloom.diagnostics import Span
from polyloom.frontend.c.positions import Files
from polyloom.frontend.loops.tree import Node

_QUALIFIER = re.compile(r"\b(?:const|volatile|restrict|register|_Nonnull)\b ?")


def ctype(type: Mapping[str, str], aliases: Mapping[str, str]) -> str:
    """Canonical type of clang's: without typedefs, which `typedefs` names, and without qualifiers (C17,
    section 6.2.7).
    """
    text = _QUALIFIER.sub("", type.get("desugaredQualType", type.get("qualType", ""))).strip()
    while (alias := re.match(r"(?:enum )?[A-Za-z_]\w*", text)) and alias[0] in aliases:
        text = _apply_alias(aliases[alias[0]], text[alias.end() :].strip())
    return re.sub(r"^bool\b", "_Bool", text)  # clang writes `bool` where <stdbool.h> is included


def _apply_alias(type: str, rest: str) -> str:
    """Type of a declarator on an alias: extents of an array follow those that the rest has, and a pointer is to the
    array.
    """
    if not type.endswith("]") or not rest:
        return f"{type} {rest}".rstrip()
    base, bracket, inner = type.partition("[")
    return f"{base}{rest}{bracket}{inner}" if rest.startswith("[") else f"{base} ({rest}){bracket}{inner}"


def typedefs(unit: Mapping[str, Any]) -> dict[str, str]:
    """The typedefs of a translation unit."""
    return {
        t["name"]: ctype(t["type"], {})
        for t in unit["inner"]
        if t["kind"] == "TypedefDecl" and ctype(t["type"], {}) != t["name"]
    }


def enumerations(unit: Mapping[str, Any]) -> dict[str, str]:
    """The integer types of a unit's enumerations, by their names (C17, section 6.7.2.2, paragraph 4): clang's are
    `unsigned int` where no constant is negative, else `int`.
    """
    found, last = dict[str, str](), ""
    for item in unit["inner"]:
        if item["kind"] == "EnumDecl" and "inner" in item:
            # A packed one, or one of a given type, is narrower: its variables are refused.
            kinds = {each["kind"] for each in item["inner"] if not each["kind"].endswith("Comment")}
            if "fixedUnderlyingType" in item or kinds != {"EnumConstantDecl"}:
                last = ""
                continue
            last = "int" if any(_is_negative(each) for each in item["inner"]) else "unsigned int"
            if "name" in item:
                found[f"enum {item['name']}"] = last
        elif item["kind"] == "TypedefDecl" and last and item["type"]["qualType"] == f"enum {item['name']}":
            # clang prints an enumeration without a name by that of the typedef behind it.
            found.setdefault(f"enum {item['name']}", last)
            found.setdefault(item["name"], found[f"enum {item['name']}"])
    return found


def _is_negative(item: Mapping[str, Any]) -> bool:
    value = str(item.get("value", "")) if item.get("kind") == "ConstantExpr" else ""
    return value.startswith("-") or any(_is_negative(child) for child in item.get("inner", ()))


KINDS: Final = {
    "IntegerLiteral": "integer",
    "CharacterLiteral": "character",
    "FloatingLiteral": "real",
    "DeclRefExpr": "name",
    "ArraySubscriptExpr": "element",
    "UnaryOperator": "unary",
    "BinaryOperator": "binary",
    "CompoundAssignOperator": "update",
    "ImplicitCastExpr": "convert",
    "CStyleCastExpr": "cast",
    "ConditionalOperator": "choose",
    "CallExpr": "call",
    "CompoundStmt": "block",
    "ForStmt": "for",
    "WhileStmt": "while",
    "DoStmt": "do",
    "IfStmt": "if",
    "DeclStmt": "declare",
    "VarDecl": "variable",
    "ParmVarDecl": "parameter",
    "ReturnStmt": "return",
    "ContinueStmt": "continue",
    "BreakStmt": "break",
    "GotoStmt": "goto",
    "IndirectGotoStmt": "computed goto",
    "LabelStmt": "label",
    "SwitchStmt": "switch",
    "CaseStmt": "case",
    "DefaultStmt": "default",
    "NullStmt": "nothing",
    "AttributedStmt": "attributed",
    "MemberExpr": "member",
    "StmtExpr": "statements",
    "InitListExpr": "list",
    "ImplicitValueInitExpr": "zero",
    "StringLiteral": "string",
    "UnaryExprOrTypeTraitExpr": "sizeof",
    "ParenExpr": "parentheses",
    "ConstantExpr": "constant",
}
"""The kinds of the statement tree by clang's; what has no other stays as it is, and is refused where it is read."""


class Builder:
    """Construction of the statement tree from clang's JSON objects."""

    def __init__(self, aliases: Mapping[str, str]) -> None:
        self.aliases = aliases
        self.files = Files()

    def build(self, raw: Mapping[str, Any], around: Span | None = None) -> Node:
        """The tree below `raw`; `around` is the span of the parent, for nodes that have none of their own."""
        here = raw.get("range", {})
        begin, end = here.get("begin", {}), here.get("end", {})
        first, last = expansion_location(begin), expansion_location(end)
        if "offset" in first:
            # A range may end in another file, where an include stands in the middle of an expression.
            stop = last["offset"] + last["tokLen"] if last.get("file") == first["file"] else 0
            around = self.files.span(first["file"], first["offset"], max(stop, first["offset"] + first["tokLen"]))
        assert around is not None
        macro = self.token_text(first) if "expansionLoc" in begin else None
        # Of a list that is shorter than its array, clang gives the filler and then the values.
        children = raw["array_filler"][1:] if "array_filler" in raw else raw.get("inner", ())
        inner = tuple(
            [self.build(child, around) for child in children if not child.get("kind", "").endswith(("Attr", "Comment"))]
        )
        text = self.token_text(begin.get("spellingLoc", begin)) if raw.get("kind", "").endswith("Literal") else ""
        kind: str = raw.get("kind", "")
        # A use has the identity of its declaration, so that equal names in inner scopes stay apart (C17, section
        # 6.2.1).
        named = raw.get("referencedDecl", raw)
        computes = (raw[key] for key in ("computeLHSType", "computeResultType", "argType") if key in raw)
        return Node(
            KINDS.get(kind, kind),
            around,
            ctype(raw.get("type", {}), self.aliases),
            inner,
            raw.get("opcode", raw.get("castKind", "")),
            named.get("name", ""),
            raw.get("declId", raw.get("targetLabelDeclId", named.get("id", ""))),
            raw.get("value"),
            tuple(ctype(each, self.aliases) for each in computes),
            text,
            macro,
            "init" in raw,
            raw.get("type", {}).get("qualType", ""),
            raw.get("storageClass", ""),
            raw.get("isPostfix", False),
            raw.get("isArrow", False),
        )

    def token_text(self, location: Mapping[str, Any]) -> str:
        return self.files.word(location["file"], location["offset"], location["tokLen"])


def expansion_location(location: Mapping[str, Any]) -> Mapping[str, Any]:
    """Expansion location: where a location is in the text; behind a macro, where that is expanded."""
    return location.get("expansionLoc", location)
