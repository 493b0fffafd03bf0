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
from polyloom.targets.tensix.source.oracle.state import ALL, Mask, State, Vector, common_known

Truths = NDArray[np.bool_]


def apply_operation(state: State, name: str, operands: Sequence[Any]) -> tuple[Vector, ...]:
    """Results of an operation over the state, of which only the generators are used, and go on where the operation
    draws.
    """
    vectors = [operand for operand in operands if isinstance(operand, Vector)]
    shape = np.broadcast_shapes(*(v.bits.shape for v in vectors))
    given = [broadcast_bits(operand, shape) if isinstance(operand, Vector) else operand for operand in operands]
    # Lanes move between registers: the flags of definedness take the same way.
    if name == "sfptransp" and common_known(*vectors) is not None:
        flags = [np.broadcast_to(known_lanes(v), shape).astype(np.uint32) for v in vectors]
        known = meaning.compute(name, flags, state.member)
        made = meaning.compute(name, given, state.member)
        return tuple(make_vector(bits, lanes != 0) for bits, lanes in zip(made, known, strict=True))
    # Generators go on in executing lanes alone, and only where the operation takes a number.
    drawn = state.drawn() if meaning.draws_random(name, given) else None
    known = common_known(*vectors, *([_known_where_set(state.lanes)] if drawn is not None else []))
    return tuple(make_vector(bits, known) for bits in meaning.compute(name, given, state.member, drawn))


def rotate_rows(state: State, a: Vector, mode: int) -> Vector:
    """Rotation of rows of lanes by one, SFPSHFT2 modes 3 and 4. Wormhole's mode 4 shifts in what the last rotation saw,
    a bug of the machine (ISA documentation, page of `SFPSHFT2`).
    """
    first = a
    if mode == 4:
        first = state.exchanged if state.member == "wormhole" else Vector(np.zeros_like(a.bits))
    else:
        state.exchanged = a
    shape = np.broadcast_shapes(a.bits.shape, first.bits.shape)
    bits = meaning.rotate_rows(broadcast_bits(a, shape), broadcast_bits(first, shape))
    if common_known(a, first) is None:
        return Vector(bits)
    flags = [np.broadcast_to(known_lanes(v), shape).astype(np.uint32) for v in (a, first)]
    return make_vector(bits, meaning.rotate_rows(*flags) != 0)


def compare_vectors(state: State, name: str, condition: int, a: Vector, b: Vector) -> Mask:
    shape = np.broadcast_shapes(a.bits.shape, b.bits.shape)
    return Mask(
        meaning.compare_bits(name, condition, broadcast_bits(a, shape), broadcast_bits(b, shape), state.member),
        common_known(a, b),
    )


def make_vector(bits: Any, known: Truths | None) -> Vector:
    """Vector of bits and their definedness; lanes without a value hold 0."""
    if known is None or known.all():
        return Vector(bits)
    return Vector(np.where(known, bits, np.uint32(0)), known)


def broadcast_bits(vector: Vector, shape: tuple[int, ...]) -> Words:
    return vector.bits if vector.bits.shape == shape else np.ascontiguousarray(np.broadcast_to(vector.bits, shape))


def known_lanes(value: Vector | Mask) -> Truths:
    return ALL.truth if value.known is None else value.known


def repeat_row(value: Vector) -> Vector:
    """First eight lanes in each row."""
    known = None if value.known is None else np.concatenate([value.known[..., :8]] * 4, axis=-1)
    return Vector(np.concatenate([value.bits[..., :8]] * 4, axis=-1), known)


def repeat_mask(mask: Mask) -> Mask:
    known = None if mask.known is None else np.concatenate([mask.known[..., :8]] * 4, axis=-1)
    return Mask(np.concatenate([mask.truth[..., :8]] * 4, axis=-1), known)


def _known_where_set(mask: Mask) -> Mask:
    """Mask as what has a value only where it is set."""
    return Mask(mask.truth, mask.truth if mask.known is None else mask.truth & mask.known)
