# SPDX-License-Identifier: Apache-2.0
"""Machine descriptions as TOML files, and the shipped members `paper`, `fau`, `generic`, `unit`, `wide`, `ideal`, `mid`
and `mid16` (docs/machines.md).

The keys of a file are the fields of `Machine`; each functional unit is a `[[unit]]` section. `based_on` names a member
whose values stand for the keys that are not given. A *resolved* text gives every key, so that it reads back to an equal
machine; its hash ties configurations to the machine that they were made for.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Final, cast

from polyloom.diagnostics import PolyloomError, input_error, nearest
from polyloom.ir.numbers import WIDTH
from polyloom.ir.operations import ELEMENT_TYPES, OPERATIONS, STORED, ElementType
from polyloom.machine import stated_figures
from polyloom.machine.members import Members
from polyloom.machine.table import UNLIMITED, Table
from polyloom.targets.tcpa import area_table
from polyloom.targets.tcpa.machine import ACCESSES, Energy, FunctionalUnit, Machine

_MEMBERS: Final = Members(Path(__file__).with_name("machines"), "PL0301", "machine", "machine")
_SCALARS: Final = tuple(
    f.name for f in fields(Machine) if f.name not in ("name", "units", "adjacency", "types", "energy", "area")
)
_KEYS: Final = ("name", "based_on", *_SCALARS, "adjacency", "types", "unit", "energy", "area")
_DEFAULTS: Final[Mapping[str, object]] = {
    "word_bits": 64,
    "bank_halves": 1,
    "dma_words": None,
    "dma_request_cycles": 0,
    "configuration_words": None,
    "clock_mhz": None,
}
"""Keys that a file may leave out."""
_WORD_BITS: Final = (32, 64)
_UNIT_KEYS: Final = ("name", "count", "types", "operations", "latency", "mnemonics", "pipelined")
# A latency of 0 would chain operations within a cycle, which these units cannot.
_LATENCIES: Final = (1, 255)
_MOST_RATE: Final = 1 << 16
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_PORT: Final = re.compile(r"(pe|north|east|south|west)(0|[1-9][0-9]{0,5})")
_EVERY_PAIR: Final = "all"
_BY_NAME: Final = {o.name: o for o in OPERATIONS if o.gives not in STORED}

Latencies = dict[tuple[str, ElementType], int]
_KEPT: Final = 16
"""Machines that are kept, so that every step of a run does not read its machine again."""
_FINGERPRINTS: deque[tuple[Machine, int]] = deque(maxlen=_KEPT)


def members() -> tuple[str, ...]:
    """The names of the shipped machines, sorted."""
    return _MEMBERS.names()


def load(name_or_path: str) -> Machine:
    """Machine of a member's name, or of a file whose name ends in `.toml`. Errors PL0301 to PL0307."""
    return read(*_MEMBERS.find(name_or_path))


def find_table(name_or_path: str) -> Table:
    """Table of a machine's text, for messages that point to its keys. Errors: those of `load`."""
    return _MEMBERS.table(*_MEMBERS.find(name_or_path), _KEYS)


