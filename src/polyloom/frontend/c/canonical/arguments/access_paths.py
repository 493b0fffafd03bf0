# SPDX-License-Identifier: Apache-2.0
"""Access paths (Muchnick 1997, section 12.2; C17, section 6.5.2.3): the places of structures behind pointers and of the
file's variables that a function uses, each by what C writes behind the name that it begins at.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.frontend.loops.affine import callee_name
from polyloom.frontend.loops.tree import Node, refusal, strip_casts
from polyloom.frontend.loops.types import COUNTING, SHORT

_RECORD: Final = re.compile(r"(?:struct|union) [^*\[]*")
_FIELD: Final = re.compile(r"\b([^\W\d]\w*)((?:(?:->|\.)\w+)+)")
ASSIGNS: Final = ("=", "++", "--")
"""Operators that store to their first operand, apart from updates."""


@dataclass(frozen=True, slots=True)
class Access:
    """Access path: the identity of the parameter or variable that it begins at, and what C writes behind its name, such
    as `->sub.gain`."""

    root: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Roots:
    """Where access paths begin: pointers to structures among the parameters, and variables of the file, by identity;
    `aliases` are local pointers to structures, with what they point to."""

    pointers: Mapping[str, Node]
    variables: Mapping[str, Node]
    aliases: Mapping[str, Access] = field(default_factory=dict[str, Access])

    def access(self, node: Node) -> Access | None:
        """Access path of an expression; None for one that has none."""
        node = strip_casts(node)
        if node.kind == "name":
            # A variable of the file may be declared several times, each with an identity (C17, section 6.2.2).
            root = self.pointers.get(node.symbol) or self.variables.get(node.symbol)
            return self.aliases.get(node.symbol) or (None if root is None else Access(root.symbol))
        if node.kind == "member":
            inner = self.access(node.inner[0])
            # A member of an anonymous structure is a member of the one around it (C17, section 6.7.2.1).
            if inner is None or not node.name:
                return inner
            arrow = node.arrow and not inner.path.endswith("&")
            return Access(inner.root, f"{inner.path.removesuffix('&')}{'->' if arrow else '.'}{node.name}")
        if node.kind == "unary" and node.opcode in ("*", "&") and is_record(node.inner[0].ctype.rstrip("* ")):
            return self._indirect(node)
        return None

    def _indirect(self, node: Node) -> Access | None:
        """`*p` of a pointer to a structure, whose fields are those of `p->`; and `&s`, marked by `&` at the end."""
        inner = self.access(node.inner[0])
        if inner is None or node.opcode == "&":
            return None if inner is None else replace(inner, path=f"{inner.path}&")
        if inner.path.endswith("&"):
            return replace(inner, path=inner.path[:-1])
        # `(*p).x` is `p->x` (C17, section 6.5.2.3): the star waits for its member.
        return replace(inner, path=f"{inner.path}*")


def is_record(ctype: str) -> bool:
    return _RECORD.fullmatch(ctype.strip()) is not None


def list_uses(body: Node, roots: Roots) -> Iterator[tuple[Access, Node]]:
    """Leaf places with the first expression of each: accesses that are no structures."""
    for node in body:
        if node.kind not in ("name", "member") or is_record(node.ctype.removesuffix("*")):
            continue
        found = roots.access(node)
        if found is not None:
            yield canonical_access(found), node


def canonical_access(access: Access) -> Access:
    """`(*p).x` as `p->x`."""
    return replace(access, path=access.path.replace("*.", "->"))


def size_fields(shapes: Collection[str], pointers: Collection[Node]) -> Iterator[tuple[Access, Node]]:
    """Fields that extents name, whether or not the function uses them: sizes, which are integers."""
    named = {p.name: p for p in pointers}
    for name, path in (found for shape in shapes for found in _FIELD.findall(shape.partition("=")[2])):
        if (root := named.get(name)) is not None:
            # Of a pointer to a structure the first dot is an arrow: shells do not like that.
            access = Access(root.symbol, re.sub(r"^\.", "->", path))
            yield access, Node("member", root.span, "int", name=access.path, qualified="int")


def check_escapes(body: Node, roots: Roots, uses: Mapping[Access, Node]) -> None:
    """Escape analysis: of a structure only its fields are used. Raises PL0161."""
    bases = {id(strip_casts(n.inner[0])) for n in body if n.kind == "member" or n.opcode in ("*", "&")}
    known = {access.root for access in uses}
    calls = {id(strip_casts(a)): callee_name(n) for n in body if n.kind == "call" for a in n.inner[1:]}
    for node in body:
        is_whole = node.kind in ("name", "member") and is_record(node.ctype.removesuffix("*"))
        if is_whole and id(node) not in bases and (found := roots.access(node)) is not None and found.root in known:
            message = f"the structure `{node.name}` is used as a whole, and only fields of it can be arguments"
            help = "use its fields one by one"
            if called := calls.get(id(node)):
                message = f"the structure `{node.name}` is passed to `{called}`, whose body is not known"
                help = f"name the file that defines `{called}` by --with FILE"
            raise refusal("PL0161", message, node, help)


def stored_accesses(body: Node, roots: Roots) -> Iterator[Access]:
    for node in body:
        assigns = node.opcode in ASSIGNS or node.kind == "update" or (node.kind == "unary" and node.opcode == "&")
        if assigns and node.inner and (found := roots.access(node.inner[0])) is not None:
            yield canonical_access(found)


def read_pointees(body: Node, roots: Roots) -> dict[Access, str]:
    """Integers that fields point to and that are only read as `*p`, with their types: they go by value, and may be
    sizes.
    """
    whole = {id(strip_casts(n.inner[0])): n.ctype for n in body if n.kind == "unary" and n.opcode == "*"}
    stored = {
        id(strip_casts(strip_casts(n.inner[0]).inner[0])) for n in body if _assigns(n) and _is_pointee(n.inner[0])
    }
    found, others = dict[Access, str](), set[Access]()
    for node in body:
        access = roots.access(node) if node.kind in ("name", "member") and node.ctype.endswith("*") else None
        if access is None:
            continue
        access = canonical_access(access)
        if id(node) in whole and id(node) not in stored and whole[id(node)] in (*COUNTING, *SHORT):
            found[access] = whole[id(node)]
        else:
            others.add(access)
    return {access: ctype for access, ctype in found.items() if access not in others}


def _assigns(node: Node) -> bool:
    return bool(node.inner) and (
        node.opcode in ASSIGNS or node.kind == "update" or (node.kind == "unary" and node.opcode == "&")
    )


def _is_pointee(node: Node) -> bool:
    return strip_casts(node).kind == "unary" and strip_casts(node).opcode == "*"
