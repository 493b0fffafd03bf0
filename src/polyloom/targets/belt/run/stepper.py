# SPDX-License-Identifier: Apache-2.0
"""Stepper of the belt machine: the native model, bundle by bundle (`polyloom.targets.stepper`).

Keys are `("op", number)` for values on the belt, whose makers the model tells, and `("byte", address)` for memory.
The state of a run is a net of frames, scopes and values in flight, so that a snapshot is the cycle: to restore it, the
program runs again from its start, natively and without telling anything.
"""

from __future__ import annotations

import struct
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from polyloom._native import belt
from polyloom.frontend.source import Arrays
from polyloom.ir.ssa_interpret import Argument
from polyloom.targets.belt.run import model
from polyloom.targets.belt.words import belt_file
from polyloom.targets.belt.words.conasm import issue_text
from polyloom.targets.belt.words.program import Note, sort_by_slot
from polyloom.targets.provenance import Provenance, place_provenance
from polyloom.targets.stepper import Code, Event, Operand, Region, Snapshot, StoredElement, element_name

_W: Final = 2
"""Width of a w, four bytes."""


class BeltStepper:
    """Stepper of a file with its arguments in the order of the signature; `arrays` are those and scalars by name.
    Errors: those of a run.
    """

    def __init__(self, data: bytes, arrays: Arrays, arguments: Sequence[Argument]) -> None:
        self._parts = belt_file.parts(data)
        self._file = belt_file.read(data)
        self._code = model.decode_parts(self._parts)
        self._arrays = arrays
        self._ranges, self._given = model.place_arguments(self._parts, self._code.parameters, arguments)
        self._initial = [held.copy() for _, held, _ in self._ranges]
        placed = self._ranges[len(self._parts.data) :]
        named = [(name, array) for name, array in arrays.items() if array.ndim]
        self._regions = [
            Region(name, address, array.dtype, array.shape)
            for (name, array), (address, _, _) in zip(named, placed, strict=True)
        ]
        self._texts = dict(_issue_texts(self._file))
        self._native = belt.Stepper(self._code, self._ranges, self._given)
        self._ended = False

    @property
    def cycle(self) -> int:
        return self._native.cycle

    @property
    def is_at_end(self) -> bool:
        return self._ended

    def step(self) -> Sequence[Event]:
        done = self._native.advance(self.cycle + 1)
        if isinstance(done, tuple):
            raise model.fault_error(self._parts.routines, *done)
        self._ended = done
        return tuple(self._event(*each) for each in self._native.operations)

    def save(self) -> Snapshot:
        return Snapshot(64, (self.cycle, self._ended))

    def restore(self, saved: Snapshot) -> None:
        cycle, self._ended = saved.state
        # The model writes to these bytes in place: the memory goes back with them.
        for (_, held, _), initial in zip(self._ranges, self._initial, strict=True):
            held[...] = initial
        self._native = belt.Stepper(self._code, self._ranges, self._given)
        # Operations are numbered though nobody is told, so that makers are as before.
        if cycle:
            self._native.advance(cycle, False)

    def arrays(self) -> Arrays:
        return {name: array.copy() for name, array in self._arrays.items()}

    def registers(self) -> Mapping[str, Mapping[str, str]]:
        # Behind the end no frame is left whose belt could be shown.
        if self._ended:
            return {}
        routine, bundle = self._native.place
        held = {f"b{n}": _value_text(value, "") for n, value in enumerate(self._native.belt)}
        return {self._parts.routines[routine]: {"bundle": str(bundle), **held}}

    def loops(self) -> Sequence[str]:
        return ()

    def code(self) -> Sequence[Code]:
        return [Code(-1, key[0], f"{text}", place) for key, (text, place) in self._texts.items()]

    def _event(
        self,
        number: int,
        routine: int,
        bundle: int,
        slot: str,
        op: str,
        value: belt.Operand,
        operands: Sequence[belt.Operand],
        makers: Sequence[int],
        addresses: Sequence[int],
        size: int,
    ) -> Event:
        name = self._parts.routines[routine]
        text, place = self._texts.get((name, bundle, slot), (op, None))
        keys: list[Hashable | None] = [("op", maker) if maker else None for maker in makers]
        reads = [
            Operand(f"b{n}", _value_text(o, op), key) for n, (o, key) in enumerate(zip(operands, keys, strict=True))
        ]
        stores: tuple[StoredElement, ...] = ()
        writes = [Operand(op, _value_text(value, op), ("op", number))]
        if op.startswith("store"):
            stores = tuple(self._stored_elements(value, addresses, size))
            writes += self._memory_operands(stores, value, addresses, size)
        elif op.startswith("load"):
            reads += [Operand(self._address_name(at), _value_text(value, op), ("byte", at)) for at in addresses[:1]]
        unit = f"{name} {slot}"
        return Event(
            self.cycle, unit, text, -1, place, reads=tuple(reads), writes=tuple(writes), stores=stores,
            result=_result(value, op),
        )  # fmt: skip

    def _lanes(self, value: belt.Operand, addresses: Sequence[int], size: int) -> Iterator[int]:
        """Addresses of the lanes that have been stored."""
        _, lanes, _, states, _ = value
        # One address for all lanes, or one for each that was written.
        if len(addresses) == 1:
            return (addresses[0] + lane * size for lane in range(lanes) if states[lane] == 0)
        return iter(addresses)

    def _stored_elements(self, value: belt.Operand, addresses: Sequence[int], size: int) -> Iterator[StoredElement]:
        for at in self._lanes(value, addresses, size):
            region = next((r for r in self._regions if r.address <= at < r.address + r.size), None)
            if region is not None:
                for _, index in region.elements(at, size):
                    yield StoredElement(region.name, index, self._arrays[region.name][index])

    def _memory_operands(
        self, stores: Sequence[StoredElement], value: belt.Operand, addresses: Sequence[int], size: int
    ) -> Iterator[Operand]:
        """Results in memory: names of elements, and a key for each byte."""
        for stored in stores:
            yield Operand(element_name(stored.array, stored.index), str(stored.value), None)
        for at in self._lanes(value, addresses, size):
            for n in range(size):
                yield Operand(self._address_name(at), _value_text(value, "store"), ("byte", at + n))

    def _address_name(self, address: int) -> str:
        for region in self._regions:
            if region.address <= address < region.address + region.size:
                return element_name(region.name, region.elements(address, 1)[0][1])
        return f"[{address:#x}]"


