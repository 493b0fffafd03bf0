# SPDX-License-Identifier: Apache-2.0
"""Memory layout of a program: where its data and functions are in the interpreter's memory.

A function whose address is taken has one of its own, at which no byte can be accessed. Pointers that a datum contains
are written when all have their places, as a linker does (relocation).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from polyloom.ir.ssa import Function, mentioned_addresses
from polyloom.ir.ssa_memory import Memory

_ALIGNMENT = 16
"""Of functions: the low bits of their addresses are free, as some programs have it."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Addresses by name, and functions by address."""

    addresses: Mapping[str, int]
    entries: Mapping[int, Function]


def address_taken(function: Function) -> tuple[Function, ...]:
    """The functions of the program whose address is taken, in the order of the program."""
    names = {address.name for member in function.program for address in mentioned_addresses(member)}
    names |= {address.name for datum in function.data for _, address in datum.addresses}
    return tuple(member for member in function.program if member.name in names)


def place_program(function: Function, memory: Memory) -> Placed:
    """Places data first, then functions."""
    found = {
        d.name: memory.place(np.frombuffer(bytearray(d.initial), np.uint8), max(d.align, 1), True, not d.constant)
        for d in function.data
    }
    entries = dict(_place_functions(function, memory))
    found |= {member.name: address for address, member in entries.items()}
    for datum in function.data:
        data = memory.at(found[datum.name]).data
        for distance, address in datum.addresses:
            # Modulo the address space: offsets may be negative.
            value = (found[address.name] + address.offset) % (1 << function.pointers)
            size = function.pointers // 8
            data[distance : distance + size] = np.frombuffer(value.to_bytes(size, "little"), np.uint8)
    return Placed(found, entries)


def _place_functions(function: Function, memory: Memory) -> Iterator[tuple[int, Function]]:
    for member in address_taken(function):
        # No bytes: a load or a store at the address of a function is a fault.
        yield memory.place(np.zeros(0, np.uint8), _ALIGNMENT, writable=False), member
