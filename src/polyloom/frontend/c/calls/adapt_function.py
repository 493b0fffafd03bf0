# SPDX-License-Identifier: Apache-2.0
"""Functions with adapters, for processors: a function whose structures have pointers, or that changes variables of its
file, is read as one that takes their fields and these variables as arguments, like the loops of `promotion`.

The adapter's text is read behind the file's, and the function that is compiled calls it, under the names that users
see. clang expands all of it into one function, and replaces the structures by their fields (LLVM's pass `sroa`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from polyloom.diagnostics import PolyloomError
from polyloom.files import read_source
from polyloom.frontend.c.calls.adapter import NAME, PREFIX, adapter_text
from polyloom.frontend.c.canonical import inline_callees
from polyloom.frontend.c.canonical.arguments.access_paths import is_record
from polyloom.frontend.c.canonical.arguments.promotion import PromotedPlace, promote_arguments
from polyloom.frontend.c.choose_function import choose_function
from polyloom.frontend.c.clang import printed_function, syntax_tree
from polyloom.frontend.c.clang_tree import typedefs
from polyloom.frontend.c.file_constants import declarations, variables, with_constants
from polyloom.frontend.c.inline_growth import may_inline
from polyloom.frontend.c.prototype import subscripted_pointers
from polyloom.frontend.c.signature import declarators
from polyloom.frontend.dependencies import dependencies_with_options
from polyloom.frontend.loops.affine import Scope
from polyloom.frontend.loops.tree import Node, strip_casts
from polyloom.frontend.source import Options
from polyloom.recursion import nesting_error, with_deep_stack

ADAPTED: Final = f"{PREFIX}function"
"""The name of the function that is compiled."""


def adapt_function(path: str, options: Options, target: str) -> tuple[Options, str]:
    """Options that read the function with an adapter where it needs one, and the name of the user's function. Raises
    PL0103, PL0104, PL0151, PL0152.
    """
    # Names of no file are refused here, before clang gets them.
    read_source(path, ".c")
    try:
        return _with_adapter(path, options, target)
    except RecursionError:
        raise nesting_error(path) from None


@with_deep_stack
def _with_adapter(path: str, options: Options, target: str) -> tuple[Options, str]:
    unit = syntax_tree(path, options, target)
    headers = dependencies_with_options(path, options)
    function, functions = choose_function(path, unit, options.function, headers, calls=True)
    found = _changeable(unit, functions, headers)
    points = any(n.kind == "parameter" and n.ctype.startswith("struct") for n in function.inner)
    # Beyond the budget of inlining, nothing tells which fields are used.
    if not (points or found) or not may_inline(function, {f.name: f for f in functions.values()}):
        return options, function.name
    body = inline_callees(function, functions)
    try:
        # Unions and others that cannot be arguments are left to who compiles the function as it is.
        _, every = promote_arguments(body, found, options.shapes)
        wanted = _named_structures(function, options)
        roots = {
            name
            for name in {p.root for p in every}
            if name in wanted or _needs([p for p in every if p.root == name], unit)
        }
        # Structures are all fields, or all what they are: one that is passed through would be of unknown length.
        structures = {p.name for p in function.inner if p.kind == "parameter" and is_record(p.ctype.removesuffix("*"))}
        used = {n.name for n in body.inner[-1] if n.kind == "name"}
        roots |= structures if roots & structures else structures - used
        made, places = promote_arguments(body, found, options.shapes, roots)
    except PolyloomError:
        return options, function.name
    if not places:
        return options, function.name
    declared = declarators(printed_function(path, function.name, options, target), function.name, typedefs(unit))
    parameters = [n for n in made.inner if n.kind == "parameter"]
    own = {p.name: text for p, text in zip(function.inner, declared, strict=False)}
    text = read_source(path, ".c").decode("utf-8", "surrogateescape")
    before = dict(options.instead).get(path, text)
    # What is executed in the adapter itself has the place of the user's function.
    line = f"#line {function.span.line}\n" if function.span.source.name == path else ""
    adapter = adapter_text(function, declared, parameters, places, found).replace("\n", " ")
    behind = f"{line}{adapter}\n{_outer(made, parameters, own, places, line)}"
    others = [(name, other) for name, other in options.instead if name != path]
    return replace(options, function=ADAPTED, instead=(*others, (path, f"{before}\n{behind}"))), function.name


def _changeable(unit: Mapping[str, Any], functions: Mapping[str, Node], headers: Any) -> dict[str, Node]:
    constants = with_constants(unit, Scope({}, {}, functions))
    return variables(unit, constants, declarations(unit)[0], headers)


def _named_structures(function: Node, options: Options) -> set[str]:
    """Structures that extents name, or that are passed on: as one argument they would be refused."""
    kept = {id(strip_casts(n.inner[0])) for n in function if n.opcode == "*" or (n.kind == "member" and n.arrow)}
    passed = {
        n.name for n in function if n.kind == "name" and is_record(n.ctype.removesuffix("*")) and id(n) not in kept
    }
    named = (*options.shapes, *options.values)
    return passed | {name for text in named for name in re.findall(r"(\w+)(?:->|\.)", text)}


def _needs(places: Sequence[PromotedPlace], unit: Mapping[str, Any]) -> bool:
    """Whether a root has to become arguments: a structure whose fields point, which no file can give, and a variable
    that is changed, or that has no value."""
    if all(p.path.startswith("->") for p in places):
        return any(p.kind in ("pointer", "pointee") or "->" in p.path[2:] for p in places)
    valued = {item.get("name") for item in unit["inner"] if item["kind"] == "VarDecl" and "init" in item}
    return (
        any(p.written or (p.kind == "array" and p.root not in valued) for p in places) or places[0].root not in valued
    )


def _outer(
    made: Node, parameters: Sequence[Node], own: Mapping[str, str], places: Sequence[PromotedPlace], line: str
) -> str:
    """The function that calls the adapter, with the parameters' own names: macros of these names end here."""
    found = {p.parameter.name: p for p in places}
    result = _value_type(re.split(r" ?\(", made.ctype)[0])
    moving = {*subscripted_pointers(made)}
    heads = [_declarator(found[p.name], moving) if p.name in found else own[p.name] for p in parameters]
    call = f"{NAME}({', '.join(f'(void *){p.name}' if '*' in p.ctype else p.name for p in parameters)})"
    ends = "".join(f"#undef {p.name}\n" for p in parameters)
    return f"{ends}{line}{result} {ADAPTED}({', '.join(heads)}) {{ {'return ' * (result != 'void')}{call}; }}\n"


def _declarator(place: PromotedPlace, moving: Collection[str]) -> str:
    """Declarator of a place's parameter: an array with its extents, a scalar that is written, or that a pointer points
    to, as one of one element.
    """
    ctype, name = place.parameter.qualified, place.parameter.name
    if place.kind == "array":
        base, _, inner = ctype.partition("[")
        return f"{base.strip()} {name}[{inner}"
    if place.kind == "pointer" and place.parameter.symbol not in moving:
        return f"{ctype.rpartition('*')[0]}{name}[1]"
    if place.kind == "scalar" and place.written:
        return f"{_value_type(ctype)} {name}[1]"
    return f"{_value_type(ctype)} {name}"


def _value_type(ctype: str) -> str:
    return "int" if ctype.startswith("enum") else ctype
