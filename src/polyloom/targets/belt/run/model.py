# SPDX-License-Identifier: Apache-2.0
"""Belt model, native (native/belt/model.hpp): runs programs one bundle per cycle, and notices every fault of the
machine (docs/targets/belt.md, Time and In detail).

The model sees what the words say, a table of latencies, and ranges of memory: the program's data and, behind them, the
arrays that are given, each exactly as long as it is. Nothing of the compiler reaches it. A fault names routine, bundle,
slot and operation (PL1050 to PL1058).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from polyloom._native import belt
from polyloom.diagnostics import PolyloomError, input_error
from polyloom.targets.activity import Activity, Group, natural_key
from polyloom.targets.belt.words import belt_file, layout
from polyloom.targets.belt.words.belt_file import Parts
from polyloom.targets.belt.words.semantics import Lanes, NaR, float_bits
from polyloom.targets.trace import Deferred

Argument = int | float | NDArray[Any]
CYCLES: Final = 10**9
# Every event keeps a value, so that a long run would fill the memory.
TRACED: Final = 1 << 19
"""Events that a trace keeps with their values. What is busy when is kept of all."""
_HEAD: Final = 14
"""Bytes of the section about the member before its latencies."""
# The order is that of the model's enumeration: a NaR's payload carries the number, not the text.
_CAUSES: Final = (
    *("", "overflow", "division by zero", "a load outside of every array"),
    "a float that no integer of the width is near",
)
_FAULTS: Final = tuple(f"PL{1050 + n}" for n in range(9))
_AGAIN: Final = "compile the function again; if the words were written by hand, look at this operation"
_HELP: Final[Mapping[str, str]] = {
    "PL1054": "check the sizes and the divisors that the source uses",
    "PL1055": "let the routine return before it calls itself",
    "PL1057": "give larger arrays, or correct the bounds in the source",
}


@dataclass(frozen=True, slots=True)
class Event:
    """Trace event: an operation gave (or a store or spill took) a value. `cycle` counts from 1."""

    cycle: int
    routine: str
    bundle: int
    slot: str
    op: str
    value: Lanes


@dataclass(frozen=True, slots=True)
class Run:
    """Result of a run. `results` are those of retn, the first one first, lane by lane: bits, None or NaR.

    `high_water` is the number of belt positions that were needed, `stations` of loads in flight at once, `depth` of
    calls. `executed` counts bundles, by routine and bundle; `taken` transfers and calls that happened, by routine,
    bundle and slot. Of a run that was traced, `events` are the first ones, up to cycle `noted_to`, `noted` counts all,
    `activity` has all. `over_time` has executions of all bundles at multiples of `step`, of a run with an account.
    """

    results: tuple[Lanes, ...]
    cycles: int
    operations: int
    high_water: int
    stations: int
    spills: int
    fills: int
    depth: int
    events: Sequence[Event]
    noted: int
    noted_to: int
    activity: Activity | None
    executed: Mapping[str, tuple[int, ...]]
    step: int
    over_time: NDArray[np.int64]
    taken: Mapping[tuple[str, int, str], int]


def run(
    data: bytes, arguments: Sequence[Argument], *, max_cycles: int = CYCLES, trace: bool = False, account: bool = False
) -> Run:
    """Run a `.belt` file; arrays are changed in place, read-only ones in a copy. Errors: of the file, PL1005, PL1050 to
    PL1060."""
    parts = belt_file.parts(data)
    code = decode_parts(parts)
    ranges, given = place_arguments(parts, code.parameters, arguments)
    ended = code.run(ranges, given, max_cycles, TRACED if trace else 0, account)
    if isinstance(ended, tuple):
        raise fault_error(parts.routines, *ended)
    if not ended["returned"]:
        message = f"the run did not finish within {max_cycles} bundles"
        raise input_error("PL1059", message, help="give smaller inputs, or a larger --max-cycles")
    return _make_run(parts.routines, ended)


def decode_parts(parts: Parts) -> belt.Code:
    """Program as the model has it, decoded from a file's sections. Errors: PL1005."""
    head = parts.machine[:_HEAD]
    if len(head) < _HEAD:
        raise _format_error("the section about the member is cut off")
    scratch = int.from_bytes(head[8:12], "little")
    # One byte each, as docs/formats.md lays out the section about the member.
    belt_length, vector, phasing, least, most, stations = head[:6]
    latencies = parts.machine[_HEAD:]
    try:
        return belt.Code(belt_length, vector, bool(phasing), least, most, stations, scratch, latencies, parts.code)
    except belt.Malformed as error:
        raise _format_error(str(error)) from None