def _issue_texts(file: belt_file.File) -> Iterator[tuple[tuple[str, int, str], tuple[str, Provenance | None]]]:
    """By routine, bundle and slot: the text of an operation, and its place."""
    for routine in file.program.routines:
        for n, bundle in enumerate(routine.bundles):
            issues, notes = sort_by_slot(bundle)
            for issue, note in zip(issues, notes or (Note(),) * len(issues), strict=True):
                place = place_provenance(note.place)
                yield (routine.name, n, str(issue.slot)), (issue_text(issue, note), place)


def _result(value: belt.Operand, op: str) -> Any:
    """Value as a NumPy scalar, or its lanes: floats where an operation of floats made them; None of Nones and NaRs."""
    width, lanes, data, states, _ = value
    if width < 0 or any(states[:lanes]):
        return None
    size = 1 << width
    kind = "f" if op.endswith("f") and size in (4, 8) else "i"
    if size > 8:
        return None  # wider than NumPy's integers
    found = np.frombuffer(data[: lanes * size], f"<{kind}{size}")
    return found[0] if lanes == 1 else found


def _value_text(value: belt.Operand, op: str) -> str:
    """Lanes as numbers; Nones and NaRs by name. Four bytes are shown as an integer and as a float, for the belt has no
    types.
    """
    width, lanes, data, states, _ = value
    size = 1 << max(width, 0)
    found = list[str]()
    for lane in range(min(lanes, 8)):
        part = data[lane * size : (lane + 1) * size]
        if states[lane] or width < 0:
            found.append("None" if width < 0 or states[lane] == 1 else "NaR")
        elif width == _W and (op.endswith("f") or op.startswith(("store", "load", "fill"))):
            found.append(str(np.float32(struct.unpack("<f", part)[0])))
        else:
            found.append(str(int.from_bytes(part, "little", signed=True)))
    return " ".join([*found, *(["..."] if lanes > 8 else [])])
