# SPDX-License-Identifier: Apache-2.0
"""Atomic instructions of LLVM's text, `atomicrmw` and `cmpxchg`: an `rmw`, and a `cas` with the comparison that tells
whether it stored (LLVM Language Reference Manual, "Atomic Memory Ordering Constraints").

A `cmpxchg` has two orders, and is as strong as the stronger of them; a weak one, which may fail without a reason, does
not. `nand`, floats and narrow integers stay what they are: a target makes them of what it has.
"""

from __future__ import annotations

from typing import Final, Protocol

from polyloom.frontend.c.llvm_data import legal_operand
from polyloom.frontend.c.llvm_text import Unsupported, Words
from polyloom.ir.ssa import MODIFICATIONS, ORDERS, Access, Operand, Order, Value
from polyloom.ir.ssa_types import I1, Type

# LLVM's signed minimum and maximum have no `s`; `ir.ssa` names both signs.
_NAMES: Final = {"min": "smin", "max": "smax"}


class Emitter(Protocol):
    """Instruction builder, where lowered instructions go: `llvm_lower.Lowering`."""

    def emit(
        self,
        operation: str,
        operands: tuple[Operand, ...],
        name: str,
        type: Type,
        flags: tuple[str, ...] = (),
        access: Access | None = None,
        callee: str = "",
    ) -> Value: ...


def read_modify_write(to: Emitter, name: str, words: Words) -> None:
    """Read-modify-write: `[volatile] add ptr p, i32 v seq_cst, align 4`."""
    is_volatile = bool(words.take("volatile"))
    word = words.pop()
    operation = _NAMES.get(word, word)
    pointer, value = _pointer(words), _value(words)
    access = _read_access(words, is_volatile, "rmw")
    if value.type not in MODIFICATIONS.get(operation, ()):
        raise Unsupported(f"an atomic `{word}` of {value.type}")
    to.emit("rmw", (pointer, value), name, value.type, access=access, callee=operation)


def compare_exchange(to: Emitter, words: Words) -> tuple[Value, Value]:
    """Compare and swap: `[weak] [volatile] ptr p, i32 x, i32 y acq_rel monotonic, align 4` gives what was there, and
    whether that was x (C17, section 7.17.7.4).
    """
    # A strong exchange is one of the behaviours that a weak one may have.
    words.take("weak")
    is_volatile = bool(words.take("volatile"))
    pointer, expected = _pointer(words), _value(words)
    words.expect(",")
    stored = _value(words)
    access = _read_access(words, is_volatile, "cas")
    found = to.emit("cas", (pointer, expected, stored), "", expected.type, access=access)
    return found, to.emit("eq", (found, expected), "", I1)


def _pointer(words: Words) -> Operand:
    pointer, _ = legal_operand(words)
    if pointer.type.element != "ptr" or pointer.type.lanes:
        raise Unsupported(f"an access through a pointer that stands for {pointer.type}")
    words.expect(",")
    return pointer


def _value(words: Words) -> Operand:
    value, width = legal_operand(words)
    if width:
        raise Unsupported(f"a volatile or atomic access of {width} bits")
    return value


def _read_access(words: Words, is_volatile: bool, operation: str) -> Access:
    # Scopes narrower than the system are treated as the system, which is stronger.
    if words.take("syncscope"):
        words.group()
    found: Order = _order(words.pop(), operation)
    if operation == "cas":
        found = _strongest_order(found, _order(words.pop(), operation))
    align = int(words.pop()) if words.take(",") and words.take("align") else 1
    return Access(align, is_volatile, found)


def _order(word: str, operation: str) -> Order:
    found: Order | None = next((order for order in ORDERS[operation] if order == word), None)
    if found is None:
        raise Unsupported(f"the order `{word}`")
    return found


def _strongest_order(success: Order, failure: Order) -> Order:
    """Memory order as strong as both of a `cmpxchg`; that of a failure never releases, because nothing is stored."""
    if "seq_cst" in (success, failure):
        return "seq_cst"
    if failure == "acquire":
        return "acq_rel" if success in ("release", "acq_rel") else "acquire"
    return success
