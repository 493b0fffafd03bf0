# SPDX-License-Identifier: Apache-2.0
"""Two's complement: the signed number that bits stand for."""


def sign_extend(value: int, bits: int) -> int:
    """Signed value of the low `bits` of a number, sign extension: of all numbers that are the same modulo two to the
    bits the one of least magnitude, the negative one of two.
    """
    half = 1 << bits - 1
    return (value + half) % (half << 1) - half
