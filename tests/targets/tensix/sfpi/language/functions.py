# SPDX-License-Identifier: Apache-2.0
# Kernels as users write them, without types.
# pyright: basic, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportArgumentType=false, reportOperatorIssue=false
"""Vector kernels for test_python.py."""

import polyloom as pl


@pl.tensix.kernel
def leaky(dst, slope=0.5):
    x = dst[0]
    with pl.v_if(x < 0.0):
        x = x * slope
    dst[1] = x


@pl.tensix.kernel
def chained(dst):
    x = dst[0]
    with pl.v_if(x < -2.0):
        y = pl.vint(1)
    with pl.v_elseif(x < 0.5):
        y = 2
        with pl.v_if(x < 0.0):
            y += 10
        with pl.v_else:
            y = y + 20
    with pl.v_else:
        y = 3
    dst.mode("i32")[1] = y


@pl.tensix.kernel
def narrowing(dst, n=3):
    x, y = dst[0], pl.vfloat(1.0)
    with pl.v_block():
        for _ in range(n):
            x = x - 1.0
            pl.v_and(x >= 0.0)
            y *= 2.0
    dst[1] = y


@pl.tensix.function
def relu(x, low):
    y = pl.vfloat(low)
    with pl.v_if(x > low):
        y = x
    return y  # noqa: RET504 - in the other lanes it is what it was


@pl.tensix.kernel
def helped(dst):
    scale = 2.0

    def twice(x):
        return x * scale

    for i in range(2):
        dst[i + 2] = relu(twice(dst[i]), 1.0)


@pl.tensix.kernel
def broken_out(dst):
    x = dst[0]
    for k in range(4):
        with pl.v_if(x > float(k)):
            if k == 2:
                break
            x = x + 10.0
    dst[1] = x


@pl.tensix.kernel
def at_run_time(dst, n: pl.i32, slope: pl.f32, k=1):
    dst[n] = dst[k] * slope
    dst.mode("i32")[3] = pl.vint(n) + 1


@pl.tensix.kernel
def integers(dst):
    x = pl.vint(dst.mode("i32")[0])
    u = pl.tensix.as_(pl.vuint, x)
    out = dst.mode("i32")
    out[1] = (x + 5 - x) ^ 3
    out[2] = 7 - x
    out[3] = ~x & 0xFF | 0x100
    out[4] = u >> 4
    out[5] = x << 3
    out[6] = pl.vint((x < 0) | (x == 9))
    out[7] = abs(-x)
    out[8] = pl.vint(pl.tensix.as_(pl.vuint, x) > 100)


@pl.tensix.kernel
def library(dst):
    t = pl.tensix
    x = dst[0]
    i = dst.mode("i32")
    i[1] = t.exexp(x)
    i[2] = t.exman(x, hidden=True)
    dst[3] = t.setexp(x, 127)
    dst[4] = t.clamp(x, -1.0, 1.0)
    dst[5] = t.polynomial(x, 1.0, 2.0, 3.0)
    a, b = t.min_max(x, 0.5)
    dst[6] = a
    dst[7] = b
    a, b = t.swap(a, b)
    dst[8] = a
    f, n = t.round(x)
    dst[9] = f
    i[10] = n
    dst[11] = t.copysgn(t.const_1, x)
    i[12] = pl.vint(t.is_finite(x))
    dst[13] = t.addexp(x, 3)
    i[14] = t.lz(x)


@pl.tensix.kernel
def registers(dst):
    pl.tensix.prgm[0] = 3.0
    dst[1] = dst[0] * pl.tensix.prgm[0]
    pl.tensix.l_reg[2] = pl.tensix.l_reg[1] + pl.tensix.const_neg1
    dst.mode("i32")[2] = pl.vint(pl.tensix.tile_id)
    dst.advance()
    dst[2] = dst[0]


@pl.tensix.kernel
def random_numbers(dst):
    dst.mode("i32")[0] = pl.tensix.rand()
    dst[1] = pl.tensix.approx_recip(dst[1])


