# SPDX-License-Identifier: Apache-2.0
"""Constants that a file declares outside of its functions: enumerators, and `const` variables of element types.

clang gives enumerators their written values; one without counts on from the one before (C17, section 6.7.2.2). A
variable stands for its initial value; one whose value has another type or is no expression of ours stays unknown, which
matters only where it is used.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.c.canonical.aggregates import Fields
from polyloom.frontend.c.clang_tree import Builder, ctype, enumerations, expansion_location, typedefs
from polyloom.frontend.c.library import lower_tree
from polyloom.frontend.loops.affine import Scope, affine_form
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.types import TYPES
from polyloom.frontend.loops.values import value
from polyloom.sets import Affine


def with_constants(unit: Mapping[str, Any], scope: Scope) -> Scope:
    """`scope` with the constants of a translation unit, by clang's identities."""
    builder = _builder(unit)
    for item in unit["inner"]:
        if item["kind"] == "EnumDecl":
            found = {identity: Affine((), value) for identity, value in _enumerator_values(item)}
            scope = replace(scope, symbols={**scope.symbols, **found})
        elif item["kind"] == "VarDecl" and item.get("init") and _is_constant(item["type"]):
            scope = _with_variable(item, builder, scope)
    return scope


def declarations(unit: Mapping[str, Any]) -> tuple[dict[str, Node], dict[str, Fields]]:
    """File-scope tables, by identity, and structures of scalars, by type (`struct T`, and the name of a `typedef`)."""
    builder = _builder(unit)
    # clang lists the structure of `typedef struct {...} T` right before the typedef, without a name: hence `last`.
    tables, records, last = dict[str, Node](), dict[str, Fields](), ()
    for item in unit["inner"]:
        if item["kind"] == "VarDecl" and item.get("init") and "const" in item["type"]["qualType"]:
            if "[" in item["type"]["qualType"]:
                tables[item["id"]] = builder.build(item)
        elif item["kind"] == "RecordDecl" and item.get("tagUsed") == "struct":
            last = _scalar_fields(item, builder)
            if last and "name" in item:
                records[f"struct {item['name']}"] = last
        elif item["kind"] == "TypedefDecl" and last and _names_record(item):
            records[item["name"]] = records[f"struct {item['name']}"] = last
    # What is declared in a header and defined in a file behind it has two identities (C17, section 6.2.2).
    named = {table.name: table for table in tables.values()}
    for item in unit["inner"]:
        if item["kind"] == "VarDecl" and item["id"] not in tables and (table := named.get(item["name"])) is not None:
            tables[item["id"]] = replace(table, symbol=item["id"])
    return tables, records


def variables(
    unit: Mapping[str, Any], constants: Scope, tables: Collection[str], headers: Collection[Path]
) -> dict[str, Node]:
    """Variables of the file and of the user's own `headers` that are no constants, by the identities of their
    declarations; the first declaration stands for all of a name (C17, section 6.2.2). Its `storage` is "extern" where
    none of them is a definition.
    """
    builder, known = _builder(unit), {*constants.symbols, *constants.values, *tables}
    items = [
        item
        for item in unit["inner"]
        if item["kind"] == "VarDecl" and item["id"] not in known and _is_changeable(item["type"])
        if "includedFrom" not in (place := expansion_location(item["loc"]))
        or Path(place.get("file", "")).resolve() in headers
    ]
    defined = {item["name"] for item in items if item.get("storageClass") != "extern" or "init" in item}
    # Without their values, whose lists may have thousands of elements.
    found = {item["name"]: builder.build({**item, "inner": ()}) for item in reversed(items)}
    nodes = {name: replace(node, storage="" if name in defined else "extern") for name, node in found.items()}
    return {item["id"]: nodes[item["name"]] for item in items}


def _builder(unit: Mapping[str, Any]) -> Builder:
    return Builder({**typedefs(unit), **enumerations(unit)})


def _is_changeable(type: Mapping[str, str]) -> bool:
    """Whether an object of a complete type may be stored to: a pointer to constants may, a constant array may not."""
    text = type.get("desugaredQualType", type["qualType"])
    return not re.search(r"\bconst\b", text.rpartition("*")[2]) and "[]" not in text


def _scalar_fields(item: Mapping[str, Any], builder: Builder) -> Fields:
    """Fields of a structure whose members are scalars; none for others (C17, section 6.7.2.1)."""
    fields = [f for f in item.get("inner", ()) if f.get("kind") == "FieldDecl"]
    found = tuple((f["name"], ctype(f["type"], builder.aliases)) for f in fields if "name" in f)
    scalars = all(re.fullmatch(r"[a-z_ ]+", of) and not of.startswith(("struct", "union")) for _, of in found)
    return found if scalars and len(found) == len(fields) else ()


def _names_record(item: Mapping[str, Any]) -> bool:
    return item["type"]["qualType"] in (f"struct {item['name']}",)


def _enumerator_values(item: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Enumerators of an enumeration with their values (C17, section 6.7.2.2)."""
    value = -1
    for constant in item.get("inner", ()):
        if constant["kind"] == "EnumConstantDecl":
            written = next(_folded_values(constant), None)
            # C17 6.7.2.2: an enumerator without a value is one more than the one before.
            value = value + 1 if written is None else int(written)
            yield constant["id"], value


def _folded_values(item: Mapping[str, Any]) -> Iterator[str]:
    """The values that clang has found below `item`, outermost first: a conversion may stand around an enumerator's."""
    if item.get("kind") == "ConstantExpr":
        yield item["value"]
    for child in item.get("inner", ()):
        yield from _folded_values(child)


def _is_constant(type: Mapping[str, str]) -> bool:
    found = re.fullmatch(r"const (.*)", type.get("desugaredQualType", type["qualType"]))
    return found is not None and (found[1] in TYPES)


_WIDTHS: Final = {
    "char": -8,
    "signed char": -8,
    "unsigned char": 8,
    "short": -16,
    "unsigned short": 16,
    "int": -32,
    "unsigned int": 32,
}
"""Bits by type, negative with a sign."""


def _wrap_to_width(value: Affine, of: str) -> Affine:
    """Conversion to an integer type (C17, section 6.3.1.3): the value modulo 2^width, with the type's sign; an
    expression that is no number stays.
    """
    width = _WIDTHS[of]
    if not value.is_constant:
        return value
    # C17 6.3.1.3: modulo the width; for signed types clang does the same.
    low = value.constant % (1 << abs(width))
    return Affine((), low - (1 << -width) if width < 0 and low >> (-width - 1) else low)


def _with_variable(item: Mapping[str, Any], builder: Builder, scope: Scope) -> Scope:
    variable = builder.build(item)
    initial = lower_tree(variable.inner[-1], {}, ())
    if variable.ctype in _WIDTHS:
        # The conversion to the variable's own type is what `_wrap_to_width` does: without it the form stays affine.
        narrowed = initial.inner[0] if initial.kind == "convert" and initial.opcode == "IntegralCast" else initial
        form = affine_form(narrowed, scope)
        return (
            scope
            if form is None
            else replace(scope, symbols={**scope.symbols, variable.symbol: _wrap_to_width(form, variable.ctype)})
        )
    dtype = TYPES[variable.ctype]
    try:
        return replace(scope, values={**scope.values, variable.symbol: (value(initial, dtype, scope), dtype)})
    # Not an error yet: the variable may be used by other functions only.
    except PolyloomError:
        return scope
