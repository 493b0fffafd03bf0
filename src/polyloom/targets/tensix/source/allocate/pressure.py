# SPDX-License-Identifier: Apache-2.0
"""Register pressure diagnostic (PL1280): where most values are live, which ones with their lines and uses that are
left, and what costs least to change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from polyloom.diagnostics import INFEASIBLE, PolyloomError
from polyloom.ir.ssa import NOWHERE, Place
from polyloom.targets.tensix.source.allocate.code import FIRST_VARIABLE, RAW, Code, Item, Op, Register
from polyloom.targets.tensix.source.allocate.interference import ALLOCATED, live_out_sets, members, walk_backwards
from polyloom.targets.tensix.source.locate import make_diagnostic

_MOST_TOLD = 12


@dataclass(frozen=True, slots=True)
class _Live:
    """A live value at the point of highest pressure: what made it, and the lines of its uses from there on."""

    register: Register
    name: str
    made: Op | None
    uses: tuple[int, ...]
    is_changed: bool
    """Whether what it was loaded from may hold something else now."""


def pressure_error(code: Code, variables: Mapping[str, str]) -> PolyloomError:
    """Error PL1280 at the point of highest pressure; `variables` are the source's names by names of values."""
    block, at, count = _pressure_peak(code)
    items = code.items[block]
    op = items[at] if items else None
    place = op.place if isinstance(op, Op) else NOWHERE
    alive = next((bits for k, _, bits in walk_backwards(items, live_out_sets(code)[block]) if k == at), 0)
    values = [_live_value(code, block, at, register, variables) for register in members(alive)]
    notes = [_value_note(value, place) for value in values[:_MOST_TOLD]]
    message = f"{count} values are live at once here, and a kernel has {ALLOCATED} registers"
    found = make_diagnostic("PL1280", message, place, exit_code=INFEASIBLE, notes=notes, help=_suggest_changes(values))
    return PolyloomError(found)


def _pressure_peak(code: Code) -> tuple[int, int, int]:
    """Point of highest pressure: block, position, and as many values as are live there at least."""
    best = (0, 0, 0)
    for block, (items, after) in enumerate(zip(code.items, live_out_sets(code), strict=True)):
        for at, op, alive in walk_backwards(items, after):
            # Results need registers even where nothing reads them.
            live = (alive | sum(1 << r for r in set(op.writes))).bit_count()
            if live > best[2]:
                best = (block, at, live)
    return best


def _live_value(code: Code, block: int, at: int, register: Register, variables: Mapping[str, str]) -> _Live:
    made = _defining_op(code, block, at, register)
    uses = tuple(_use_lines(code.items[block][at + 1 :], register))
    name = "" if made is None else next((variables[word] for word in made.note.split(", ") if word in variables), "")
    return _Live(register, name, made, uses, made is None or _source_may_change(code.items[block][: at + 1], made))


def _source_may_change(items: Sequence[Item], load: Op) -> bool:
    """Whether a store, or a word that is not looked at, stands behind a load; so of one in another block."""
    behind = items[items.index(load) + 1 :] if load in items else ()
    address = load.immediate("dest_reg_addr")
    for item in behind:
        if not isinstance(item, Op) or item.shape is RAW:
            return True
        if item.shape.name == "SFPSTORE" and item.immediate("dest_reg_addr") in (None, address):
            return True
    return load not in items or address is None


def _defining_op(code: Code, block: int, at: int, register: Register) -> Op | None:
    """Definition of a register: what wrote it last, or at all."""
    before = [i for i in code.items[block][: at + 1] if isinstance(i, Op) and register in i.writes]
    anywhere = (i for items in code.items for i in items if isinstance(i, Op) and register in i.writes)
    return before[-1] if before else next(anywhere, None)


def _use_lines(items: Sequence[Item], register: Register) -> Iterator[int]:
    """Lines of uses, up to where the register is written anew."""
    for item in items:
        if isinstance(item, Op):
            if register in item.operands or register in item.kept:
                yield item.place.line
            # An instruction that keeps disabled lanes reads the register, so that the life goes on.
            if register in item.writes and register not in item.reads:
                return


def _value_note(value: _Live, here: Place) -> str:
    what = f"'{value.name}'" if value.name else "l_reg" if value.register < FIRST_VARIABLE else _kind(value)
    place = NOWHERE if value.made is None else value.made.place
    where = f" of {place.words(here.file)}" if place.line else ""
    lines = ", ".join(map(str, dict.fromkeys(value.uses)))
    left = f"{len(value.uses)} use{'s' if len(value.uses) != 1 else ''} left, line {lines}" if lines else "used later"
    return f"{what}{where}: {left}"


def _kind(value: _Live) -> str:
    if _is_constant(value):
        return "a constant"
    return "a value of dst_reg" if _is_reloadable(value) else "an intermediate value"


def _is_constant(value: _Live) -> bool:
    return value.made is not None and value.made.shape.row_name == "SFPLOADI"


def _is_reloadable(value: _Live) -> bool:
    return value.made is not None and value.made.shape.name == "SFPLOAD" and not value.is_changed


def _suggest_changes(values: Sequence[_Live]) -> str:
    """Help: what can be had again for one instruction comes first; then what is used last."""
    cures: list[str] = []
    loaded = [value for value in values if _is_reloadable(value)]
    constants = [value for value in values if _is_constant(value)]
    if loaded:
        cures.append(f"read {_value_names(loaded)} from `dst_reg` again where {_usage_phrase(loaded)}")
    if constants:
        cures.append(f"write {_value_names(constants)} where {_usage_phrase(constants)}, or use programmable constants")
    others = [value for value in values if value.uses and value not in (*loaded, *constants)]
    if others:
        last = max(others, key=lambda value: value.uses[0])
        cures.append(f"compute {_value_names([last])} later, it is not needed before line {last.uses[0]}")
    cures.append("allow `--spill ROW:ROW` with `--dest 32`")
    return "; ".join(cures)


def _usage_phrase(values: Sequence[_Live]) -> str:
    return "it is used" if len(values) == 1 else "they are used"


def _value_names(values: Sequence[_Live]) -> str:
    named = [f"'{value.name}'" for value in values if value.name]
    if named:
        return ", ".join(named)
    lines = sorted({value.made.place.line for value in values if value.made is not None})
    return f"the value of line {lines[0]}" if lines else "a value"
