# SPDX-License-Identifier: Apache-2.0
"""Machine descriptions of the belt family: slots, latencies, belt, scratchpad, retire stations (docs/targets/belt.md,
Members).

A member is a TOML text; `based_on` names a shipped member whose values stand for the keys that are not given. The
resolved text gives every key and reads back to an equal machine; it travels in every program. Latencies are keys of
`isa.Op.latency`; operations of the phases R, K and P drop in their own bundle and have none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, cast, get_args

from polyloom.diagnostics import PolyloomError, input_error, nearest
from polyloom.machine.members import Members
from polyloom.machine.table import Table
from polyloom.targets.belt.isa import BY_WIDTH, OPS, Op, Unit
from polyloom.targets.belt.value_types import BYTES, Width

# Part of the word format: the index of a letter is the `kind` field of an operation's word (docs/formats.md).
KINDS: Final = "EFRPWL"
"""Kinds of slots, in the order of words."""
_MEMBERS: Final = Members(Path(__file__).with_name("machines"), "PL1000", "belt machine")
LATENCIES: Final = (
    *("alu", "compare", "smear", "shuffle", "widen", "widenv"),
    *("shift", "mul", "float", "fused", "div"),
)
"""The keys of latency that a member gives."""
# Only the divider is not pipelined; every other unit accepts an operation per bundle.
_BUSY: Final = ("div",)
_KEYS: Final = (
    *("name", "based_on", "belt", "scratch", "vector", "phasing", "load", "stations"),
    *("lacks", "fuses", "free_loop", "slots", "latency", "busy"),
)
# Slots of these kinds differ in nothing, so that a number says all.
_COUNTED: Final[Mapping[str, tuple[str, Unit]]] = {
    "R": ("fills", "fill"),
    "P": ("picks", "pick"),
    "W": ("spills", "spill"),
}
"""Kinds of slots that are alike and given by their number."""
# `legalize` writes these as compares, shifts and picks; only single operations, never a whole unit, can be missing.
_REPLACED: Final = frozenset({"mins", "maxs", "minu", "maxu", "abs", "clz", "ctz", "pop", "bswap", "rotl"})
"""Single operations that other ones can stand for, so that a member may lack them."""
_NEEDED: Final[tuple[Unit, ...]] = (
    "alu",
    "shift",
    "mul",
    "shuf",
    "ls",
    "control",
    "con",
    "conform",
    "fill",
    "pick",
    "spill",
)
"""Units that every member has: what has no slot on it could not be replaced by anything."""
FUSED: Final = frozenset({"muladd", "shladd", "shrsadd"})
"""What members that fuse execute."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Issue slot of a member: `E` 0, `F` 2, `R` 0 (fills), `P` 1 (pick, recur), `W` 0 (spills); `L` on members whose
    counted loops are free: `L0` the counter, `L1` its test, `L2` the leave."""

    kind: str
    number: int

    def __str__(self) -> str:
        return f"{self.kind}{self.number}"

    @property
    def order(self) -> tuple[int, int]:
        """Sort key of issues in a bundle's words, and of results that drop together after equal latencies
        (docs/formats.md)."""
        return KINDS.index(self.kind), self.number


LOOP_SLOTS: Final = (Slot("L", 0), Slot("L", 1), Slot("L", 2))
"""With `free_loop`: the slots of a counted loop's counter (add, sub), test (a comparison) and leave."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Machine description of a member. `belt`: operands it holds; `scratch`, `vector` in bytes; `load`: least and most
    delay of a load, in bundles; `stations`: loads in flight.

    `latencies` and `busies` are by key of `isa.Op.latency` and width. `lacks` names operations that no slot executes
    (`mul.d`: of that width). `fuses`: `FUSED` operations, on integers. `free_loop`: `LOOP_SLOTS` are there.
    """

    name: str
    belt: int
    scratch: int
    vector: int
    phasing: bool
    load: tuple[int, int]
    stations: int
    slots: tuple[tuple[Slot, frozenset[Unit]], ...]
    latencies: Mapping[str, Mapping[Width, int]]
    busies: Mapping[str, int]
    lacks: frozenset[str]
    fuses: bool
    free_loop: bool

    def unit_slots(self, unit: Unit) -> tuple[Slot, ...]:
        """Slots that execute a unit's operations, in the order of words; without `LOOP_SLOTS`."""
        return tuple(slot for slot, units in self.slots if unit in units)

    def issue_slots(self, op: Op) -> tuple[Slot, ...]:
        """Every slot in which a word may have `op`, `LOOP_SLOTS` included."""
        free = {"counter": 0, "compare": 1, "leave": 2}
        # A hardware loop's three steps are known by their operation: count, compare, leave. Which of several adds is
        # the counter is the scheduler's choice.
        role = "counter" if op.name in ("add", "sub") else "leave" if op.name.startswith("leave") else op.latency
        return self.unit_slots(op.unit) + ((LOOP_SLOTS[free[role]],) if self.free_loop and role in free else ())

    def latency(self, op: Op, width: Width = "w") -> int:
        """Latency in bundles until the drop, counted from 1 for the bundle of issue in phase C; 0 for the phases R, K
        and P (docs/targets/belt.md, Time).

        `width` is that of the first operand. Without phasing every result drops at the end of its bundle: at least 1.
        """
        found = self.latencies[op.latency][width] if op.latency in self.latencies else 0
        return max(found, 0 if self.phasing else 1)

    def busy(self, op: Op, width: Width = "w") -> int:
        """Bundles for which an operation holds its slot (reservation, Rau 1994); 1 for what is pipelined."""
        return self.busies.get(op.latency, 1)

    def supports(self, name: str, width: Width = "w") -> bool:
        """Whether a slot executes the operation on operands of the width."""
        lacking = name in self.lacks or f"{name}.{width}" in self.lacks or (name in FUSED and not self.fuses)
        # `mul.d` in `lacks` stands for all seven modes of overflow: they share one multiplier.
        family = OPS[name].unit == "mul" and f"mul.{width}" in self.lacks
        return not lacking and not family and bool(self.unit_slots(OPS[name].unit))

    @property
    def description(self) -> str:
        """Resolved description, a TOML text that gives every key."""
        return resolve(self)

    @property
    def fingerprint(self) -> int:
        """64 bits of the SHA-256 of the resolved text: stamped on programs, so that none runs on another member
        (docs/formats.md)."""
        return int.from_bytes(hashlib.sha256(self.description.encode()).digest()[:8], "little")


