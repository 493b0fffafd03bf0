# SPDX-License-Identifier: Apache-2.0
"""Unions of an integer of 64 bits and its two words (C17, section 6.5.2.3, footnote 97: type punning), as libraries
write sums of products: the variable is the integer, and each word shifts and masks of it.

Words stand in the order of hosts and machines here, the low one first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from polyloom.frontend.c.clang_tree import ctype, typedefs
from polyloom.frontend.c.wide.words import WIDE
from polyloom.frontend.loops import make
from polyloom.frontend.loops.substatements import Statements, map_statements
from polyloom.frontend.loops.tree import Node, strip_casts

_WORDS: Final = ("int", "unsigned int")


@dataclass(frozen=True, slots=True)
class WordUnion:
    """Members of a union of two words: the type of the integer, and the member that has each of the `words`, the low
    one first."""

    ctype: str
    integer: str
    structure: str
    words: tuple[str, str]


def word_unions(unit: Mapping[str, Any]) -> dict[str, WordUnion]:
    """The unions of a translation unit that are an integer of 64 bits and its words, by type."""
    aliases, found, structures = typedefs(unit), dict[str, WordUnion](), dict[str, tuple[str, ...]]()
    last: WordUnion | None = None
    for item in unit["inner"]:
        if item["kind"] == "RecordDecl" and "inner" in item:
            structures |= _word_structures(item, aliases)
            last = _word_union(item, aliases, structures) if item.get("tagUsed") == "union" else None
            if last is not None and "name" in item:
                found[f"union {item['name']}"] = last
        # clang prints a union without a name by that of the typedef behind it.
        elif item["kind"] == "TypedefDecl" and last and item["type"]["qualType"] == f"union {item['name']}":
            found.setdefault(f"union {item['name']}", last)
    return found


def _fields(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [each for each in record.get("inner", ()) if each["kind"] == "FieldDecl"]


def _word_structures(record: Mapping[str, Any], aliases: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The words of a record, and of those within it, if they have two, by the type or identity."""
    inner = [each for each in record["inner"] if each["kind"] == "RecordDecl" and "inner" in each]
    found = {name: words for each in inner for name, words in _word_structures(each, aliases).items()}
    fields = _fields(record)
    plain = all(ctype(f["type"], aliases) in _WORDS and "name" in f and not f.get("isBitfield") for f in fields)
    if record.get("tagUsed") == "struct" and plain and len(fields) == 2:
        found[f"struct {record['name']}" if "name" in record else record["id"]] = tuple(f["name"] for f in fields)
    return found


def _word_union(
    record: Mapping[str, Any], aliases: Mapping[str, str], structures: Mapping[str, tuple[str, ...]]
) -> WordUnion | None:
    fields = _fields(record)
    own = [each["id"] for each in record["inner"] if each["kind"] == "RecordDecl"]
    types = [ctype(each["type"], aliases) for each in fields]
    if len(fields) != 2 or not all("name" in f for f in fields):
        return None
    for n, of in enumerate(types):
        found = structures.get(types[1 - n]) or (structures.get(own[0]) if "(unnamed" in types[1 - n] and own else None)
        if of in WIDE and found is not None:
            return WordUnion(of, fields[n]["name"], fields[1 - n]["name"], (found[0], found[1]))
    return None


def replace_word_unions(function: Node, unions: Mapping[str, WordUnion]) -> Node:
    """Replacement of the local variables of these types, where all that is done is to read members and to assign them
    in statements of their own."""
    declared = [n for n in function if n.kind == "variable" and not n.storage and not n.initial] if unions else []
    found = {n.symbol: unions[n.ctype] for n in declared if n.ctype in unions}
    while found:
        made = _replace_variables(function.inner[-1], found)
        others = {n.symbol for n in made if n.kind == "name" and n.ctype in unions} | set(_stored_variables(made))
        if not others & found.keys():
            return replace(function, inner=(*function.inner[:-1], made))
        found = {name: union for name, union in found.items() if name not in others}
    return function


def _replace_variables(body: Node, found: Mapping[str, WordUnion]) -> Node:
    body = map_statements(body, lambda node: _rewrite_statement(node, found))
    return make.replace_nodes(body, lambda node: _rewrite_expression(node, found))


def _stored_variables(body: Node) -> Iterator[str]:
    """Variables of which a word is still assigned, or its address taken."""
    for node in body:
        stores = node.opcode in ("=", "++", "--") or node.kind == "update" or (node.kind, node.opcode) == ("unary", "&")
        if stores and node.inner and (target := strip_casts(node.inner[0])).kind == "convert":
            yield from (n.symbol for n in target if n.kind == "name")


def _rewrite_statement(node: Node, found: Mapping[str, WordUnion]) -> Statements:
    if node.kind == "declare":
        return (replace(node, inner=tuple([_integer_declaration(each, found) for each in node.inner])),)
    if node.kind == "binary" and node.opcode == "=" and (word := _word(node.inner[0], found)) is not None:
        name, place = word
        value = make.replace_nodes(node.inner[1], lambda part: _rewrite_expression(part, found))
        low = _zero_extension(value if place == 0 else name, name.ctype)
        kept = make.binary(">>", name, make.number(32, node), name.ctype, node)
        high = kept if place == 0 else _conversion(value, name.ctype)
        shifted = make.binary("<<", high, make.number(32, node), name.ctype, node)
        return (make.assignment(name, make.binary("|", shifted, low, name.ctype, node), node),)
    return (map_statements(node, lambda child: _rewrite_statement(child, found)),)


def _integer_declaration(declaration: Node, found: Mapping[str, WordUnion]) -> Node:
    """The variable as an integer; before an assignment C leaves its words undefined, and here they are 0."""
    if declaration.symbol not in found:
        return declaration
    ctype = found[declaration.symbol].ctype
    zero = replace(make.number(0, declaration), ctype=ctype)
    return replace(declaration, ctype=ctype, qualified=ctype, initial=True, inner=(zero,))


def _rewrite_expression(node: Node, found: Mapping[str, WordUnion]) -> Node | None:
    if node.kind != "member":
        return None
    if (word := _word(node, found)) is not None:
        name, place = word
        shifted = make.binary(">>", name, make.number(32, node), name.ctype, node) if place else name
        return _conversion(shifted, node.ctype)
    base = strip_casts(node.inner[0])
    union = found.get(base.symbol) if base.kind == "name" else None
    return None if union is None or node.name != union.integer else replace(base, ctype=union.ctype)


def _word(node: Node, found: Mapping[str, WordUnion]) -> tuple[Node, int] | None:
    """The variable of a word, as an integer, and which one it is."""
    node = strip_casts(node)
    inner = strip_casts(node.inner[0]) if node.kind == "member" else node
    base = strip_casts(inner.inner[0]) if inner.kind == "member" else inner
    union = found.get(base.symbol) if base.kind == "name" and inner.kind == "member" else None
    if union is None or inner.name != union.structure or node.name not in union.words:
        return None
    return replace(base, ctype=union.ctype), union.words.index(node.name)


def _zero_extension(value: Node, to: str) -> Node:
    return _conversion(_conversion(value, "unsigned int"), to)


def _conversion(value: Node, to: str) -> Node:
    return replace(make.cast(value, to, value.span), opcode="IntegralCast", macro=value.macro)
