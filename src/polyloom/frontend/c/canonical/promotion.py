# SPDX-License-Identifier: Apache-2.0
"""Argument promotion (LLVM's pass `argpromotion`; scalar replacement of aggregates: Muchnick 1997, section 12.2): the
fields that a function uses of structures behind pointers, and the variables of its file, become parameters of its own.

`S->taps` of `const struct fir *S` is the parameter `S_taps`. A scalar that is only read goes by value, and may be a
size; one that is written becomes a pointer. The structure itself must not be used otherwise than by its fields.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.loops import make
from polyloom.frontend.loops.substatements import Statements, flatten_blocks, map_statements
from polyloom.frontend.loops.tree import CASTS, Node, refusal, strip_casts
from polyloom.frontend.loops.types import COUNTING, SHORT
from polyloom.names import field_name, fresh_name

_RECORD: Final = re.compile(r"(?:struct|union) [^*\[]*")
_FIELD: Final = re.compile(r"\b([^\W\d]\w*)((?:(?:->|\.)\w+)+)")
_ASSIGNS: Final = ("=", "++", "--")


@dataclass(frozen=True, slots=True)
class Access:
    """Access path: the identity of the parameter or variable that it begins at, and what C writes behind its name, such
    as `->sub.gain`."""

    root: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class PromotedPlace:
    """Promoted place: its access path as C writes it from its `root`, a name, and the parameter that it has become.
    `kind` is that of the place: a scalar, a pointer, an array, or the pointee of a pointer; `written` says that the
    function stores to it; `external` that the root is defined in another file.
    """

    root: str
    path: str
    parameter: Node
    kind: str
    written: bool
    external: bool = False


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


def promote_arguments(
    function: Node, variables: Mapping[str, Node], shapes: Collection[str] = (), only: Collection[str] | None = None
) -> tuple[Node, tuple[PromotedPlace, ...]]:
    """Promotion of a function's structures and of the file's `variables`, by identity, with the fields that `shapes`
    name; of those that have a name in `only`, if that is given. Raises PL0153, PL0161.
    """
    parameters, body = function.inner[:-1], function.inner[-1]
    structures = [p for p in parameters if p.ctype.endswith("*") and is_record(p.ctype[:-1])]
    pointers = {p.symbol: p for p in structures if only is None or p.name in only}
    variables = {name: node for name, node in variables.items() if only is None or node.name in only}
    body, variables = _localize_pointers(body, variables)
    roots = Roots(pointers, variables)
    body = make.replace_nodes(body, lambda node: _converted_place(node, roots))
    roots = _with_aliases(roots, body)
    body = _fold_null_tests(body, roots)
    body = map_statements(body, lambda node: _remove_aliases(node, roots))
    uses = dict(_uses(body, roots))
    for access, node in _sizes(shapes, pointers.values()):
        uses.setdefault(access, node)
    if not uses:
        # A structure of which nothing is used is no argument.
        named = {n.symbol for n in body}
        kept = [p for p in parameters if p.symbol not in pointers or p.symbol in named]
        return (function if len(kept) == len(parameters) else replace(function, inner=(*kept, body))), ()
    _check_escapes(body, roots, uses)
    taken = {n.name for n in function if n.kind in ("parameter", "variable")}
    stores = frozenset(_stored_accesses(body, roots))
    given = {field_name(shape.partition("=")[0]).strip() for shape in shapes}
    read = _read_pointees(body, roots)
    found = {
        access: _promote_place(access, node, roots, access in stores, taken, read.get(access), given)
        for access, node in uses.items()
    }
    body = make.replace_nodes(body, lambda node: _parameter_reference(node, roots, found))
    inner = [q for p in parameters for q in (_root_parameters(p.symbol, found) if p.symbol in pointers else (p,))]
    own = [q for root in {v.symbol: v for v in variables.values()} for q in _root_parameters(root, found)]
    return replace(function, inner=(*inner, *own, body)), tuple(found.values())


def _localize_pointers(body: Node, variables: Mapping[str, Node]) -> tuple[Node, Mapping[str, Node]]:
    """Pointers of the file that a function sets before it uses them, as its own: what they point to then is no data,
    and so no result. The other variables are given back.
    """
    pointers = {name: node for name, node in variables.items() if node.ctype.endswith("*")}
    statements = flatten_blocks(body) if pointers else ()
    names = {node.name: node for node in pointers.values()}
    own = {
        name: node
        for name, node in names.items()
        if any(_sets_variable(s, name) for s in statements)
        and next(n for s in statements for n in s if n.kind == "name" and n.name == name and n.symbol in pointers)
        in [n for s in statements if _sets_variable(s, name) for n in s.inner[0]]
    }
    # A pointer that is read first has the caller's value, which no run passes.
    if not own or body.kind != "block":
        return body, variables
    first = [make.declare_variable(node.name, node.ctype, node.symbol, body) for node in own.values()]

    def rename_pointer(node: Node) -> Node | None:
        found = own.get(node.name) if node.kind == "name" and node.symbol in pointers else None
        return None if found is None else replace(node, symbol=found.symbol)

    changed = make.replace_nodes(body, rename_pointer)
    kept = {name: node for name, node in variables.items() if node.name not in own}
    return replace(changed, inner=(*first, *changed.inner)), kept


def _sets_variable(statement: Node, name: str) -> bool:
    return statement.kind == "binary" and statement.opcode == "=" and strip_casts(statement.inner[0]).name == name


def _converted_place(node: Node, roots: Roots) -> Node | None:
    """A place of the type `void *` with the type that it is converted to (C17, section 6.3.2.3)."""
    if node.kind not in CASTS or node.opcode != "BitCast" or node.ctype.replace(" ", "") == "void*":
        return None
    place = strip_casts(node.inner[0])
    is_untyped = place.kind == "member" and place.ctype.replace(" ", "") == "void*" and roots.access(place) is not None
    return replace(place, ctype=node.ctype, qualified=node.qualified) if is_untyped else None


def _root_parameters(symbol: str, found: Mapping[Access, PromotedPlace]) -> Iterator[Node]:
    return (each.parameter for access, each in found.items() if access.root == symbol)


def _with_aliases(roots: Roots, body: Node) -> Roots:
    """Copy propagation of pointers to structures: local ones that are initialized, and never assigned."""
    assigned = {strip_casts(n.inner[0]).symbol for n in body if n.opcode in _ASSIGNS or n.kind == "update"}
    for node in body:
        is_alias = node.kind == "variable" and node.ctype.endswith("*") and is_record(node.ctype[:-1]) and node.initial
        found = roots.access(node.inner[-1]) if is_alias and node.symbol not in assigned else None
        if found is not None:
            roots = replace(roots, aliases={**roots.aliases, node.symbol: found})
    return roots


def _remove_aliases(node: Node, roots: Roots) -> Statements:
    if node.kind == "declare" and any(d.symbol in roots.aliases for d in node.inner):
        kept = tuple([d for d in node.inner if d.symbol not in roots.aliases])
        return (replace(node, inner=kept),) if kept else ()
    # `(void)S;` says that a parameter is not used.
    if node.kind == "cast" and node.ctype == "void" and roots.access(node.inner[0]) is not None:
        return ()
    return (map_statements(node, lambda child: _remove_aliases(child, roots)),)


def _fold_null_tests(body: Node, roots: Roots) -> Node:
    """Comparisons with the null pointer, fold_test: what is passed to a run is never null."""

    def fold_test(node: Node) -> Node | None:
        if node.opcode in ("==", "!=") and len(node.inner) == 2:
            pointers = [side for side in node.inner if side.ctype.endswith("*")]
            known = [side for side in pointers if roots.access(side) is not None]
            nulls = [side for side in pointers if _is_null(side)]
            return make.number(int(node.opcode == "!="), node) if known and nulls else None
        if node.opcode == "!" and node.inner[0].ctype.endswith("*") and roots.access(node.inner[0]) is not None:
            return make.number(0, node)
        return None

    return make.replace_nodes(body, fold_test)


def _is_null(node: Node) -> bool:
    while node.kind in ("convert", "cast", "parentheses"):
        node = node.inner[0]
    return node.kind == "integer" and node.value in ("0", 0)


def _uses(body: Node, roots: Roots) -> Iterator[tuple[Access, Node]]:
    """Leaf places with the first expression of each: accesses that are no structures."""
    for node in body:
        if node.kind not in ("name", "member") or is_record(node.ctype.removesuffix("*")):
            continue
        found = roots.access(node)
        if found is not None:
            yield _canonical_access(found), node


def _canonical_access(access: Access) -> Access:
    """`(*p).x` as `p->x`."""
    return replace(access, path=access.path.replace("*.", "->"))


def _sizes(shapes: Collection[str], pointers: Collection[Node]) -> Iterator[tuple[Access, Node]]:
    """Fields that extents name, whether or not the function uses them: sizes, which are integers."""
    named = {p.name: p for p in pointers}
    for name, path in (found for shape in shapes for found in _FIELD.findall(shape.partition("=")[2])):
        if (root := named.get(name)) is not None:
            # Of a pointer to a structure the first dot is an arrow: shells do not like that.
            access = Access(root.symbol, re.sub(r"^\.", "->", path))
            yield access, Node("member", root.span, "int", name=access.path, qualified="int")


def _check_escapes(body: Node, roots: Roots, uses: Mapping[Access, Node]) -> None:
    """Escape analysis: of a structure only its fields are used. Raises PL0161."""
    bases = {id(strip_casts(n.inner[0])) for n in body if n.kind == "member" or n.opcode in ("*", "&")}
    known = {access.root for access in uses}
    for node in body:
        is_whole = node.kind in ("name", "member") and is_record(node.ctype.removesuffix("*"))
        if is_whole and id(node) not in bases and (found := roots.access(node)) is not None and found.root in known:
            message = f"the structure `{node.name}` is used as a whole, and only fields of it can be arguments"
            help = "use its fields one by one; functions that it is passed to must have a body that is in the file"
            raise refusal("PL0161", message, node, help)


def _stored_accesses(body: Node, roots: Roots) -> Iterator[Access]:
    for node in body:
        assigns = node.opcode in _ASSIGNS or node.kind == "update" or (node.kind == "unary" and node.opcode == "&")
        if assigns and node.inner and (found := roots.access(node.inner[0])) is not None:
            yield _canonical_access(found)


def _read_pointees(body: Node, roots: Roots) -> dict[Access, str]:
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
        access = _canonical_access(access)
        if id(node) in whole and id(node) not in stored and whole[id(node)] in (*COUNTING, *SHORT):
            found[access] = whole[id(node)]
        else:
            others.add(access)
    return {access: ctype for access, ctype in found.items() if access not in others}


def _assigns(node: Node) -> bool:
    return bool(node.inner) and (
        node.opcode in _ASSIGNS or node.kind == "update" or (node.kind == "unary" and node.opcode == "&")
    )


def _is_pointee(node: Node) -> bool:
    return strip_casts(node).kind == "unary" and strip_casts(node).opcode == "*"


def _promote_place(
    access: Access,
    node: Node,
    roots: Roots,
    written: bool,
    taken: set[str],
    pointee: str | None,
    given: Collection[str],
) -> PromotedPlace:
    root = roots.pointers.get(access.root) or roots.variables[access.root]
    text = f"{root.name}{access.path}"
    _check(node, text)
    ctype, kind = _argument_type(node.ctype, written)
    base = re.sub(r"->|\.", "_", text)
    name = fresh_name(base, taken)
    by_value = pointee is not None and not written and access.root in roots.pointers and name not in given
    if by_value and pointee is not None:
        ctype, kind = pointee, "pointee"
    made = Node("parameter", node.span, ctype, name=name, symbol=f"{access.root}{access.path}", text=text)
    made = replace(made, qualified=ctype if by_value else node.ctype, macro=node.macro)
    return PromotedPlace(root.name, access.path, made, kind, written, root.storage == "extern")


def _argument_type(ctype: str, written: bool) -> tuple[str, str]:
    """Type of the parameter for a place of a type, and the place's kind."""
    if "[" in ctype:
        base, _, inner = ctype.partition("[")
        rest = "[".join(["", *inner.split("[")[1:]])
        return f"{base.strip()} (*){rest}" if rest else f"{base.strip()} *", "array"
    if ctype.endswith("*"):
        return ctype, "pointer"
    return f"{ctype} *" if written else ctype, "scalar"


