# SPDX-License-Identifier: Apache-2.0
"""Addresses of the configuration bus: kind, number, unit, index and part of a word (docs/rtl.md, The configuration
bus)."""

from __future__ import annotations

MAP, PROGRAM, DEPTH, WRAPPER, ROUTE, CONTROL, GENERATOR, BANK_WORD = range(8)
"""Kinds: bits 48 to 51. Below are a number of 16 bits, a unit of 8, an index of 16, a part of 8."""
Write = tuple[int, int]
"""Address and word."""


def address(kind: int, number: int = 0, unit: int = 0, index: int = 0, part: int = 0) -> int:
    """Bus address of a word."""
    return kind << 48 | number << 32 | unit << 24 | index << 8 | part


def address_kind(address: int) -> int:
    """Kind of a word."""
    return address >> 48


def address_number(address: int) -> int:
    """Number of an element, class, wrapper, signal, generator or bank."""
    return address >> 32 & 0xFFFF


def address_unit(address: int) -> int:
    """Unit of an instruction, or what of a generator or the controller the word is."""
    return address >> 24 & 0xFF


def address_index(address: int) -> int:
    """Index of an instruction, FIFO, sink or set."""
    return address >> 8 & 0xFFFF


def address_part(address: int) -> int:
    """Part of what has several words."""
    return address & 0xFF
