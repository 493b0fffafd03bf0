# SPDX-License-Identifier: Apache-2.0
"""C library functions (C17, section 7.12) as operations: those that machines have, and those that `ir.library` writes
out.

A function of single precision is called with operands of that type, one of double precision with doubles.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from polyloom.frontend.loops import make, refusals
from polyloom.frontend.loops.affine import callee_name
from polyloom.frontend.loops.tree import CASTS, Node, strip_casts
from polyloom.ir.library import KERNELS, LARGEST_POWER, SINGLE, print_helpers, print_kernel, program
from polyloom.ir.nest_c import PREFIX, TYPES, print_helper
from polyloom.ir.operations import ALL_TYPES, BY_NAME, ElementType

_MATH: Final = {"sqrt": "sqrt", "fabs": "abs", "fmin": "min", "fmax": "max", "fma": "madd"}
_WRITTEN_OUT: Final = {name: name for name in (*KERNELS, "pow") if name != "popcount"} | {"nearbyint": "rint"}
CALLS: Final[dict[str, tuple[str, ElementType]]] = {
    **{f"{name}f": (operation, "f32") for name, operation in (_MATH | _WRITTEN_OUT).items()},
    **{name: (operation, "f64") for name, operation in (_MATH | _WRITTEN_OUT).items()},
    "abs": ("abs", "i32"),
}
"""The operation and the type of its operands."""
_COUNTS: Final = tuple(f"__builtin_popcount{width}" for width in ("", "l", "ll"))
_SPECIAL: Final = {"inff": "inf", "huge_valf": "inf", "nanf": "nan", "inf": "inf", "huge_val": "inf", "nan": "nan"}


def lower_tree(node: Node, functions: Mapping[str, Node], defined: Collection[str]) -> Node:
    """Lowering of clang's tree to the tree of loops: without parentheses and conversions that change nothing, with
    operations for calls of C's library, and of what `ir.nest_c` prints; `functions` are the file's, by identity, and
    `defined` the names of all that have a body, which hide the library's.
    """
    node = strip_casts(node)
    inner = tuple([lower_tree(child, functions, defined) for child in node.inner])
    # Unchanged subtrees are kept as objects: most of a function has nothing to lower.
    if any(a is not b for a, b in zip(inner, node.inner, strict=True)):
        node = replace(node, inner=inner)
    return _library_operation(node, functions, defined) if node.kind == "call" else node


def _library_operation(call: Node, functions: Mapping[str, Node], defined: Collection[str]) -> Node:
    written = callee_name(call)
    name = written.removeprefix("__builtin_")
    if name in _SPECIAL and written not in defined:
        ctype = "float" if name.endswith("f") and name != "inf" else "double"
        return replace(call, kind="real", ctype=ctype, value=_SPECIAL[name], inner=())
    if written in _COUNTS and len(call.inner) == 2:
        return make.operation_node("popcount", "u32", (_strip_zero_extension(call.inner[1]),), call)
    found = _printed_operation(call, name, functions) or (CALLS.get(name) if written not in defined else None)
    # Otherwise a user's own `sqrtf` would silently mean the machine's square root (C17, section 7.1.3).
    if written in defined and (name in CALLS or name in _SPECIAL):
        raise refusals.refuse_call(call, own=True)
    if found is None or len(call.inner) - 1 != BY_NAME[found[0]].arity:
        return call
    return make.operation_node(*found, call.inner[1:], call, name)


def _strip_zero_extension(operand: Node) -> Node:
    """Operand of a zero extension, which adds no bits to count; other operands as they are."""
    is_wider = operand.kind in CASTS and operand.opcode == "IntegralCast"
    return operand.inner[0] if is_wider and strip_casts(operand.inner[0]).ctype in _UNSIGNED else operand


_UNSIGNED: Final = ("_Bool", "unsigned char", "unsigned short", "unsigned int")


def _printed_operation(call: Node, name: str, functions: Mapping[str, Node]) -> tuple[str, ElementType] | None:
    """Operation and type of a helper function that `ir.nest_c` prints. It is known by its whole text: a user may have
    the name, too.
    """
    function = functions.get(strip_casts(call.inner[0]).symbol) if name.startswith(PREFIX) else None
    if function is None:
        return None
    every: dict[str, tuple[str, ElementType]] = {
        f"{PREFIX}{operation}_{dtype}": (operation, dtype) for operation in BY_NAME for dtype in ALL_TYPES
    }
    # Printed C reads back as the same nest: the round trip of `ir.nest_c`.
    found = every.get(name)
    text = function.span.source.text[function.span.start : function.span.end]
    return found if found is not None and text == print_helper(*found) else None


_POWER: Final = """{kind} {name}({kind} x, {kind} y) {{
{two}  int n = y < 0 ? -y : y, some = 0;
  {kind} found = 1, square = x;
  for (; n; n >>= 1, square = n ? square * square : square)
    if (n & 1) {{ found = some ? found * square : square; some = 1; }}
  return y < 0 ? 1 / found : found;
}}"""


_CALL: Final = re.compile(rf"\b((?:{'|'.join(SINGLE)})f)\s*\(")
_OWN: Final = re.compile(rf"\bfloat\s+((?:{'|'.join(SINGLE)})f)\s*\([^()]*\)\s*\{{")


def called_kernels(text: str) -> frozenset[str]:
    """The functions with a kernel that a file may call, and does not define."""
    return frozenset(_CALL.findall(text)) - frozenset(_OWN.findall(text))


def with_kernels(unit: str, names: Collection[str], prefix: str) -> str:
    """C text `unit` with our kernels in the place of library functions, of which `names` are those that it may call:
    what the array computes is compared with it bit by bit. Roundings are exact, and need none.
    """
    # powf of base 2 is exp2f: see `_kernel_definition`.
    needed = {*names, "exp2f"} if "powf" in names else names
    used = [name for name in sorted(CALLS) if name in needed and CALLS[name][0] in (*SINGLE, "pow")]
    macros = [f"#define {name} {prefix}{name}\n#define __builtin_{name} {prefix}{name}" for name in used]
    # A builtin function is called without a header that declares it.
    declared = [_kernel_prototype(name, prefix) for name in used]
    programs = [program(*CALLS[name]) for name in used if CALLS[name][0] in SINGLE]
    bodies = [_kernel_definition(name, prefix) for name in used]
    return "\n".join([*macros, *declared, unit, print_helpers(programs, prefix), *bodies, ""]) if used else unit


def _kernel_prototype(name: str, prefix: str) -> str:
    operation, dtype = CALLS[name]
    return f"{TYPES[dtype]} {prefix}{name}({', '.join([TYPES[dtype]] * BY_NAME[operation].arity)});"


def _kernel_definition(name: str, prefix: str) -> str:
    # The loop of `_POWER` multiplies in the order of `ir.library`: square and multiply, from the low bit (Knuth 1997,
    # section 4.6.3).
    operation, dtype = CALLS[name]
    if operation == "pow":
        # Powers of 2 are products, too, where the exponent is a whole number of this magnitude: both are exact.
        whole = f"y <= {LARGEST_POWER} && y >= -{LARGEST_POWER} && y == (int)y"
        two = f"  if (x == 2 && !({whole})) return {prefix}exp2f(y);\n" if dtype == "f32" else ""
        return _POWER.format(kind=TYPES[dtype], name=f"{prefix}{name}", two=two)
    return print_kernel(f"{prefix}{name}", program(operation, dtype), prefix)