@lru_cache(_KEPT)
def read(text: str, name: str) -> Machine:
    """Machine that `text` describes, which messages call `name` (docs/machines.md). The bounds are those of the words
    in `words/isa.py`.
    """
    table = _MEMBERS.table(text, name, _KEYS)
    machine_name = _name(table, "name")
    channels = table.capacity("channels", 1, 4096)
    # 64 of each file: an instruction names a register in six bits.
    inputs = table.capacity("input_registers", 0, 64)
    outputs = table.capacity("output_registers", 0, 64)
    word_bits = _word_bits(table)
    types = _types_in_words(table, word_bits)
    units = _units(table, types)
    _check_types_have_units(table, types, units)
    return Machine(
        name=machine_name,
        units=units,
        destinations=table.integer("destinations", 1, 15),
        general_registers=table.capacity("general_registers", 0, 64),
        feedback_registers=table.capacity("feedback_registers", 0, 64),
        input_registers=inputs,
        output_registers=outputs,
        fifo_depth=table.capacity("fifo_depth", 1, 1 << 24),
        # Branch targets are 16 bits.
        instruction_words=table.capacity("instruction_words", 1, 1 << 16),
        branch_flags=table.integer("branch_flags", 1, 8),
        channels=channels,
        adjacency=_adjacency(table, channels, inputs, outputs),
        hop_delay=table.integer("hop_delay", 0, 255),
        control_signals=table.capacity("control_signals", 0, 256),
        signal_sets=table.capacity("signal_sets", 1, 1 << 16),
        half_spaces=table.boolean("half_spaces"),
        counter_bits=table.integer("counter_bits", 1, 32),
        generator_dimensions=table.capacity("generator_dimensions", 1, 64),
        delay_bits=table.integer("delay_bits", 1, 32),
        bank_words=table.capacity("bank_words", 1, 1 << 31),
        rows=table.capacity("rows", 1, 4096),
        columns=table.capacity("columns", 1, 4096),
        word_bits=word_bits,
        types=types,
        bank_halves=table.integer("bank_halves", 1, 2) if "bank_halves" in table.content else 1,
        dma_words=_optional_capacity(table, "dma_words"),
        dma_request_cycles=table.integer("dma_request_cycles", 0, _MOST_RATE)
        if "dma_request_cycles" in table.content
        else 0,
        configuration_words=_optional_capacity(table, "configuration_words"),
        clock_mhz=_clock(table),
        energy=_energy(table) if "energy" in table.content else None,
        area=area_table.read_area(table) if area_table.KEY in table.content else None,
    )


def resolve(machine: Machine) -> str:
    """Resolved text: every key of `machine`, equal for equal machines; `read` reads it back."""
    lines = [f"name = {json.dumps(machine.name)}"]
    # Every key, defaults too: equal machines have equal texts, and the fingerprint does not depend on how a file was
    # written. Machines and configurations from before there were certain keys keep their fingerprints: these keys stand
    # where they say something.
    values = {key: getattr(machine, key) for key in _SCALARS}
    lines += [
        f"{key} = {_scalar(value)}" for key, value in values.items() if key not in _DEFAULTS or value != _DEFAULTS[key]
    ]
    lines += [f"types = {json.dumps(machine.types)}"] if machine.types != ELEMENT_TYPES else []
    lines.append(f"adjacency = {json.dumps(_EVERY_PAIR if machine.adjacency is None else machine.adjacency)}")
    for unit in machine.units:
        lines += ["", "[[unit]]", *_unit_lines(unit)]
    lines += [] if machine.energy is None else ["", "[energy]", *_energy_lines(machine.energy)]
    lines += [] if machine.area is None else ["", f"[{area_table.KEY}]", *area_table.area_lines(machine.area)]
    return "\n".join(lines) + "\n"


def fingerprint(machine: Machine) -> int:
    """Machine hash: the first 64 bits of the SHA-256 (FIPS 180-4, 2015) of the resolved text."""
    # By identity: machines have dictionaries, which cannot be keys, and equal ones are mostly the same object.
    known = next((found for other, found in _FINGERPRINTS if other is machine), None)
    if known is None:
        known = int.from_bytes(hashlib.sha256(resolve(machine).encode()).digest()[:8], "little")
        _FINGERPRINTS.append((machine, known))
    return known


def _name(table: Table, key: str) -> str:
    name = table.text(key)
    if not _NAME.fullmatch(name):
        raise _value_error(
            table, f"'{name}' is not a name", "start with a letter; go on with letters, digits, `_` and `-`", key
        )
    return name


def _optional_capacity(table: Table, key: str) -> int | None:
    """Words per cycle: a capacity, by default without limit."""
    return table.capacity(key, 1, _MOST_RATE) if key in table.content else None


