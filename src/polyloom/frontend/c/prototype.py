# SPDX-License-Identifier: Apache-2.0
"""Prototype of a C function: scalars of all integer and floating types, and pointers to arrays of them or of structures
(C17, section 6.7.6.3).

Element types become NumPy's. The C is that of the target: its headers say what `int64_t` is, its `long` has the width
of the data model, and clang itself tells the layout of structures and enumerations there. The extents of an array are
those of its declaration, or of `--shape`; they are texts over the integer parameters, whose values decide. `p` that is
only written `*p` or `p->x` has one element.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from polyloom.diagnostics import Span
from polyloom.frontend.c.choose_function import choose_function
from polyloom.frontend.c.clang import evaluate_constants, printed_function, syntax_tree
from polyloom.frontend.c.clang_tree import ctype, typedefs
from polyloom.frontend.c.preconditions import find_preconditions
from polyloom.frontend.c.signature import declarators, given_shapes, given_values
from polyloom.frontend.loops.extent_text import affine_text, extent_texts, identifiers
from polyloom.frontend.loops.returns import has_no_outputs
from polyloom.frontend.loops.tree import Node, refusal, strip_casts
from polyloom.frontend.loops.types import is_pointer
from polyloom.frontend.source import Options
from polyloom.recursion import with_deep_stack
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.normal_form import conjunction

Dtype = np.dtype[Any]
_TYPES: Final[dict[str, str]] = {
    "_Bool": "?",
    "char": "i1",
    "signed char": "i1",
    "unsigned char": "u1",
    "short": "i2",
    "unsigned short": "u2",
    "int": "i4",
    "unsigned int": "u4",
    "long long": "i8",
    "unsigned long long": "u8",
    "float": "f4",
    "double": "f8",
}
_TAGGED: Final = ("RecordDecl", "EnumDecl")
_POINTER: Final = re.compile(r"(.*?) ?(?:\*|\(\*\)(?:\[[^\]]*\])+)")
_FUNCTION: Final = re.compile(r"\(\*+\)\(")
_ATOMIC: Final = re.compile(r"_Atomic\((.*)\)")
_ARRAY: Final = re.compile(r"(.*?) ?((?:\[\d+\])+)")


@dataclass(frozen=True, slots=True)
class Parameter:
    """Parameter: `extents` are texts for an array, whose elements have the type `dtype`, and None for a scalar."""

    name: str
    dtype: Dtype
    extents: tuple[str, ...] | None

    def shape(self, values: Mapping[str, int]) -> tuple[int, ...]:
        """The extents for values of the integer parameters."""
        known = {name: Affine((), value) for name, value in values.items()}
        found = [affine_text(text, known) for text in self.extents or ()]
        return tuple(extent.constant for extent in found if extent is not None)


@dataclass(frozen=True, slots=True)
class Prototype:
    """Prototype: a function's name, parameters and type of result, None for void. `sizes` are the parameters that
    extents and `assumptions` need, which hold for them.
    """

    name: str
    parameters: tuple[Parameter, ...]
    result: Dtype | None
    sizes: frozenset[str]
    span: Span
    assumptions: Condition = field(default_factory=Condition)


@with_deep_stack
def read_prototype(path: str, options: Options, target: str, long: int) -> Prototype:
    """Prototype of the chosen function in the file; `target` is that of clang's, `long` the number of bytes of that
    type. Raises PL0151 to PL0155.
    """
    unit = syntax_tree(path, options, target)
    function = choose_function(path, unit, options.function, calls=True)[0]
    types = _Types(unit, long, lambda expressions: evaluate_constants(path, expressions, options, target))
    nodes = [n for n in function.inner if n.kind == "parameter"]
    for node in nodes:
        if _FUNCTION.search(node.ctype) is not None:
            help = "take a number, and choose the function by it from a table in the file"
            raise refusal("PL0153", f"`{node.name}` is a pointer to a function, which no run can pass", node, help)
    written = (
        declarators(printed_function(path, function.name, options, target), function.name, types.aliases)
        if nodes
        else ()
    )
    texts = dict(_pointer_extents(function, nodes, written, options))
    # A function type is printed as `int (int *, int)`.
    result = re.split(r" ?\(", function.ctype)[0]
    is_place = result.endswith("*")
    if is_place and has_no_outputs(function):
        raise refusal(
            "PL0153",
            f"`{function.name}` returns a pointer, which means nothing outside of it",
            function,
            "return a number",
        )
    parameters = tuple(Parameter(n.name, types.parameter_dtype(n), texts.get(n.name)) for n in nodes)
    integers = {p.name for p in parameters if p.extents is None and p.dtype.kind in "iu"}
    sizes = frozenset(name for text in texts.values() for part in text for name in identifiers(part))
    _check_sizes(nodes, texts, integers)
    # A pointer that is returned points into an array, all of which is an output.
    returned = None if result == "void" or is_place else types.value_dtype(result, function)
    fixed = given_values(options.values, integers)
    forms = [Affine.symbol(name) - value for name, value in fixed.items()]
    equal = Condition((Polyhedron(tuple(side for form in forms for side in (form, -form))),))
    assumed = conjunction(find_preconditions(function).condition, equal)
    return Prototype(function.name, parameters, returned, sizes | assumed.symbols, function.span, assumed)


def _check_sizes(nodes: Sequence[Node], texts: Mapping[str, tuple[str, ...]], integers: set[str]) -> None:
    """Extents are sums and products of integer parameters and numbers."""
    # With every integer 1, products of parameters are affine, too: the form of the text is checked, not its value.
    ones = {name: Affine((), 1) for name in integers}
    for node in nodes:
        for text in texts.get(node.name, ()):
            if affine_text(text, ones) is None:
                help = "extents are sums and products of integer parameters and numbers"
                raise refusal(
                    "PL0155",
                    f"the extent `{text}` of `{node.name}` is not known when the function is called",
                    node,
                    help,
                )


def _pointer_extents(
    function: Node, nodes: Sequence[Node], written: Sequence[str], options: Options
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Extents of every pointer, with its name; `written` are the declarations of the parameters. Raises PL0155."""
    pointers = [n for n in nodes if is_pointer(n)]
    given = given_shapes(options.shapes, {p.name: p.name for p in pointers})
    moving = set(subscripted_pointers(function))
    for node, declarator in zip(nodes, written, strict=True):
        inner, outer = extent_texts(node.ctype), extent_texts(declarator)
        if not is_pointer(node):
            continue
        example = (
            f"declare it as in `{node.name}[n]{''.join(f'[{t}]' for t in inner)}`, or give --shape "
            f"{node.name}={','.join(['n', *inner])}"
        )
        if node.name in given and inner and len(given[node.name]) != len(inner) + 1:
            raise refusal(
                "PL0155",
                f"`{node.name}` has {len(inner) + 1} dimensions, and --shape gives {len(given[node.name])}",
                node,
                example,
            )
        if node.name in given:
            yield node.name, tuple(given[node.name])
        elif len(outer) == len(inner) + 1 and outer[0] not in ("", "*"):
            yield node.name, tuple(outer)
        elif inner or node.symbol in moving:
            raise refusal("PL0155", f"the length of what `{node.name}` points to is not known", node, example)
        else:
            # Only `*p` and `p->x`: one object.
            yield node.name, ("1",)