def members() -> tuple[str, ...]:
    """Names of the shipped members, sorted."""
    return _MEMBERS.names()


@cache
def member(name: str, phasing: bool | None = None) -> Machine:
    """Shipped member of a name, its phasing as given; error PL1000."""
    machine = read(*_MEMBERS.find(name))
    return machine if phasing is None else replace(machine, phasing=phasing)


def load(name_or_path: str, phasing: bool | None = None) -> Machine:
    """Machine by a member's name, or from a file whose name ends in `.toml`. Errors: PL1000, and those of `read`."""
    if not name_or_path.endswith(".toml"):
        return member(name_or_path, phasing)
    machine = read(*_MEMBERS.find(name_or_path))
    return machine if phasing is None else replace(machine, phasing=phasing)


@lru_cache(64)
def read(text: str, name: str) -> Machine:
    """Member that a TOML `text` describes; messages call the text `name`. Errors PL0302 to PL0306, PL1000 to PL1002."""
    # Kept by text: each use of a program reads the description in its file.
    table = _MEMBERS.table(text, name, _KEYS)
    machine = Machine(
        name=table.text("name"),
        # A position is a field of 6 bits, and items of lists from 63 on are refused (docs/formats.md, Belt words).
        belt=table.integer("belt", 4, 62),
        scratch=table.integer("scratch", 0, 1 << 16),
        vector=_power(table, "vector", 8, 128),
        phasing=table.boolean("phasing"),
        load=_delays(table),
        stations=table.integer("stations", 1, 255),
        slots=_slots(table),
        latencies=_latencies(table),
        busies=_busies(table),
        lacks=_lacks(table),
        fuses=table.boolean("fuses"),
        free_loop=table.boolean("free_loop"),
    )
    _check_units(table, machine)
    return machine


def resolve(machine: Machine) -> str:
    """Resolved description: the text that gives every key; `read` makes an equal machine of it. Sorted, so that equal
    machines have equal fingerprints."""
    lines = [
        f"name = {json.dumps(machine.name)}",
        *(f"{key} = {getattr(machine, key)}" for key in ("belt", "scratch", "vector")),
        f"phasing = {json.dumps(machine.phasing)}",
        f"load = {list(machine.load)}",
        f"stations = {machine.stations}",
        f"lacks = {json.dumps(sorted(machine.lacks))}",
        f"fuses = {json.dumps(machine.fuses)}",
        f"free_loop = {json.dumps(machine.free_loop)}",
        *("", "[slots]"),
        *(f"{slot} = {json.dumps(sorted(units))}" for slot, units in machine.slots if slot.kind in "EF"),
        *(f"{kind} = {sum(slot.kind == kind for slot, _ in machine.slots)}" for kind in _COUNTED),
        *("", "[latency]"),
        *(f"{key} = {_width_table(key, machine.latencies[key])}" for key in LATENCIES),
        *("", "[busy]"),
        *(f"{key} = {machine.busies[key]}" for key in _BUSY),
    ]
    return "\n".join(lines) + "\n"