def _clock(table: Table) -> float | None:
    """Clock in MHz, which a file states once, here or in `[stated]`. Errors: PL0304, PL0306, PL0307."""
    if "clock_mhz" not in table.content:
        return None
    if stated_figures.parse_stated(table).clock_mhz is not None:
        help = f"leave out the one of [{stated_figures.KEY}]"
        raise _value_error(table, "the clock is stated twice", help, "clock_mhz")
    return stated_figures.positive_number(table, "clock_mhz")


def _energy(table: Table) -> Energy:
    """Energy table: every access, operations, and exceptions from these. Errors: PL0303 to PL0306."""
    section = table.table("energy")
    section.reject_unknown(("source", *ACCESSES, "operation", "operations"))
    exceptions = section.table("operations") if "operations" in section.content else None
    if exceptions is not None:
        exceptions.reject_unknown(_BY_NAME)
    return Energy(
        source=section.text("source"),
        accesses={name: section.number(name, 0) for name in ACCESSES},
        operation=section.number("operation", 0),
        operations={} if exceptions is None else dict(_operation_energies(exceptions)),
    )


def _operation_energies(table: Table) -> Iterator[tuple[str, float]]:
    """A number for all types of an operation, or a table of those of some."""
    for operation, value in table.content.items():
        if isinstance(value, dict):
            by_type = table.table(operation)
            by_type.reject_unknown(_BY_NAME[operation].types)
            yield from ((f"{operation} {dtype}", by_type.number(dtype, 0)) for dtype in by_type.content)
        else:
            yield operation, table.number(operation, 0)


def _energy_lines(energy: Energy) -> Iterator[str]:
    yield f"source = {json.dumps(energy.source)}"
    yield from (f"{name} = {json.dumps(energy.accesses[name])}" for name in ACCESSES)
    yield f"operation = {json.dumps(energy.operation)}"
    whole = {name: json.dumps(value) for name, value in energy.operations.items() if " " not in name}
    parts: dict[str, list[str]] = {}
    for name, value in energy.operations.items():
        if " " in name:
            parts.setdefault(name.split()[0], []).append(f"{name.split()[1]} = {json.dumps(value)}")
    whole |= {name: f"{{ {', '.join(found)} }}" for name, found in parts.items()}
    if whole:
        yield f"operations = {{ {', '.join(f'{name} = {text}' for name, text in sorted(whole.items()))} }}"


def _word_bits(table: Table) -> int:
    """Width of words: 64, unless the file says 32."""
    if "word_bits" not in table.content:
        return 64
    bits = table.integer("word_bits", *_WORD_BITS)
    if bits not in _WORD_BITS:
        # The result of a comparison is an i32.
        raise _value_error(table, f"there are no words of {bits} bits", "write 32 or 64", "word_bits")
    return bits


def _types_in_words(table: Table, word_bits: int) -> tuple[ElementType, ...]:
    """Element types of the machine, in their usual order: by default, those that fit its words."""
    types = _types(table)
    for number, dtype in enumerate(types):
        if "types" in table.content and WIDTH[dtype] > word_bits:
            message = f"{dtype} has {WIDTH[dtype]} bits, and words of this machine have {word_bits}"
            raise _value_error(table, message, "leave out the type, or write `word_bits = 64`", "types", number)
    return tuple(t for t in ELEMENT_TYPES if t in types and WIDTH[t] <= word_bits)


def _check_types_have_units(table: Table, types: tuple[ElementType, ...], units: tuple[FunctionalUnit, ...]) -> None:
    """PL0307 for a type of the machine that none of its units knows."""
    known = {dtype for unit in units for _, dtype in unit.latencies}
    for dtype in types if "types" in table.content else ():
        if dtype not in known:
            help = f"leave out the type, or add {dtype} to the types of a unit"
            number = table.texts("types").index(dtype)
            raise _value_error(table, f"no unit executes anything on {dtype}", help, "types", number)


