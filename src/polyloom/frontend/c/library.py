# SPDX-License-Identifier: Apache-2.0
"""Functions of C's library as operations: those that machines have, and those that `ir.library` writes out.

A function of single precision is called with operands of that type, one of double precision with doubles. In double
precision there is no kernel of `exp` and its like: such a call says which single function to write.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Final

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.loops import refusals
from polyloom.frontend.loops.tree import Node, refuse
from polyloom.ir.library import KERNELS, LARGEST_POWER, SINGLE, c_helpers, c_text, program
from polyloom.ir.nest import Apply, Expression
from polyloom.ir.nest_c import TYPES
from polyloom.ir.operations import BY_NAME, ElementType
from polyloom.ir.pla import Constant

_MATH: Final = {"sqrt": "sqrt", "fabs": "abs", "fmin": "min", "fmax": "max", "fma": "madd"}
_WRITTEN_OUT: Final = {name: name for name in (*KERNELS, "pow")} | {"nearbyint": "rint"}
CALLS: Final[dict[str, tuple[str, ElementType]]] = {
    **{f"{name}f": (operation, "f32") for name, operation in (_MATH | _WRITTEN_OUT).items()},
    **{name: (operation, "f64") for name, operation in (_MATH | _WRITTEN_OUT).items()},
    "abs": ("abs", "i32"),
}
"""The operation and the type of its operands."""
_SPECIAL: Final = {"inff": "inf", "huge_valf": "inf", "nanf": "nan", "inf": "inf", "huge_val": "inf", "nan": "nan"}

Value = Callable[[Node, ElementType], Expression]


def library(node: Node, name: str, own: bool, value: Value) -> tuple[Expression, ElementType]:
    """A call of the library's function `name`; `own` says that the file defines one of that name, `value` gives an
    argument's value in a type. Raises PL0154, PL0157."""
    if own and (name in CALLS or name in _SPECIAL):
        raise refusals.call(node, own=True)
    if name in _SPECIAL:
        dtype: ElementType = "f32" if name.endswith("f") and name != "inf" else "f64"
        return Constant(float(_SPECIAL[name]), dtype, node.span), dtype
    if name not in CALLS or len(node.inner) - 1 != BY_NAME[CALLS[name][0]].arity:
        raise refusals.call(node)
    operation, dtype = CALLS[name]
    if dtype == "f64" and operation in SINGLE:
        raise _single(node, name)
    operands = tuple([value(argument, dtype) for argument in node.inner[1:]])
    if operation == "pow" and not _is_whole(operands[1]):
        if dtype != "f32" or operands[0] != Constant(2.0, "f32", getattr(operands[0], "span", None)):
            raise _wrong_power(node)
        return Apply("exp2", dtype, operands[1:], node.span), dtype
    return Apply(operation, dtype, operands, node.span), dtype


def _single(node: Node, name: str) -> PolyloomError:
    help = f"call `{name}f`, whose kernel is on the page of C, or write the function out"
    return refuse("PL0154", f"`{name}` computes in double precision, for which there is no kernel of it", node, help)


def _is_whole(exponent: Expression) -> bool:
    """Powers are products: the exponent is a constant integer."""
    if not isinstance(exponent, Constant):
        return False
    return float(exponent.value).is_integer() and abs(exponent.value) <= LARGEST_POWER


def _wrong_power(node: Node) -> PolyloomError:
    help = "write an integer constant as the exponent, 2.0f as the base, `sqrtf` for 0.5, or `expf` of a product"
    message = f"only powers with a constant integer exponent, up to {LARGEST_POWER}, and those of 2 are computed"
    return refuse("PL0157", message, node.inner[2], help)


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
    """The C text `unit` with our kernels in the place of library functions, of which `names` are those that it may
    call: what the array computes is compared with it. Roundings are exact, and need none."""
    needed = {*names, "exp2f"} if "powf" in names else names
    used = [name for name in sorted(CALLS) if name in needed and CALLS[name][0] in (*SINGLE, "pow")]
    macros = [f"#define {name} {prefix}{name}\n#define __builtin_{name} {prefix}{name}" for name in used]
    programs = [program(*CALLS[name]) for name in used if CALLS[name][0] in SINGLE]
    bodies = [_definition(name, prefix) for name in used]
    return "\n".join([*macros, unit, c_helpers(programs, prefix), *bodies, ""]) if used else unit


def _definition(name: str, prefix: str) -> str:
    operation, dtype = CALLS[name]
    if operation == "pow":
        # Powers of 2 are products, too, where the exponent is a whole number of this magnitude: both are exact.
        whole = f"y <= {LARGEST_POWER} && y >= -{LARGEST_POWER} && y == (int)y"
        two = f"  if (x == 2 && !({whole})) return {prefix}exp2f(y);\n" if dtype == "f32" else ""
        return _POWER.format(kind=TYPES[dtype], name=f"{prefix}{name}", two=two)
    return c_text(f"{prefix}{name}", program(operation, dtype), prefix)
