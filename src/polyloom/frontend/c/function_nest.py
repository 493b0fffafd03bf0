# SPDX-License-Identifier: Apache-2.0
"""Nest of a C function: its parameters as storage and symbols, its body as loops and assignments.

Integer parameters and extents are at least 0 unless the function says otherwise by `assert` or `__builtin_assume`;
constant extents bound the parameters whose loops index them. An array parameter is the array that its declarator says,
extents included, where C adjusts it to a pointer (C17, section 6.7.6.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from polyloom.diagnostics import Diagnostic, PolyloomError
from polyloom.frontend.c.canonical import RESULT, result_variable
from polyloom.frontend.c.canonical.arguments.promotion import is_volatile
from polyloom.frontend.c.extents import extent_assumptions
from polyloom.frontend.c.library import lower_tree
from polyloom.frontend.c.signature import extent_factors, given_shapes, given_values
from polyloom.frontend.c.wide import as_pairs
from polyloom.frontend.c.wide.words import WIDE, WORD
from polyloom.frontend.loops import make
from polyloom.frontend.loops.affine import Scope
from polyloom.frontend.loops.body import lower_body
from polyloom.frontend.loops.extent_text import affine_text, extent_texts, identifiers
from polyloom.frontend.loops.roles import assumption, find_roles
from polyloom.frontend.loops.tree import Node, refusal, strip_casts
from polyloom.frontend.loops.types import COUNTING, RANGE, SHORT, element_type, is_pointer
from polyloom.frontend.source import Options
from polyloom.ir.nest import Nest, Storage
from polyloom.ir.nest_c import default_assumptions
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.normal_form import conjunction
from polyloom.transform.library import expand_calls


def build_nest(function: Node, declared: Mapping[str, str], outside: Scope, options: Options) -> Nest:
    """Nest that a function in canonical form means; `declared` are its parameters as clang prints them, by name,
    `outside` is what its file declares. Raises PL0153 to PL0166.
    """
    functions = {name: lower_tree(f, outside.functions, outside.defined) for name, f in outside.functions.items()}
    function = lower_tree(function, outside.functions, outside.defined)
    outside = replace(outside, functions=functions)
    function = _with_fixed_values(function, options)
    _check_declarations(function)
    shapes = _parameter_shapes(function, [n for n in function.inner if n.kind == "parameter"], declared, options)
    function, shapes = _with_words(function, shapes)
    parameters = [n for n in function.inner if n.kind == "parameter"]
    for parameter in parameters:
        if parameter.ctype not in COUNTING:
            element_type(parameter)
    # Extents decide which integers are parameters of sizes: they must be affine symbols, not data.
    sized = {name for texts in shapes.values() for text in texts for name in identifiers(text)}
    found = find_roles(function, sized, outside.symbols)
    function = replace(function, inner=(*function.inner[:-1], as_pairs(function.inner[-1], found)))
    found = find_roles(function, sized, outside.symbols)
    symbols = {p.symbol: Affine.symbol(p.name) for p in parameters if p.symbol in found.parameters}
    own = {p.name: symbols[p.symbol] for p in parameters if p.symbol in symbols}
    sizes = {**own, **{name: Affine((), value) for name, value in given_values(options.values, own).items()}}
    storage = {p.symbol: _argument_storage(p, shapes.get(p.name), sizes) for p in parameters if p.symbol not in symbols}
    returned = result_variable(function)
    # A result is an output like others: a scalar behind a pointer that only this function writes.
    if returned is not None and any(n.kind == "name" and n.symbol == RESULT for n in function):
        if is_pointer(returned):
            message = f"`{function.name}` returns a pointer, which means nothing outside of it"
            raise refusal("PL0153", message, function, "return a number")
        storage[RESULT] = Storage(returned.name, element_type(returned), (), "argument", True, function.span)
    names = tuple(a.terms[0][0] for a in symbols.values())
    domain = conjunction(default_assumptions(names, storage.values()), _ranges(parameters, symbols))
    scope = replace(
        outside,
        symbols={**outside.symbols, **symbols},
        storage=storage,
        loops=found.loops,
        domain=domain,
        named=own,
        counters=found.counters - found.data,
    )
    nodes, assumptions, stored = lower_body(tuple(_scop_statements(function, parameters)), parameters, found, scope)
    made = Nest(function.name, names, conjunction(domain, assumptions), stored, nodes, function.span)
    return expand_calls(replace(made, assumptions=extent_assumptions(made)))


def _with_words(function: Node, shapes: Mapping[str, list[str]]) -> tuple[Node, dict[str, list[str]]]:
    """Arrays of 64 bits as arrays of words with one more dimension: the low word, and the high one."""
    wide = [n for n in function.inner if n.kind == "parameter" and is_pointer(n) and n.ctype.split(" *")[0] in WIDE]
    words = {n.name: [*shapes[n.name], "2"] for n in wide}
    inner = [replace(n, ctype=f"{WORD} *") if n in wide else n for n in function.inner]
    return replace(function, inner=tuple(inner)), {**shapes, **words}


def _with_fixed_values(function: Node, options: Options) -> Node:
    """Assumptions that `--set` makes: an integer parameter has one value."""
    integers = {n.name: n for n in function.inner if n.kind == "parameter" and n.ctype in (*COUNTING, *SHORT)}
    given = given_values(options.values, integers)
    named = [(make.variable_reference(integers[name], integers[name]), value) for name, value in given.items()]
    assumed = [
        Node("assume", at.span, inner=(make.binary("==", at, make.number(value, at), "int", at),))
        for at, value in named
    ]
    body = function.inner[-1]
    return replace(function, inner=(*function.inner[:-1], replace(body, inner=(*assumed, *body.inner))))


def _check_declarations(function: Node) -> None:
    """What no loop nest can keep of a function's type, or of its variables' types. Raises PL0153."""
    if "..." in function.ctype:
        message = f"`{function.name}` takes a variable number of arguments"
        raise refusal("PL0153", message, function, "declare each argument")
    for node in function:
        if node.kind in ("parameter", "variable") and re.search(r"\bvolatile\b", node.qualified):
            raise is_volatile(node, node.name)
        if node.kind == "parameter" and "(*)(" in node.ctype:
            help = "call a function by its name, and choose by a number with `if`"
            raise refusal("PL0153", f"`{node.name}` is a pointer to a function", node, help)


def _ranges(parameters: Sequence[Node], symbols: Mapping[str, Affine]) -> Condition:
    """Sizes of 8 and 16 bits are in the range of their types."""
    short = [(RANGE[p.ctype][1], symbols[p.symbol]) for p in parameters if p.ctype in RANGE and p.symbol in symbols]
    return Condition((Polyhedron(tuple(-form + most for most, form in short)),))


def _parameter_shapes(
    function: Node, parameters: Sequence[Node], declared: Mapping[str, str], options: Options
) -> dict[str, list[str]]:
    """Extents of every array parameter as texts, from its declarator or from `--shape`; `*p` that is never subscripted
    is a scalar, with no extents. Raises PL0155.
    """
    arrays = [p for p in parameters if is_pointer(p)]
    given = given_shapes(options.shapes, {p.name: p.text or p.name for p in arrays})
    subscripted = {strip_casts(n.inner[0]).symbol for n in function if n.kind == "element"}
    shapes, unknown = dict[str, list[str]](), list[Diagnostic]()
    for parameter in parameters:
        # A promoted place has its extents in its own type.
        inner, written = extent_texts(parameter.ctype), extent_texts(declared.get(parameter.name, parameter.qualified))
        if not is_pointer(parameter):
            continue
        if parameter.name in given and inner and len(given[parameter.name]) != len(inner) + 1:
            message = (
                f"`{parameter.name}` has {len(inner) + 1} dimensions, and --shape gives {len(given[parameter.name])}"
            )
            raise refusal("PL0155", message, parameter, _shape_help(parameter, inner))
        if parameter.name in given:
            shapes[parameter.name] = given[parameter.name]
        elif len(written) == len(inner) + 1 and written[0] not in ("", "*"):
            # `a[n * m]` is an array of two dimensions, whose subscripts are taken apart.
            shapes[parameter.name] = written if inner else extent_factors(written[0])
        elif parameter.symbol in subscripted or inner:
            message = f"the outermost extent of `{parameter.text or parameter.name}` is not known"
            unknown.extend(refusal("PL0155", message, parameter, _shape_help(parameter, inner)).diagnostics)
        else:
            shapes[parameter.name] = []
    # All unknown extents in one message: one run shows every `--shape` that is missing.
    if unknown:
        raise PolyloomError(*unknown)
    return shapes


def _shape_help(parameter: Node, inner: list[str]) -> str:
    name = parameter.name
    if parameter.text:  # behind a pointer, where C has no declaration with extents; `>` is the shell's, too
        return f"give --shape '{parameter.text}={','.join(['n', *inner])}'"
    return (
        f"declare it as in `{name}[n]{''.join(f'[{text}]' for text in inner)}`, or give --shape "
        f"{name}={','.join(['n', *inner])}"
    )


def _argument_storage(parameter: Node, shape: list[str] | None, symbols: Mapping[str, Affine]) -> Storage:
    """Storage of a parameter: an array, a scalar by value, or a scalar behind a pointer. Raises PL0155."""
    found = [affine_text(text, symbols) for text in shape or ()]
    for text, extent in zip(shape or (), found, strict=True):
        if extent is None:
            help = "extents are sums of int parameters and constants"
            raise refusal(
                "PL0155", f"the extent `{text}` of `{parameter.name}` is not affine in the parameters", parameter, help
            )
    return Storage(
        parameter.name,
        element_type(parameter),
        tuple(filter(None, found)),
        "argument",
        shape is not None,
        parameter.span,
    )


def _scop_statements(function: Node, parameters: Sequence[Node]) -> Iterator[Node]:
    """Static control part (SCoP): the statements between `#pragma scop` and `#pragma endscop`, and declarations; all
    where there is no pragma. Raises PL0166. The pragmas are those of Clan and Pluto (Bondhugula et al. 2008).
    """
    body = function.inner[-1]
    marks = [
        (m.start() + body.span.start, m["end"])
        for m in _SCOP.finditer(body.span.source.text[body.span.start : body.span.end])
    ]
    starts, ends = [at for at, end in marks if not end], [at for at, end in marks if end]
    # One region: PolyBench marks its loop nest like this, and Pluto and others read the same pragmas.
    if len(starts) != len(ends) or len(starts) > 1 or starts > ends:
        raise refusal(
            "PL0166",
            "`#pragma scop` and `#pragma endscop` do not form one pair",
            function,
            "mark one region of the function",
        )
    arrays = {p.symbol for p in parameters if is_pointer(p)}
    for node in body.inner[: -1 if body.inner and _is_final_return(body.inner[-1]) else None]:
        inside = not marks or starts[0] < node.span.start < ends[0]
        if (inside and marks and node.span.end > ends[0]) or any(
            node.span.start < at < node.span.end for at, _ in marks
        ):
            raise refusal(
                "PL0166",
                "`#pragma scop` and `#pragma endscop` cut a statement in two",
                node,
                "mark whole statements of the function's body",
            )
        if inside or node.kind == "declare" or assumption(node) is not None:
            yield node
        elif _may_leave(node):
            raise refusal(
                "PL0166",
                "this statement is outside of `#pragma scop` and may leave the function",
                node,
                "move it to the function's caller",
            )
        elif not _has_no_stores(node, arrays):
            raise refusal(
                "PL0166",
                "this statement is outside of `#pragma scop` and may store values",
                node,
                "move it into the region, or out of the function",
            )


_SCOP = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(?P<end>end)?scop\b", re.MULTILINE)


def _is_final_return(node: Node) -> bool:
    """Whether this is a last statement without a meaning: `return;`."""
    return node.kind == "return" and not node.inner


def _may_leave(node: Node) -> bool:
    """Whether a statement may end the function before its region."""
    called = {n.name for n in node if n.kind == "name"}
    return bool(called & {"exit", "_Exit", "_exit", "abort", "longjmp"}) or any(
        n.kind in ("return", "goto") for n in node
    )


def _has_no_stores(node: Node, arrays: set[str]) -> bool:
    stores = any(n.opcode in ("=", "++", "--") or n.kind == "update" for n in node)
    return not stores and not any(n.kind == "name" and n.symbol in arrays for n in node)
