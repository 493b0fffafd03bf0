# SPDX-License-Identifier: Apache-2.0
"""Vector operations over partly defined lanes (meaning.py computes the bits): a result lane has a value where all lanes
that it is made of have one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyloom.targets.tensix.source.oracle import meaning
from polyloom.targets.tensix.source.oracle.rounding import Words
from polyloom.targets.tensix.source.oracle.state import ALL, Mask, State, Vector, known_of

Truths = NDArray[np.bool_]


def apply(state: State, name: str, operands: Sequence[Any]) -> tuple[Vector, ...]:
    """Results of an operation over the state, of which only the generators are used, and go on where the operation
    draws.
    """
    vectors = [operand for operand in operands if isinstance(operand, Vector)]
    shape = np.broadcast_shapes(*(v.bits.shape for v in vectors))
    given = [whole(operand, shape) if isinstance(operand, Vector) else operand for operand in operands]
    # Lanes move between registers: the flags of definedness take the same way.
    if name == "sfptransp" and known_of(*vectors) is not None:
        flags = [np.broadcast_to(lanes_known(v), shape).astype(np.uint32) for v in vectors]
        known = meaning.compute(name, flags, state.member)
        made = meaning.compute(name, given, state.member)
        return tuple(valued(bits, lanes != 0) for bits, lanes in zip(made, known, strict=True))
    # Generators go on in executing lanes alone, and only where the operation takes a number.
    drawn = state.drawn() if meaning.draws(name, given) else None
    known = known_of(*vectors, *([_only(state.lanes)] if drawn is not None else []))
    return tuple(valued(bits, known) for bits in meaning.compute(name, given, state.member, drawn))


def moved(state: State, a: Vector, mode: int) -> Vector:
    """Rotation of rows of lanes by one, SFPSHFT2 modes 3 and 4. Wormhole's mode 4 shifts in what the last rotation saw,
    a bug of the machine (ISA documentation, page of `SFPSHFT2`).
    """
    first = a
    if mode == 4:
        first = state.exchanged if state.member == "wormhole" else Vector(np.zeros_like(a.bits))
    else:
        state.exchanged = a
    shape = np.broadcast_shapes(a.bits.shape, first.bits.shape)
    bits = meaning.moved(whole(a, shape), whole(first, shape))
    if known_of(a, first) is None:
        return Vector(bits)
    flags = [np.broadcast_to(lanes_known(v), shape).astype(np.uint32) for v in (a, first)]
    return valued(bits, meaning.moved(*flags) != 0)


def compared(state: State, name: str, condition: int, a: Vector, b: Vector) -> Mask:
    shape = np.broadcast_shapes(a.bits.shape, b.bits.shape)
    return Mask(meaning.compared(name, condition, whole(a, shape), whole(b, shape), state.member), known_of(a, b))


def valued(bits: Any, known: Truths | None) -> Vector:
    """Vector of bits and their definedness; lanes without a value hold 0."""
    if known is None or known.all():
        return Vector(bits)
    return Vector(np.where(known, bits, np.uint32(0)), known)


def whole(vector: Vector, shape: tuple[int, ...]) -> Words:
    return vector.bits if vector.bits.shape == shape else np.ascontiguousarray(np.broadcast_to(vector.bits, shape))


def lanes_known(value: Vector | Mask) -> Truths:
    return ALL.truth if value.known is None else value.known


def first_row(value: Vector) -> Vector:
    """First eight lanes in each row."""
    known = None if value.known is None else np.concatenate([value.known[..., :8]] * 4, axis=-1)
    return Vector(np.concatenate([value.bits[..., :8]] * 4, axis=-1), known)


def first_lanes(mask: Mask) -> Mask:
    known = None if mask.known is None else np.concatenate([mask.known[..., :8]] * 4, axis=-1)
    return Mask(np.concatenate([mask.truth[..., :8]] * 4, axis=-1), known)


def _only(mask: Mask) -> Mask:
    """Mask as what has a value only where it is set."""
    return Mask(mask.truth, mask.truth if mask.known is None else mask.truth & mask.known)