@pl.tensix.kernel
def builtins(dst):
    call = pl.tensix.builtin
    a, b, c = dst[0], dst[1], dst[2]
    dst[3] = call("sfpmad")(a, b, c, 0)
    first, second = call("sfpswap")(a, b, 0)
    dst[4] = first
    dst[5] = second


@pl.tensix.kernel
def twin_reciprocal(dst):
    t = pl.tensix
    x = dst[0]
    m = t.setsgn(t.setexp(x, 126), 0)
    y = m * t.prgm[1] + t.prgm[0]
    for _ in range(2):
        y = y * (t.prgm[2] - m * y)
    power = 126 - t.exexp(x, biased=True)
    y = t.setexp(y, power + t.exexp(y, biased=True))
    dst[0] = t.copysgn(y, x)


@pl.tensix.kernel
def twin_exponential(dst):
    t = pl.tensix
    x = t.clamp(pl.vfloat(dst[0]), -87.0, 88.0)
    whole, power = t.round(x * 1.442695)
    rest = x - whole * 0.6933594
    rest = rest + whole * 2.1219444e-4
    y = t.polynomial(rest, 1.0, 1.0, 0.5, 0.16666667)
    dst[0] = t.setexp(y, t.exexp(y, biased=True) + power)


@pl.tensix.kernel
def twin_silly(dst):
    t = pl.tensix
    a = dst[0] + 2.0
    dst[3] = a * -dst[1] + t.prgm[0] + 0.5
    with pl.v_if(((a >= 4.0) & (a < 8.0)) | ((a >= 12.0) & (a < 16.0))):
        b = t.exexp(a, biased=True)
        b &= 0xAA
        with pl.v_if(b >= 130):
            dst[6] = t.setexp(a, 127)
    with pl.v_elseif(a == 3.0):
        dst[7] = abs(a)
    with pl.v_else:
        exp = t.lz(t.as_(pl.vint, a)) - 19
        exp = ~exp
        dst[8] = -t.setexp(a, exp)


@pl.tensix.kernel
def twin_nested(dst):
    x, y = dst[0], pl.vfloat(0.0)
    with pl.v_if(x > 0.0):
        y = x + 1.0
        with pl.v_if(x > 2.0):
            y = y * x
        with pl.v_else:
            y = y - x
    dst[1] = y


@pl.tensix.kernel
def twin_block(dst):
    x, y = dst[0], pl.vfloat(1.0)
    with pl.v_block():
        for _ in range(3):
            x = x - 1.0
            pl.v_and(x >= 0.0)
            y *= 2.0
    dst[1] = y


@pl.tensix.kernel
def twin_bits(dst):
    x = pl.vint(dst[0])
    u = pl.tensix.as_(pl.vuint, x)
    dst[1] = pl.tensix.as_(pl.vint, (u >> 4) ^ (u << 3))
    dst[2] = ~x & 0xFF
    dst[3] = x + 5
    dst[4] = 7 - x


@pl.tensix.kernel
def twin_compare(dst):
    x, y, z = pl.vint(dst[0]), pl.vint(dst[1]), pl.vint(0)
    with pl.v_if(x < y):
        z = 1
    with pl.v_elseif(x == 100):
        z = 2
    with pl.v_else:
        z = 3
    dst[2] = z


@pl.tensix.kernel
def twin_square(dst):
    x, y = dst[0], dst[1]
    dst[2] = x * x - y * y
    dst[3] = 2.0 - x * y
    dst[4] = -(x * y)


@pl.tensix.kernel
def twin_fields(dst):
    t = pl.tensix
    x = dst[0]
    dst[1] = t.addexp(x, 3)
    dst[2] = t.setman(x, 0x400000)
    dst[3] = pl.tensix.as_(pl.vuint, t.exman(x, hidden=True))
    dst[4] = t.setsgn(x, 1)


@pl.tensix.kernel
def twin_order(dst):
    t = pl.tensix
    x, y = dst[0], dst[1]
    dst[2] = t.min(x, y)
    dst[3] = t.max(x, 0.5)
    x, y = t.swap(x, y)
    dst[4] = x
    dst[5] = y
