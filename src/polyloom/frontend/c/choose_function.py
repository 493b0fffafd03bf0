# SPDX-License-Identifier: Apache-2.0
"""Choice of the function to compile: the one that is named, else the only `kernel_...`, else the only one with a loop,
else the only one.

Where functions may call others, those that are `static` are not meant if there are more: they are what these call
(internal linkage: C17, section 6.2.2).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.frontend.c.clang_tree import Builder, enumerations, expansion_location, typedefs
from polyloom.frontend.loops.affine import callee_name
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.suggestions import suggestion

_LOOPS = ("for", "while", "do")


def choose_function(
    path: str, unit: Mapping[str, Any], name: str | None, headers: Collection[Path] = (), *, calls: bool = False
) -> tuple[Node, dict[str, Node]]:
    """Chosen function, and by the identities of their declarations all functions of the file that calls may name, with
    those that they call of the user's own `headers`. Raises PL0152.
    """
    # A processor's own C says what an enumeration is there, which `prototype` asks.
    builder = Builder(typedefs(unit) if calls else {**typedefs(unit), **enumerations(unit)})
    items = list(_file_definitions(unit))
    nodes = [builder.build(item) for item in items]
    exported = [
        node
        for node, item in zip(nodes, items, strict=True)
        # `main` is the test driver of a file, which exists beside what it calls.
        if calls and item.get("storageClass") != "static" and node.name != "main"
    ]
    found = _find_function(path, nodes, name) if name else _default_function(path, exported or nodes)
    return found, dict(_declaration_identities(unit, [*nodes, *_header_functions(unit, nodes, headers, builder)]))


def kernel_names(unit: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the functions that `choose_function` would choose from; one where there is a default."""
    builder = Builder({**typedefs(unit), **enumerations(unit)})
    return tuple(node.name for node in _default_functions([builder.build(item) for item in _file_definitions(unit)]))


def defined_functions(unit: Mapping[str, Any]) -> Iterator[str]:
    """Names of the functions that have a body, in the file or in what it includes (C17, section 6.9.1)."""
    return (item["name"] for item in unit["inner"] if item["kind"] == "FunctionDecl" and _has_body(item))


def _header_functions(
    unit: Mapping[str, Any], nodes: Sequence[Node], headers: Collection[Path], builder: Builder
) -> Iterator[Node]:
    """Transitive closure of calls into the user's headers: the functions there that the file's functions reach."""
    items = {
        item["name"]: item
        for item in unit["inner"]
        if item["kind"] == "FunctionDecl"
        and _has_body(item)
        and "includedFrom" in (place := expansion_location(item["loc"]))
        if Path(place.get("file", "")).resolve() in headers
    }
    # A worklist; without functions in headers the trees need not be walked.
    waiting = list(nodes) if items else []
    while waiting:
        for name in [callee_name(part) for part in waiting.pop() if part.kind == "call"]:
            if name in items:
                waiting.append(builder.build(items.pop(name)))
                yield waiting[-1]


def _has_body(item: Mapping[str, Any]) -> bool:
    return any(child.get("kind") == "CompoundStmt" for child in item.get("inner", ()))


def _file_definitions(unit: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The functions that the file itself defines."""
    for item in unit["inner"]:
        if item["kind"] == "FunctionDecl" and _has_body(item) and "includedFrom" not in expansion_location(item["loc"]):
            yield item


def _declaration_identities(unit: Mapping[str, Any], nodes: list[Node]) -> Iterator[tuple[str, Node]]:
    """Identities of declarations, each with its definition: a call names the declaration that it sees, which may stand
    before the definition (C17, section 6.2.2).
    """
    by_name = {node.name: node for node in nodes}
    for item in unit["inner"]:
        if item["kind"] == "FunctionDecl" and item.get("name") in by_name:
            yield item["id"], by_name[item["name"]]


def _find_function(path: str, nodes: list[Node], name: str) -> Node:
    known = {node.name: node for node in nodes}
    if name not in known:
        raise _wrong(
            f"{path} has no function `{name}`",
            suggestion(name, known, f"its functions are {', '.join(known)}" if known else None),
        )
    return known[name]


def _default_functions(nodes: list[Node]) -> list[Node]:
    # PolyBench's convention, beside initialization and printing functions that have loops, too.
    kernels = [node for node in nodes if node.name.startswith("kernel_")]
    others = [node for node in nodes if node.name != "main"]
    # Loops are what there is to map: a helper without one is never the default beside a function that has one.
    return kernels if len(kernels) == 1 else [node for node in others if _has_loop(node)] or others


def _has_loop(node: Node) -> bool:
    return any(part.kind in _LOOPS for part in node)


def _default_function(path: str, nodes: list[Node]) -> Node:
    found = _default_functions(nodes)
    if not found:
        raise _wrong(f"{path} has no function", "give a file that defines a function")
    if len(found) > 1:
        raise _wrong(
            f"{path} has several functions{' with loops' if _has_loop(found[0]) else ''}",
            f"name one, as in {path}:{found[0].name}, or by --function: {', '.join(node.name for node in found)}",
        )
    return found[0]


def _wrong(message: str, help: str | None) -> PolyloomError:
    return input_error("PL0152", message, help=help)
