# SPDX-License-Identifier: Apache-2.0
"""Adapter of a C function whose structures and variables have become arguments (`promotion`): C text that
takes the arguments, fills the structures, calls the function, and hands back what it has written.

It is the calling side of argument promotion, for whoever executes the function itself. Structures are initialized, not
assigned, so that `const` fields are allowed (C17, section 6.7.9); arrays are copied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from polyloom.frontend.c.canonical.arguments.promotion import PromotedPlace
from polyloom.frontend.loops.tree import CASTS, Node, strip_casts

PREFIX: Final = "__polyloom_"
NAME: Final = f"{PREFIX}adapted"


def adapter_text(
    function: Node,
    declared: Sequence[str],
    made: Sequence[Node],
    found: Sequence[PromotedPlace],
    variables: Mapping[str, Node],
) -> str:
    """Adapter of the C function `function`, whose parameters are `declared` as clang prints them; `made` are the
    parameters after promotion, `found` what was promoted, `variables` those of the file.
    """
    own = {p.name: f"{PREFIX}a{n}" for n, p in enumerate(made)}
    scalars = {each.parameter.name for each in found if each.kind == "scalar"}
    parameters = ", ".join(f"{_type(p, p.name in scalars)}{own[p.name]}" for p in made)
    places = [_Place(each, own[each.parameter.name]) for each in found]
    originals = [p for p in function.inner if p.kind == "parameter"]
    structures = {
        p.name: (f"{PREFIX}s{n}", re.sub(r"\*[^*]*$", "", text))
        for n, (p, text) in enumerate(zip(originals, declared, strict=True))
        if p.ctype.endswith("*") and p.ctype.startswith(("struct", "union"))
    }
    objects = _Objects(structures, places, dict(_converted_structures(function)))
    passed = [f"&{structures[p.name][0]}" if p.name in structures else own[p.name] for p in originals]
    result = function.ctype.partition(" (")[0].partition("(")[0].strip()
    result = "int" if result.startswith("enum") else result
    keeps, gives = (f"{result} {PREFIX}r = ", f"  return {PREFIX}r;\n") if result != "void" else ("", "")
    lines = [
        *objects.declarations(),
        *objects.copies(),
        f"{keeps}{function.name}({', '.join(passed)});",
        *objects.results(),
    ]
    body = "".join(f"  {line}\n" for line in lines)
    head = f"static inline __attribute__((__always_inline__)) {result} {NAME}({parameters or 'void'})"
    # What another file defines is defined here: each run gives it a value.
    # A pointer that the function sets has no place, but the linker wants it.
    used = {n.symbol for n in function if n.kind == "name"}
    pointers = {v.name for name, v in variables.items() if name in used and v.storage == "extern" and "*" in v.ctype}
    defined = sorted(pointers.union(p.root for p in found if p.external))
    external = "".join(f"__typeof__({name}) {name};\n" for name in defined)
    return f"{external}{head} {{\n{body}{gives}}}\n"


@dataclass(frozen=True, slots=True)
class _Place:
    """A promoted place, and the adapter's parameter for it."""

    promoted: PromotedPlace
    argument: str

    @property
    def object(self) -> str:
        """The structure behind a pointer that has the field, as a path: of `->sub->x` it is `->sub`."""
        return self.promoted.path.rpartition("->")[0]

    @property
    def designator(self) -> str:
        """Designator in its structure (C17, section 6.7.9, paragraph 7)."""
        return f".{self.promoted.path.rpartition('->')[2]}"

    @property
    def value(self) -> str:
        if self.promoted.kind == "pointee":
            return f"&{self.argument}"
        is_pointer = self.promoted.kind == "scalar" and self.promoted.written
        return f"*{self.argument}" if is_pointer else f"{self.argument}"


