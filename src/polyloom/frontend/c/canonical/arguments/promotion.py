# SPDX-License-Identifier: Apache-2.0
"""Argument promotion (LLVM's pass `argpromotion`; scalar replacement of aggregates: Muchnick 1997, section 12.2): the
fields that a function uses of structures behind pointers, and the variables of its file, become parameters of its own.

`S->taps` of `const struct fir *S` is the parameter `S_taps`. A scalar that is only read goes by value, and may be a
size; one that is written becomes a pointer. The structure itself must not be used otherwise than by its fields.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.c.canonical.arguments.access_paths import (
    ASSIGNS,
    Access,
    Roots,
    canonical_access,
    check_escapes,
    is_record,
    list_uses,
    read_pointees,
    size_fields,
    stored_accesses,
)
from polyloom.frontend.c.canonical.arguments.known_pointers import fold_null_tests, localize_pointers
from polyloom.frontend.loops import make
from polyloom.frontend.loops.substatements import Statements, map_statements
from polyloom.frontend.loops.tree import CASTS, Node, refusal, strip_casts
from polyloom.names import field_name, fresh_name


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
    body, variables = localize_pointers(body, variables)
    roots = Roots(pointers, variables)
    body = make.replace_nodes(body, lambda node: _converted_place(node, roots))
    roots = _with_aliases(roots, body)
    body = fold_null_tests(body, roots, parameters)
    body = map_statements(body, lambda node: _remove_aliases(node, roots))
    uses = dict(list_uses(body, roots))
    for access, node in size_fields(shapes, pointers.values()):
        uses.setdefault(access, node)
    if not uses:
        # A structure of which nothing is used is no argument.
        named = {n.symbol for n in body}
        kept = [p for p in parameters if p.symbol not in pointers or p.symbol in named]
        return replace(function, inner=(*kept, body)), ()
    check_escapes(body, roots, uses)
    taken = {n.name for n in function if n.kind in ("parameter", "variable")}
    stores = frozenset(stored_accesses(body, roots))
    given = {field_name(shape.partition("=")[0]).strip() for shape in shapes}
    read = read_pointees(body, roots)
    found = {
        access: _promote_place(access, node, roots, access in stores, taken, read.get(access), given)
        for access, node in uses.items()
    }
    body = make.replace_nodes(body, lambda node: _parameter_reference(node, roots, found))
    inner = [q for p in parameters for q in (_root_parameters(p.symbol, found) if p.symbol in pointers else (p,))]
    own = [q for root in {v.symbol: v for v in variables.values()} for q in _root_parameters(root, found)]
    return replace(function, inner=(*inner, *own, body)), tuple(found.values())


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
    assigned = {strip_casts(n.inner[0]).symbol for n in body if n.opcode in ASSIGNS or n.kind == "update"}
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
        pointee = found.get(canonical_access(access)) if access is not None else None
        return make.variable_reference(pointee.parameter, node) if pointee and pointee.kind == "pointee" else None
    if node.kind not in ("name", "member") or (access := roots.access(node)) is None:
        return None
    each = found.get(canonical_access(access))
    if each is None:
        return None
    name = make.variable_reference(each.parameter, node)
    if each.kind == "scalar" and each.written:
        return replace(node, kind="unary", opcode="*", inner=(name,), name="", symbol="", arrow=False)
    return name