def _units(table: Table, types: tuple[ElementType, ...]) -> tuple[FunctionalUnit, ...]:
    units: dict[str, FunctionalUnit] = {}
    for section in table.tables("unit"):
        section.reject_unknown(_UNIT_KEYS)
        for unit in _copies(section, types):
            if unit.name in units:
                raise _value_error(
                    section,
                    f"two units are named '{unit.name}'",
                    "give each unit its own name, or one section a `count`",
                    "name",
                )
            units[unit.name] = unit
    # A unit that executes nothing on the machine's types is not there.
    return tuple(unit for unit in units.values() if unit.latencies)


def _copies(section: Table, types: tuple[ElementType, ...]) -> Iterator[FunctionalUnit]:
    """`count` units numbered from 0, or the one unit of that very name."""
    name = _name(section, "name")
    # Each copy is a unit with its own program, not a wider one.
    names = [f"{name}{n}" for n in range(section.integer("count", 1, 64))] if "count" in section.content else [name]
    operations = _operations(section)
    own = set(types).intersection(_types(section))
    latencies = {
        pair: n
        for pair, n in _latencies(section, operations).items()
        if pair[1] in own and _BY_NAME[pair[0]].result(pair[1]) in types
    }
    known = {o for o, _ in latencies}
    mnemonics = {o: o for o in operations} | _mnemonics(section, operations)
    mnemonics = {o: text for o, text in mnemonics.items() if o in known}
    pipelined = section.boolean("pipelined") if "pipelined" in section.content else True
    return (FunctionalUnit(n, latencies, mnemonics, pipelined) for n in names)


def _operations(section: Table) -> tuple[str, ...]:
    operations = section.texts("operations")
    if not operations:
        raise _value_error(
            section, "the unit has no operation", f"name at least one of {', '.join(_BY_NAME)}", "operations"
        )
    for number, operation in enumerate(operations):
        if operation not in _BY_NAME:
            raise _value_error(
                section,
                f"there is no operation '{operation}'",
                nearest(operation, _BY_NAME, "operation"),
                "operations",
                number,
            )
        if operation in operations[:number]:
            raise _value_error(
                section, f"the operation '{operation}' is listed twice", "list it once", "operations", number
            )
    return operations


def _types(section: Table) -> tuple[ElementType, ...]:
    """Element types that a unit or a machine lists; all, where it lists none."""
    if "types" not in section.content:
        return ELEMENT_TYPES
    types = section.texts("types")
    for number, dtype in enumerate(types):
        if dtype not in ELEMENT_TYPES:
            help = nearest(dtype, ELEMENT_TYPES, "element type")
            raise _value_error(section, f"there is no element type '{dtype}'", help, "types", number)
    return cast("tuple[ElementType, ...]", types)


def _latencies(section: Table, operations: tuple[str, ...]) -> Latencies:
    """`latency` is one number for all operations, or a table of exceptions from 1: operation to number, or to a table
    of the element types that the unit knows for it."""
    result: Latencies = {(o, t): 1 for o in operations for t in _BY_NAME[o].types}
    if not isinstance(section.content.get("latency", 1), dict):
        return (
            dict.fromkeys(result, section.integer("latency", *_LATENCIES)) if "latency" in section.content else result
        )
    table = section.table("latency")
    table.reject_unknown(operations)
    for operation in table.content:
        for dtype in _BY_NAME[operation].types:
            # A table of types also says which types the unit knows: those that it leaves out are not executed.
            del result[operation, dtype]
        result |= _operation_latencies(table, operation)
    return result


def _operation_latencies(table: Table, operation: str) -> Latencies:
    types = _BY_NAME[operation].types
    if not isinstance(table.content[operation], dict):
        return dict.fromkeys(((operation, t) for t in types), table.integer(operation, *_LATENCIES))
    by_type = table.table(operation)
    by_type.reject_unknown(types)
    if not by_type.content:
        raise _value_error(
            table,
            f"the unit knows no element type for '{operation}'",
            f"name at least one of {', '.join(types)}",
            operation,
        )
    return {(operation, t): by_type.integer(t, *_LATENCIES) for t in types if t in by_type.content}