def subscripted_pointers(function: Node) -> Iterator[str]:
    """Pointers that are used otherwise than in `*p`, `p->x` and `(void)p`, and so may reach further elements."""
    whole = [
        strip_casts(n.inner[0])
        for n in function
        if (n.kind == "unary" and n.opcode == "*")
        or (n.kind == "member" and n.arrow)
        or (n.kind == "cast" and n.ctype == "void")
    ]
    still = {id(n) for n in whole}
    yield from (n.symbol for n in function if n.kind == "name" and id(n) not in still)


class _Types:
    """Types of C as NumPy's, structures as records (C17, section 6.2.5). `ask` gives the values of constant expressions
    of C.
    """

    def __init__(self, unit: Mapping[str, Any], long: int, ask: Callable[[Sequence[str]], Sequence[int]]) -> None:
        self.names = {**_TYPES, "long": f"i{long}", "unsigned long": f"u{long}"}
        self.aliases = typedefs(unit)
        self.ask = ask
        tagged = {item["id"]: item for item in unit["inner"] if item["kind"] in _TAGGED}
        # Types are known by their printed names, since clang's JSON has no identity of a type at a use.
        self.tags = {
            f"{item.get('tagUsed', 'enum')} {item['name']}": (item, "")
            for item in tagged.values()
            if "name" in item and _is_complete_type(item)
        }
        for item in unit["inner"]:
            owned = [
                part["decl"]["id"]
                for part in item.get("inner", ())
                if part.get("kind") in ("RecordType", "EnumType") and part.get("isTagOwned")
            ]
            if item["kind"] == "TypedefDecl" and owned and owned[0] in tagged:
                tag = tagged[owned[0]]
                self.tags.setdefault(f"{tag.get('tagUsed', 'enum')} {item['name']}", (tag, item["name"]))

    def parameter_dtype(self, node: Node) -> Dtype:
        if not is_pointer(node):
            return self.value_dtype(node.ctype, node)
        found = _POINTER.fullmatch(node.ctype)
        if found is None or "*" in found[1]:
            raise refusal(
                "PL0153",
                f"`{node.name}` points to `{node.ctype.removesuffix('*').strip()}`",
                node,
                "pointers are to numbers or to structures of numbers",
            )
        return self.element_dtype(found[1], node)

    def value_dtype(self, text: str, node: Node) -> Dtype:
        found = self.element_dtype(text, node)
        # Its place in registers and memory is the ABI's affair, which differs between targets.
        if found.fields is not None:
            raise refusal(
                "PL0153", f"the `{text}` of `{node.name}` goes by value", node, f"pass a pointer to it: `{text} *p`"
            )
        return found

    def element_dtype(self, text: str, node: Node) -> Dtype:
        """Element type of a C type as printed. Errors: PL0153, at the node."""
        if (atomic := _ATOMIC.fullmatch(text)) is not None:
            return self.element_dtype(atomic[1], node)  # scalars have the layout of their own type
        if text in self.names:
            return np.dtype(self.names[text]).newbyteorder("<")
        item, alias = self.tags.get(text, ({}, ""))
        if item.get("kind") == "EnumDecl":
            # An enumeration's type is the implementation's choice (C17, section 6.7.2.2, paragraph 4): clang is asked.
            size, is_signed = self.ask([f"sizeof({alias or text})", f"({alias or text})-1 < 0"])
            return np.dtype(f"{'i' if is_signed else 'u'}{size}").newbyteorder("<")
        if item.get("tagUsed") != "struct":
            help = "the types are _Bool, integers, float, double, and structures of these"
            raise refusal("PL0153", f"`{node.name}` is of the type `{text}`, which is not supported", node, help)
        return self._record_dtype(
            alias or text, [part for part in item.get("inner", ()) if part["kind"] == "FieldDecl"], node
        )

    def _record_dtype(self, text: str, parts: Sequence[Mapping[str, Any]], node: Node) -> Dtype:
        """Structure as clang lays it out (`sizeof`, `offsetof`), whatever attributes it has."""
        fields = [self._field_dtype(part, node) for part in parts]
        size, *offsets = self.ask([f"sizeof({text})", *(f"__builtin_offsetof({text}, {name})" for name, _ in fields)])
        if size == 0:
            raise refusal(
                "PL0153", f"`{node.name}` is of a structure without a size", node, "give the structure a field"
            )
        return np.dtype(
            {
                "names": [name for name, _ in fields],
                "formats": [dtype for _, dtype in fields],
                "offsets": offsets,
                "itemsize": size,
            }
        )

    def _field_dtype(self, part: Mapping[str, Any], node: Node) -> tuple[str, Dtype]:
        text = ctype(part["type"], self.aliases)
        if part.get("isBitfield") or "*" in text or "name" not in part:
            raise refusal(
                "PL0153",
                f"`{node.name}` is of a structure with a bit field, a pointer or no name",
                node,
                "pass its fields as arrays of their own",
            )
        found = _ARRAY.fullmatch(text)
        if found is None:
            return part["name"], self.element_dtype(text, node)
        return part["name"], np.dtype(
            (self.element_dtype(found[1], node), tuple(int(n) for n in re.findall(r"\d+", found[2])))
        )


def _is_complete_type(item: Mapping[str, Any]) -> bool:
    """An enumeration that is only declared has no constants, and no type of its own."""
    return bool(item.get("completeDefinition") or (item["kind"] == "EnumDecl" and item.get("inner")))
