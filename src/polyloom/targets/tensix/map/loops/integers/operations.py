# SPDX-License-Identifier: Apache-2.0
"""Integer operations that Wormhole's vector unit has no instruction for, as programs of those that it has: products,
arithmetic shifts.

    a * b: limbs of 11 bits as floats, whose products SFPMAD adds up exactly below 2^23, in the mantissa of 2^23
    a >> n: a logical shift, whose upper bits become those of the shifted sign: (x ^ s) - s

Sources: ISA documentation, pages of `SFPMAD`, `SFPSHFT` (which is logical); Warren, Hacker's Delight (2nd edition),
section 2-7; Knuth, The Art of Computer Programming, volume 2, section 4.3.1.
"""

from __future__ import annotations

from typing import Final, TypeVar

from polyloom.targets.tensix.map.loops.lanes import Lanes

T = TypeVar("T")
PRODUCT, LEFT, RIGHT = "product", "shift_left", "shift_right"
INTEGER_OPERATIONS: Final = (PRODUCT, LEFT, RIGHT)
SELECT_UNSIGNED: Final = "select_unsigned"
"""Selection by an order without a sign, which the borrow of a difference decides exactly."""
INTEGER_REGISTERS: Final = 4
"""That a product needs beside its result's."""
# The longest limb with which sums of three products stay below 2^23, where floats are exact.
_LIMB: Final = 11
_TOP: Final = 1 << 31
_WHOLE: Final = 0x4B000000
"""2^23 as a float: the bits of an integer below 2^23, put into its mantissa, are added to it."""
_MANTISSA: Final = (1 << 23) - 1


def integer_operation(lanes: Lanes[T], name: str, a: T, b: T) -> T:
    """Integer operation of `INTEGER_OPERATIONS`, modulo 2^32; shifts count modulo 32."""
    if name == PRODUCT:
        return _product(lanes, a, b)
    amount = lanes.call("sfpand", b, lanes.constant(31))
    return lanes.call("sfpshft_v", a, amount, 0) if name == LEFT else _shift_right(lanes, a, amount)


def _shift_right(lanes: Lanes[T], a: T, amount: T) -> T:
    """Arithmetic shift by 0 to 31: SFPSHFT shifts to the right by negative amounts, and zeros in."""
    # Modifier 6 subtracts the first operand from the second (ISA documentation, page of `SFPIADD`).
    by = lanes.call("sfpiadd_v", amount, lanes.constant(0), 6)
    sign = lanes.call("sfpshft_v", lanes.constant(_TOP), by, 0)
    shifted = lanes.call("sfpxor", lanes.call("sfpshft_v", a, by, 0), sign)
    return lanes.call("sfpiadd_v", sign, shifted, 6)


def _product(lanes: Lanes[T], a: T, b: T) -> T:
    """Product modulo 2^32 by the six products of limbs that reach its bits. Columns: at most 2 (2^11 - 1)^2 and
    2 (2^11 - 1) (2^10 - 1) + (2^11 - 1)^2, both below 2^23.
    """
    high = _column(lanes, a, b, ((0, 2), (1, 1), (2, 0)))
    made = lanes.call("sfpshft_i", high, 2 * _LIMB, 0)
    middle = lanes.call("sfpshft_i", _column(lanes, a, b, ((0, 1), (1, 0))), _LIMB, 0)
    made = lanes.call("sfpiadd_v", made, middle, 4)
    return lanes.call("sfpiadd_v", made, _column(lanes, a, b, ((0, 0),)), 4)


def _column(lanes: Lanes[T], a: T, b: T, pairs: tuple[tuple[int, int], ...]) -> T:
    """Column of a product: the sum of products of limbs."""
    total = lanes.constant(_WHOLE)
    for first, second in pairs:
        total = lanes.call("sfpmad", _limb(lanes, a, first), _limb(lanes, b, second), total, 0)
    return lanes.call("sfpand", total, lanes.constant(_MANTISSA))


def _limb(lanes: Lanes[T], a: T, number: int) -> T:
    """Limb of 11 bits as a float, without a conversion: 2^23 with these bits as its mantissa, less 2^23. Limbs are made
    anew for each product, since registers are fewer than limbs.
    """
    moved = lanes.call("sfpshft_i", a, -_LIMB * number, 0) if number else a
    bits = lanes.call("sfpand", moved, lanes.constant((1 << _LIMB) - 1))
    whole = lanes.call("sfpor", bits, lanes.constant(_WHOLE))
    return lanes.call("sfpadd", whole, lanes.constant(_WHOLE | _TOP), 0)
