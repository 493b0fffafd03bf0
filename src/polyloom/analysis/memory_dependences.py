# SPDX-License-Identifier: Apache-2.0
"""Memory dependences of straight lines and superblock loops: which accesses may meet, and after how many iterations.

Accesses to distinct objects never meet. Of one object, affine addresses meet after an exact number of iterations (the
strong SIV test; Goff, Kennedy, Tseng, "Practical dependence testing", 1991); of the first such number the later ones
follow. All others may meet in the same iteration and in the next. A call depends as its function's accesses do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from polyloom.analysis.affine import ITERATION, Affine, in_iteration_numbers
from polyloom.analysis.aliases import Aliases, access_size
from polyloom.analysis.effects import MemoryEffect, is_ordered_access, memory_effect
from polyloom.analysis.superblocks import Superblock
from polyloom.ir.ssa import Instruction, Value
from polyloom.twos_complement import sign_extend

_UNKNOWN: Final = -1


@dataclass(frozen=True, slots=True)
class MemoryDependence:
    """The access at position `sink` may meet what that at `source` did `distance` iterations earlier."""

    source: int
    sink: int
    distance: int


@dataclass(frozen=True, slots=True)
class _Span:
    """An access: its address, and its bytes; none of a call."""

    instruction: Instruction
    address: Affine
    size: int


def memory_dependences(
    line: Sequence[Instruction],
    loop: Superblock | None,
    aliases: Aliases,
    known: Mapping[str, MemoryEffect],
) -> Iterator[MemoryDependence]:
    """Memory dependences of a line of instructions, those of a block or of a loop, with their distances (Goff, Kennedy,
    Tseng 1991); `known` has the effects of calls.
    """
    kinds = [(k, kind) for k, i in enumerate(line) if (kind := memory_effect(i, known)) and i.operation != "fence"]
    spans = {k: _span(line[k], loop, aliases) for k, _ in kinds}
    varying = loop.definitions if loop is not None else frozenset[str]()
    for k, one in kinds:
        for m, other in kinds:
            # A call may depend on itself in the next iteration; of one access the addresses tell.
            alone = k == m and not line[k].callee
            if alone or "writes" not in (one, other) or (loop is None and k >= m):
                continue
            distance = _distance(k < m, spans[k], spans[m], aliases, varying)
            if distance is not None:
                yield MemoryDependence(k, m, (0 if k < m else 1) if distance == _UNKNOWN else distance)


def _span(i: Instruction, loop: Superblock | None, aliases: Aliases) -> _Span:
    if i.callee:
        return _Span(i, Affine(), 0)
    address = aliases.forms.address(i)
    moved = in_iteration_numbers(address, loop, aliases.forms) if loop is not None else address
    return _Span(i, moved, access_size(i, aliases.function.pointers))


def _distance(forward: bool, first: _Span, second: _Span, aliases: Aliases, varying: frozenset[str]) -> int | None:
    """The least number of iterations after which the second access may meet what the first one did; None: never."""
    one, other = first.instruction, second.instruction
    if one.callee or other.callee or (is_ordered_access(one) and is_ordered_access(other)):
        return _UNKNOWN
    a, b = first.address, second.address
    if aliases.distinct(a, b):
        return None
    bits = aliases.function.pointers
    difference = b - a

    def meets(distance: int) -> bool:
        return -second.size < sign_extend(distance, bits) < first.size

    # An address that varies otherwise may be anywhere in another iteration; in the same one, equal forms have a
    # constant difference.
    if any(isinstance(x, Value) and x != ITERATION and x.name in varying for form in (a, b) for x, _ in form.terms):
        apart = forward and not difference.terms and not meets(difference.constant)
        return (1 if apart else 0) if forward else 1
    if difference.terms:
        return _UNKNOWN
    stride = sign_extend(a.coefficient(ITERATION), bits)
    return _strong_siv_test(forward, stride, sign_extend(difference.constant, bits), first, second, meets)


def _strong_siv_test(
    forward: bool, stride: int, difference: int, first: _Span, second: _Span, meets: Callable[[int], bool]
) -> int | None:
    """Strong SIV test with sizes: the least distance d >= 0, or 1, for which stride * d + difference lies between the
    ends of the accesses (Goff, Kennedy, Tseng 1991).
    """
    start = 0 if forward else 1
    if stride == 0:
        return start if meets(difference) else None
    low, high = -second.size - difference, first.size - difference
    # Mirrored, so that one division serves both signs.
    if stride < 0:
        stride, low, high = -stride, -high, -low
    distance = max(start, low // stride + 1)
    return distance if stride * distance < high else None