def _format_error(message: str) -> PolyloomError:
    return input_error("PL1005", f"malformed code: {message}", help="compile the function again with this version")


def place_arguments(
    parts: Parts, parameters: Sequence[tuple[int, int]], arguments: Sequence[Argument]
) -> tuple[list[tuple[int, NDArray[np.uint8], bool]], list[belt.Operand]]:
    """Memory ranges of data and arrays, with the argument block filled, and the arguments on the belt as operands. The
    same array twice is one range."""
    passed = (*parameters, *((width, 1) for width in parts.arguments))
    if len(passed) != len(arguments):
        raise _misfit(f"the routine takes {len(passed)} and gets {len(arguments)} arguments")
    ranges = [(at, np.frombuffer(bytearray(initial), np.uint8), not constant) for at, initial, constant in parts.data]
    # Behind the program's own data, with the same gap: no access reaches from one object into the next.
    free = max((at + len(initial) + layout.GAP for at, initial, _ in parts.data), default=layout.BASE)
    known: dict[int, int] = {}
    given: list[belt.Operand] = []
    for number, ((width, lanes), argument) in enumerate(zip(passed, arguments, strict=True)):
        # By identity, so that two pointers to one array alias, as they do in C.
        if isinstance(argument, np.ndarray) and id(argument) not in known:
            known[id(argument)] = free = -(-free // layout.GAP) * layout.GAP
            ranges.append((free, _array_bytes(number, argument), True))
            free += argument.nbytes + layout.GAP
        if free > 1 << 32:
            needed = sum({id(a): a.nbytes for a in arguments if isinstance(a, np.ndarray)}.values())
            raise _misfit(f"the arrays need {needed} bytes, and addresses of 32 bits reach {1 << 32}")
        bits = known[id(argument)] if isinstance(argument, np.ndarray) else _scalar_bits(number, width, argument)
        # A scalar for a parameter with lanes is in all of them.
        data = (bits % (1 << (8 << width))).to_bytes(1 << width, "little") * lanes
        given.append((width, lanes, data, [0] * lanes, [0] * lanes))
    if parts.arguments:
        _, block, _ = ranges[len(parts.data) - 1]
        words = [data.ljust(layout.ARGUMENT_BYTES, b"\0") for _, _, data, _, _ in given[len(parameters) :]]
        block[:] = np.frombuffer(b"".join(words), np.uint8)
    return ranges, given[: len(parameters)]


def _array_bytes(number: int, array: NDArray[Any]) -> NDArray[np.uint8]:
    """Bytes of an array, in place; the model copies a read-only one when it is first stored to."""
    if not array.flags.c_contiguous:
        raise _misfit(f"argument {number} is an array that is not contiguous")
    return array.reshape(-1).view(np.uint8)


def _scalar_bits(number: int, width: int, argument: float) -> int:
    if isinstance(argument, int | np.integer):
        return int(argument)
    if width not in (2, 3):
        raise _misfit(f"argument {number} is a float, but the parameter has {1 << width} bytes")
    return float_bits(float(argument), 8 << width)


def _misfit(message: str) -> PolyloomError:
    return input_error("PL1060", message, help="give one argument per parameter, contiguous arrays for addresses")


def fault_error(
    names: Sequence[str],
    number: int,
    routine: int,
    bundle: int,
    slot: str | None,
    op: str | None,
    cycle: int,
    what: str,
) -> PolyloomError:
    """Error of a machine fault, with its place: routine, bundle, slot, operation and cycle."""
    code = _FAULTS[number]
    place = "".join(f", {part}" for part in (slot and f"{slot} {op}",) if part)
    message = f"{_name(names, routine)}, bundle {bundle}{place}: {what} (cycle {cycle})"
    return input_error(code, message, help=_HELP.get(code, _AGAIN))


def _name(names: Sequence[str], routine: int) -> str:
    return names[routine] if routine < len(names) else f"r{routine}"


def operand_lanes(operand: belt.Operand) -> Lanes:
    """Lanes of a model's operand in the form of `semantics`; one without a shape is one None."""
    width, lanes, data, states, why = operand
    size = 1 << max(width, 0)
    numbers = [int.from_bytes(data[k * size : (k + 1) * size], "little") for k in range(lanes)]
    return tuple(
        # States: 0 data, 1 None, 2 NaR, whose payload has the cause above the bundle's 24 bits.
        None if state == 1 else NaR(f"{_CAUSES[cause >> 24]} in bundle {cause & 0xFFFFFF}") if state == 2 else bits
        for bits, state, cause in zip(numbers, states, why, strict=True)
    )


def _make_run(names: Sequence[str], ended: Mapping[str, Any]) -> Run:
    """Result of a run, from the values of the native model."""
    counters = {
        key: int(ended[key]) for key in ("cycles", "operations", "high_water", "stations", "spills", "fills", "depth")
    }
    record = cast("belt.Record", ended["record"])
    executed = _routine_counts(names, ended["executed"])
    step, counts = cast("tuple[int, bytes]", ended["over_time"])
    return Run(
        results=tuple(operand_lanes(r) for r in cast("list[belt.Operand]", ended["results"])),
        events=Deferred(lambda: (_event(names, record[n]) for n in range(len(record))), len(record)),
        noted=record.total,
        noted_to=record[len(record) - 1][0] if len(record) else 0,
        activity=_activity(names, record),
        executed=executed,
        step=step,
        over_time=np.frombuffer(counts, np.int64).reshape(-1, sum(map(len, executed.values()))),
        taken={
            (_name(names, r), b, s): n for r, b, s, n in cast("Iterable[tuple[int, int, str, int]]", ended["transfers"])
        },
        **counters,
    )


def _event(names: Sequence[str], told: tuple[int, int, int, str, str, belt.Operand]) -> Event:
    cycle, routine, bundle, slot, op, value = told
    return Event(cycle, _name(names, routine), bundle, slot, op, operand_lanes(value))


def _activity(names: Sequence[str], record: belt.Record) -> Activity | None:
    """Slot activity: a group per routine, a lane per slot."""
    found = {(_name(names, r), slot): bits for r, slot, bits in record.busy()}
    lanes: dict[str, list[str]] = {}
    for routine, slot in sorted(found, key=lambda pair: (natural_key(pair[0]), natural_key(pair[1]))):
        lanes.setdefault(routine, []).append(slot)
    # One bit per step of cycles; rows of slots that were idle at the end are shorter.
    width = -(-record.cycles // (8 * record.step))
    rows = [found[routine, slot].ljust(width, b"\0") for routine, own in lanes.items() for slot in own]
    groups = tuple(Group(routine, tuple(own)) for routine, own in lanes.items())
    return Activity(groups, record.cycles, b"".join(rows), record.step) if groups else None


def _routine_counts(names: Sequence[str], counts: Sequence[Sequence[int]]) -> dict[str, tuple[int, ...]]:
    return {_name(names, n): tuple(of) for n, of in enumerate(counts)}