class _Objects:
    """The structures that an adapter makes: those of parameters, and those that they or variables point to."""

    def __init__(
        self,
        structures: Mapping[str, tuple[str, str]],
        places: Sequence[_Place],
        converted: Mapping[tuple[str, str], str],
    ) -> None:
        self.structures, self.places, self.converted = structures, places, converted
        self.paths = self._structure_variables()

    def _structure_variables(self) -> dict[tuple[str, str], str]:
        """Structures by root and path, inner ones first, with the names of the variables that hold them."""
        found = set[tuple[str, str]]()
        for place in self.places:
            root, path = place.promoted.root, place.promoted.path
            while "->" in path:
                path = path.rpartition("->")[0]
                found.add((root, path))
        found.update((name, "") for name in self.structures)
        ordered = sorted(found, key=lambda each: (-each[1].count("->") - bool(each[1]), each))
        own = {(name, ""): variable for name, (variable, _) in self.structures.items()}
        return {each: own.get(each, f"{PREFIX}o{n}") for n, each in enumerate(ordered)}

    def declarations(self) -> Iterator[str]:
        for (root, path), name in self.paths.items():
            inner = [p for p in self.places if p.promoted.root == root and "->" in p.promoted.path]
            fields = {p.designator: p.value for p in inner if p.object == path and p.promoted.kind != "array"}
            fields |= {
                f".{other.removeprefix(f'{path}->')}": f"&{pointed}"
                for (owner, other), pointed in self.paths.items()
                if owner == root and other.rpartition("->")[0] == path and other.startswith(f"{path}->")
            }
            values = ", ".join(
                f"{where} = (void *){v}" if v.startswith("&") else f"{where} = {v}" for where, v in fields.items()
            )
            yield f"{self._type(root, path)} {name} = {{{values or '0'}}};"

    def _type(self, root: str, path: str) -> str:
        if (root, path) in self.converted:
            return self.converted[root, path]
        if root in self.structures:
            own = self.structures[root][1].strip()
            return own if not path else f"__typeof__(*(({own} *)0){path})"
        return f"__typeof__(*{root}{path})"

    def _lvalue(self, place: _Place) -> str:
        root, path = place.promoted.root, place.promoted.path
        if "->" not in path:
            return f"{root}{path}"
        return f"{self.paths[root, place.object]}{place.designator}"

    def copies(self) -> Iterator[str]:
        """Contents of arrays, and of variables of the file."""
        for (root, path), name in self.paths.items():
            if root not in self.structures and "->" not in path:
                yield f"{root}{path} = (void *)&{name};"
        for place in self.places:
            where = self._lvalue(place)
            if place.promoted.kind == "array":
                yield f"__builtin_memcpy((void *){where}, {place.argument}, sizeof {where});"
            elif "->" not in place.promoted.path:
                yield f"{where} = {place.value};"

    def results(self) -> Iterator[str]:
        for place in self.places:
            where = self._lvalue(place)
            if place.promoted.kind == "array":
                yield f"__builtin_memcpy({place.argument}, (const void *){where}, sizeof {where});"
            elif place.promoted.kind == "scalar" and place.promoted.written:
                yield f"*{place.argument} = {where};"


def _converted_structures(function: Node) -> Iterator[tuple[tuple[str, str], str]]:
    """Structures that fields of the type `void *` are converted to where a local pointer is declared, by root and path;
    one without a name by its fields (C17, section 6.7.2.1).
    """
    for node in function:
        if node.kind != "declare" or not node.inner[-1].initial or not node.inner[-1].ctype.endswith("*"):
            continue
        *records, variable = node.inner
        value = variable.inner[-1]
        while value.kind in CASTS:
            value = value.inner[0]
        if value.kind != "member" or value.ctype.replace(" ", "") != "void*":
            continue
        fields = [field for record in records for field in record.inner if field.kind == "FieldDecl"]
        own = "".join(f"{field.qualified} {field.name}; " for field in fields)
        text = f"struct {{ {own}}}" if own else variable.qualified.rpartition("*")[0]
        base, path = value, ""
        while base.kind == "member":
            base, path = strip_casts(base.inner[0]), f"{'->' if base.arrow else '.'}{base.name}{path}"
        yield (base.name, path), text


def _type(parameter: Node, written: bool) -> str:
    """C type of an adapter's parameter: pointers have none, but those of scalars that are stored through."""
    ctype = re.sub(r"^enum [^*]*", "int ", parameter.ctype)
    if "*" not in ctype:
        return f"{ctype} "
    return ctype if written else "void *"
