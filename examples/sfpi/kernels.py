# SPDX-License-Identifier: Apache-2.0
# pyright: basic, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
"""The C++ kernels of this folder as Python functions, each on a face of Dst:

polyloom run examples/sfpi/kernels.py:leaky_relu slope=0x3dcccccd --on tensix
"""

import polyloom as pl

t = pl.tensix
ROWS = 8


@pl.tensix.kernel
def absolute(dst):
    for _ in range(ROWS):
        x = dst[0]
        dst[0] = abs(x)
        dst.advance()


@pl.tensix.kernel
def is_zero(dst):
    for _ in range(ROWS):
        x = dst[0]
        result = pl.vfloat(0.0)
        with pl.v_if(x == 0.0):
            result = 1.0
        dst[0] = result
        dst.advance()


@pl.tensix.kernel
def at_most_zero(dst):
    for _ in range(ROWS):
        x = dst[0]
        with pl.v_if(x <= 0.0):
            dst[0] = 1.0
        with pl.v_else:
            dst[0] = 0.0
        dst.advance()


@pl.tensix.kernel
def leaky_relu(dst, slope: pl.f32):
    factor = pl.vfloat(slope)
    for _ in range(ROWS):
        x = dst[0]
        with pl.v_if(x < 0.0):
            x *= factor
        dst[0] = x
        dst.advance()


@pl.tensix.kernel
def limited(dst, lower: pl.f32, upper: pl.f32):
    low, high = pl.vfloat(lower), pl.vfloat(upper)
    for _ in range(ROWS):
        x = dst[0]
        with pl.v_if(x < low):
            x = low
        with pl.v_elseif(x >= high):
            x = high
        dst[0] = x
        dst.advance()


@pl.tensix.kernel
def limited_by_order(dst, lower: pl.f32, upper: pl.f32):
    low, high = pl.vfloat(lower), pl.vfloat(upper)
    for _ in range(ROWS):
        x = dst[0]
        dst[0] = t.clamp(x, low, high)
        dst.advance()


@pl.tensix.kernel
def repeated(dst):
    for _ in range(ROWS):
        x = dst[0]
        dst[0] = t.polynomial(x, 0.5, 0.25, 0.125) * x
        dst.advance()


@pl.tensix.kernel
def sign(dst):
    for _ in range(ROWS):
        x = dst[0]
        result = t.copysgn(pl.vfloat(1.0), x)
        with pl.v_if(x == 0.0):
            result = 0.0
        dst[0] = result
        dst.advance()


@pl.tensix.kernel
def sigmoid_init(dst):
    t.l_reg[0] = t.lut8(0.2265625, 0.0)
    t.l_reg[1] = t.lut8(0.1484375, 0.09375)
    t.l_reg[2] = t.lut8(0.0, 0.484375)


@pl.tensix.kernel
def sigmoid_table(dst):
    l0, l1, l2 = pl.vuint(t.l_reg[0]), pl.vuint(t.l_reg[1]), pl.vuint(t.l_reg[2])
    for _ in range(ROWS):
        x = dst[0]
        dst[0] = t.lut(x, l0, l1, l2) + 0.5
        dst.advance()
    t.l_reg[0], t.l_reg[1], t.l_reg[2] = l0, l1, l2


@pl.tensix.kernel
def tanh_init(dst):
    t.l_reg[0] = t.lut8(0.90625, 0.0)
    t.l_reg[1] = t.lut8(0.09375, 0.8125)
    t.l_reg[2] = t.lut8(0.0, 1.0)


@pl.tensix.kernel
def tanh_table(dst):
    l0, l1, l2 = pl.vuint(t.l_reg[0]), pl.vuint(t.l_reg[1]), pl.vuint(t.l_reg[2])
    for _ in range(ROWS):
        x = dst[0]
        dst[0] = t.lut(x, l0, l1, l2)
        dst.advance()
    t.l_reg[0], t.l_reg[1], t.l_reg[2] = l0, l1, l2


@pl.tensix.kernel
def reciprocal_init(dst):
    t.prgm[0], t.prgm[1], t.prgm[2] = 48.0 / 17.0, -32.0 / 17.0, 2.0


@pl.tensix.kernel
def reciprocal(dst):
    for _ in range(ROWS):
        x = dst[0]
        m = t.setsgn(t.setexp(x, 126), 0)
        y = m * t.prgm[1] + t.prgm[0]
        for _step in range(3):
            y = y * (t.prgm[2] - m * y)
        power = 126 - t.exexp(x, biased=True)
        y = t.setexp(y, power + t.exexp(y, biased=True))
        dst[0] = t.copysgn(y, x)
        dst.advance()


@pl.tensix.kernel
def exponential(dst):
    for _ in range(ROWS):
        x = t.clamp(pl.vfloat(dst[0]), -87.0, 88.0)
        whole, power = t.round(x * 1.442695)
        rest = x - whole * 0.6933594
        rest = rest + whole * 2.1219444e-4
        y = t.polynomial(rest, 1.0, 1.0, 0.5, 0.16666667, 0.041666667, 0.0083333333)
        dst[0] = t.setexp(y, t.exexp(y, biased=True) + power)
        dst.advance()


@pl.tensix.kernel
def silly(dst, take_abs=True, value=0.7):
    a = dst[0] + 2.0

    dst[3] = a * -dst[1] + t.prgm[0] + 0.5
    dst[4] = a * dst[1] + 1.2
    dst[4] = a * 1.5 + 1.2

    tmp = pl.vfloat(value)
    dst[5] = a * tmp + 1.2

    with pl.v_if(((a >= 4.0) & (a < 8.0)) | ((a >= 12.0) & (a < 16.0))):
        b = t.exexp(a, biased=True)
        b &= 0xAA
        with pl.v_if(b >= 130):
            dst[6] = t.setexp(a, 127)
    with pl.v_elseif(a == 3.0):
        if take_abs:
            dst[7] = abs(a)
        else:
            dst[7] = a
    with pl.v_else:
        exp = t.lz(a) - 19
        exp = ~exp
        dst[8] = -t.setexp(a, exp)