def _power(table: Table, key: str, least: int, most: int) -> int:
    """Power of two of a key, within its range; PL1001."""
    value = table.integer(key, least, most)
    if value & (value - 1):
        raise _contradiction(
            table, f"'{key}' is {value}, which is no power of two", f"write {1 << value.bit_length()}", key
        )
    return value


def _delays(table: Table) -> tuple[int, int]:
    """Load delays, the least and the most, in bundles: 1 to 63 (a field of 6 bits); PL1001."""
    value = table.content.get("load")
    items = cast("list[object]", value) if isinstance(value, list) else []
    if len(items) != 2 or not all(type(item) is int for item in items):
        raise (
            table.type_error("load", "an array of two integers")
            if "load" in table.content
            else _missing_load_error(table)
        )
    least, most = cast("list[int]", items)
    if not 1 <= least <= most <= 63:
        help = "write the least and the most delay of a load, such as [3, 20]: from 1 to 63, the least first"
        raise _contradiction(table, f"no load has a delay from {least} to {most}", help, "load")
    return least, most


def _missing_load_error(table: Table) -> PolyloomError:
    return input_error("PL0305", "the key 'load' is missing", span=table.span(), help="add `load = [3, 20]`")


def _slots(table: Table) -> tuple[tuple[Slot, frozenset[Unit]], ...]:
    """Slot table: named E and F slots with their units, then the counted ones. Errors: PL1001."""
    section = table.table("slots")
    section.reject_unknown((*(f"{kind}{n}" for kind in "EF" for n in range(16)), *_COUNTED))
    named = [_slot(section, f"{kind}{n}") for kind in "EF" for n in range(16) if f"{kind}{n}" in section.content]
    counted = [
        (Slot(kind, n), frozenset((unit,)))
        for kind, (_, unit) in _COUNTED.items()
        for n in range(section.integer(kind, 1, 16))
    ]
    return (*named, *counted)


def _slot(section: Table, name: str) -> tuple[Slot, frozenset[Unit]]:
    """Slot of a name with its units; PL1001 for a unit that no slot has."""
    units = section.texts(name)
    known = tuple(unit for unit in get_args(Unit) if unit not in ("fill", "pick", "spill"))
    for number, unit in enumerate(units):
        if unit not in known:
            span = section.value_span(name, number)
            raise input_error("PL1001", f"no slot has the unit '{unit}'", span=span, help=nearest(unit, known, "unit"))
    return Slot(name[0], int(name[1:])), frozenset(cast("tuple[Unit, ...]", units))


def _latencies(table: Table) -> dict[str, dict[Width, int]]:
    section = table.table("latency")
    section.reject_unknown(LATENCIES)
    return {key: _latency(section, key) for key in LATENCIES}


def _latency(section: Table, key: str) -> dict[Width, int]:
    """Latency of a key per width: one number, or for `BY_WIDTH` a table of one for each width."""
    if key in BY_WIDTH and isinstance(section.content.get(key), dict):
        table = section.table(key)
        table.reject_unknown(BYTES)
        return {width: table.integer(width, 1, 63) for width in BYTES}
    # One number stands for every width, so that `Machine.latency` need not ask which form was written.
    return dict.fromkeys(BYTES, section.integer(key, 1, 63))


def _busies(table: Table) -> dict[str, int]:
    section = table.table("busy")
    section.reject_unknown(_BUSY)
    return {key: section.integer(key, 1, 63) for key in _BUSY}


def _lacks(table: Table) -> frozenset[str]:
    """Names of operations that a member lacks; PL1002 for one that nothing can replace."""
    names = table.texts("lacks")
    # Only what `legalize` or `emulate` can expand may be missing: other operations have no replacement.
    known = (*sorted(_REPLACED), *(f"{op}.{width}" for op in ("mul", "shl", "shrs", "shru") for width in BYTES))
    for number, name in enumerate(names):
        if name not in known:
            help = nearest(name, known, "operation")
            span = table.value_span("lacks", number)
            raise input_error("PL1002", f"no member can do without '{name}'", span=span, help=help)
    return frozenset(names)


def _check_units(table: Table, machine: Machine) -> None:
    """Check that every operation without a replacement has a slot; PL1002."""
    section = table.table("slots")
    for unit in _NEEDED:
        if not machine.unit_slots(unit):
            names = ", ".join(op.name for op in OPS.values() if op.unit == unit)
            help = f'add "{unit}" to a slot, such as F0 = ["{unit}"]'
            raise input_error("PL1002", f"no slot executes {names}", span=section.span(), help=help)


def _contradiction(table: Table, message: str, help: str, key: str) -> PolyloomError:
    return input_error("PL1001", message, span=table.value_span(key), help=help)


def _width_table(key: str, latencies: Mapping[Width, int]) -> str:
    if key not in BY_WIDTH or len(set(latencies.values())) == 1:
        return str(latencies["w"])
    return f"{{ {', '.join(f'{width} = {n}' for width, n in latencies.items())} }}"