def _mnemonics(section: Table, operations: tuple[str, ...]) -> dict[str, str]:
    if "mnemonics" not in section.content:
        return {}
    table = section.table("mnemonics")
    table.reject_unknown(operations)
    return {operation: _name(table, operation) for operation in table.content}


def _adjacency(
    table: Table, channels: int | None, inputs: int | None, outputs: int | None
) -> tuple[tuple[str, str], ...] | None:
    """`"all"`, or pairs [source port, sink port]; a source port `pe` is an output register, a sink port `pe` an input
    register."""
    value = table.content.get("adjacency", _EVERY_PAIR)
    if value == _EVERY_PAIR:
        return None
    pairs = cast("list[object]", value) if isinstance(value, list) else None
    if pairs is None:
        raise table.type_error("adjacency", f'"{_EVERY_PAIR}" or an array of [source, sink] pairs')
    # Seen from the wrapper, the element's output registers are sources and its input registers sinks (section 3.1).
    limits = ({"pe": outputs}, {"pe": inputs})
    return tuple(_pair(table, number, pair, channels, limits) for number, pair in enumerate(pairs))


def _pair(
    table: Table, number: int, pair: object, channels: int | None, limits: tuple[Mapping[str, int | None], ...]
) -> tuple[str, str]:
    ports = cast("list[object]", pair) if isinstance(pair, list) else []
    if len(ports) != 2:
        raise _value_error(
            table, "an adjacency is a pair of ports", 'write for instance ["west0", "pe0"]', "adjacency", number
        )
    for position, (port, limit) in enumerate(zip(ports, limits, strict=True)):
        match = _PORT.fullmatch(port) if isinstance(port, str) else None
        # Sides have as many ports as channels; only the element's own ports have a number of their own.
        bound = limit.get(match[1], channels) if match else None
        if match is None or (bound is not None and int(match[2]) >= bound):
            help = 'write for instance ["west0", "pe0"], within the channels and registers of the machine'
            raise _value_error(
                table, f"{json.dumps(port)} is not a port of this machine", help, "adjacency", number, position
            )
    return cast("tuple[str, str]", tuple(ports))


def _value_error(table: Table, message: str, help: str, key: str, *inner: int) -> PolyloomError:
    return input_error("PL0307", message, span=table.value_span(key, *inner), help=help)


def _scalar(value: float | None) -> str:
    return json.dumps(UNLIMITED if value is None else value)


def _unit_lines(unit: FunctionalUnit) -> list[str]:
    operations = [o.name for o in OPERATIONS if any((o.name, t) in unit.latencies for t in ELEMENT_TYPES)]
    mnemonics = [f"{o} = {json.dumps(unit.mnemonics[o])}" for o in operations if unit.mnemonics[o] != o]
    return [
        f"name = {json.dumps(unit.name)}",
        f"operations = {json.dumps(operations)}",
        f"latency = {{ {', '.join(f'{o} = {_latency(unit, o)}' for o in operations)} }}",
        *([f"mnemonics = {{ {', '.join(mnemonics)} }}"] if mnemonics else []),
        f"pipelined = {json.dumps(unit.pipelined)}",
    ]


def _latency(unit: FunctionalUnit, operation: str) -> str:
    """One number where it holds for every legal type, else a table of types."""
    types = _BY_NAME[operation].types
    known = {t: unit.latencies[operation, t] for t in types if (operation, t) in unit.latencies}
    if len(known) == len(types) and len(set(known.values())) == 1:
        return str(known[types[0]])
    return f"{{ {', '.join(f'{t} = {n}' for t, n in known.items())} }}"
