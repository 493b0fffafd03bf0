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