def _check(node: Node, text: str) -> None:
    part: Node | None = node
    while part is not None:
        if part.ctype.startswith("union"):
            help = "use a structure whose fields do not share memory"
            raise refusal("PL0153", f"`{text}` is a field of a union", node, help)
        part = strip_casts(part.inner[0]) if part.inner else None
    if re.search(r"\bvolatile\b", node.qualified):
        raise is_volatile(node, text)
    if "(*)(" in node.ctype or "**" in node.ctype.replace(" ", ""):
        what = "a function" if "(*)(" in node.ctype else "a pointer"
        help = "take a number, and choose by it with `if`" if what == "a function" else "use an array of rows"
        raise refusal("PL0153", f"`{text}` is a pointer to {what}", node, help)


def is_volatile(node: Node, name: str) -> PolyloomError:
    """Refusal of a `volatile` object (C17, section 6.7.3, paragraph 7): a machine that computes loops reads and writes
    it as often as it likes.
    """
    help = "leave out `volatile`, which is for what changes by itself; what only the program changes needs none"
    return refusal("PL0153", f"`{name}` is volatile", node, help)


def _parameter_reference(node: Node, roots: Roots, found: Mapping[Access, PromotedPlace]) -> Node | None:
    """A place as the parameter, or as what its pointer points to."""
    if node.kind == "unary" and node.opcode == "*":
        access = roots.access(node.inner[0])
        pointee = found.get(_canonical_access(access)) if access is not None else None
        return make.variable_reference(pointee.parameter, node) if pointee and pointee.kind == "pointee" else None
    if node.kind not in ("name", "member") or (access := roots.access(node)) is None:
        return None
    each = found.get(_canonical_access(access))
    if each is None:
        return None
    name = make.variable_reference(each.parameter, node)
    if each.kind == "scalar" and each.written:
        return replace(node, kind="unary", opcode="*", inner=(name,), name="", symbol="", arrow=False)
    return name
