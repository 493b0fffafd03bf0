# SPDX-License-Identifier: Apache-2.0
"""Types of the statement tree: those of elements, and of numbers that only count (C17, section 6.2.5)."""

from __future__ import annotations

import re

from polyloom.frontend.loops.tree import CASTS, Node, refusal, strip_casts
from polyloom.ir.numbers import WIDTH
from polyloom.ir.operations import ElementType

TYPES: dict[str, ElementType] = {
    "char": "i8",
    "signed char": "i8",
    "short": "i16",
    "int": "i32",
    "unsigned char": "u8",
    "unsigned short": "u16",
    "unsigned int": "u32",
    "_Bool": "bool",
    "_Float16": "f16",
    "float": "f32",
    "double": "f64",
}
_WIDE = ("long", "unsigned long", "long long", "unsigned long long")
CTYPE: dict[ElementType, str] = {dtype: name for name, dtype in reversed(TYPES.items())}
"""How each element type is written."""
NARROW = ("char", "signed char", "unsigned char", "short", "unsigned short", "_Bool")
INTEGER = "integer"
"""Python's integers, which never wrap: of loops, sizes and indices."""
COUNTING = ("int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long", INTEGER)
"""The types of variables that count loops. No size that memory has room for leaves the range of `int`, so that a
conversion between them keeps a value unless it is negative and becomes unsigned."""

SHORT = ("char", "signed char", "unsigned char", "short", "unsigned short")
"""Those of 8 and 16 bits that sizes and counters have: within their range, which is checked."""
RANGE = {
    "char": (-128, 127),
    "signed char": (-128, 127),
    "unsigned char": (0, 255),
    "short": (-32768, 32767),
    "unsigned short": (0, 65535),
}


def element_type(declaration: Node) -> ElementType:
    """Element type of a variable, an array or a pointer to elements; raises PL0153."""
    base = re.split(r" ?[(*\[]", declaration.ctype)[0]
    if base not in TYPES:
        help = "the element types are _Bool, integers of up to 32 bits, float and double"
        if base in _WIDE:
            short = "unsigned int" if base.startswith("unsigned") else "int"
            help = f"use `{short}`: elements have 32 bits at most; counters, sizes and subscripts may be `{base}`"
        elif base == "long double":
            help = "use `double`"
        elif base.startswith("union"):
            help = "use a structure whose fields do not share memory, and write conversions"
        alias = re.sub(r"^(?:(?:const|volatile) )*", "", declaration.qualified).split(" ")[0]
        written = () if alias in base.split(" ") else (f"`{alias}` is `{base}`",)
        raise refusal(
            "PL0153",
            f"`{declaration.name}` is of the type `{base}`, which no operation has",
            declaration,
            help,
            *written,
        )
    return TYPES[base]


def integer_constant(node: Node) -> int | None:
    """Value of an integer literal, as the types have it that it is converted to (C17, sections 6.3.1.3 and 6.6); None
    for other expressions."""
    node = strip_casts(node)
    if node.kind == "integer":
        return int(str(node.value))
    if node.kind not in CASTS or node.opcode != "IntegralCast" or node.ctype not in (*TYPES, *_WIDE):
        return None
    number, width = integer_constant(node.inner[0]), WIDTH[TYPES[node.ctype]] if node.ctype in TYPES else 64
    if number is None:
        return None
    low = number % (1 << width)
    is_unsigned = node.ctype.startswith("unsigned") or node.ctype == "_Bool"
    return low if is_unsigned or low < 1 << (width - 1) else low - (1 << width)


def is_pointer(declaration: Node) -> bool:
    return "*" in declaration.ctype
