# SPDX-License-Identifier: Apache-2.0
# Kernels as users write them, without types.
# pyright: basic, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportArgumentType=false, reportOperatorIssue=false
"""The kernels of spellings.h in Python."""

import polyloom as pl


@pl.tensix.kernel
def absolute(dst):
    dst[0] = abs(pl.vfloat(dst[0]))


@pl.tensix.kernel
def scaled(dst):
    x = pl.vfloat(dst[0])
    dst[0] = x * 1.5 + 0.25


@pl.tensix.kernel
def difference(dst):
    x, y = pl.vfloat(dst[0]), pl.vfloat(dst[1])
    dst[0] = x - y * y


@pl.tensix.kernel
def negated(dst):
    dst[0] = -pl.vfloat(dst[0])


@pl.tensix.kernel
def leaky(dst):
    x = pl.vfloat(dst[0])
    with pl.v_if(x < 0.0):
        x = x * 0.5
    dst[0] = x


@pl.tensix.kernel
def steps(dst):
    x, y = pl.vfloat(dst[0]), pl.vfloat(3.0)
    with pl.v_if(x < -1.0):
        y = pl.vfloat(1.0)
    with pl.v_elseif(x < 1.0):
        y = pl.vfloat(2.0)
    dst[0] = y


@pl.tensix.kernel
def nested(dst):
    x, y = pl.vfloat(dst[0]), pl.vfloat(dst[1])
    with pl.v_if(x >= 0.0):
        with pl.v_if(y >= 0.0):
            x = x + y
        with pl.v_else:
            x = x - y
    dst[0] = x


@pl.tensix.kernel
def either(dst):
    x, y = pl.vfloat(dst[0]), pl.vfloat(0.0)
    with pl.v_if((x < -2.0) | (x >= 2.0)):
        y = pl.vfloat(1.0)
    dst[0] = y


@pl.tensix.kernel
def both(dst):
    x, y = pl.vfloat(dst[0]), pl.vfloat(dst[1])
    with pl.v_if((x >= 0.0) & (y < 1.0)):
        x = y
    dst[0] = x


@pl.tensix.kernel
def limited(dst):
    dst[0] = pl.tensix.clamp(pl.vfloat(dst[0]), -1.0, 1.0)


@pl.tensix.kernel
def smaller(dst):
    x, y = pl.vfloat(dst[0]), pl.vfloat(dst[1])
    dst[0] = pl.tensix.min(x, y)


@pl.tensix.kernel
def series(dst):
    dst[0] = pl.tensix.polynomial(pl.vfloat(dst[0]), 1.0, 0.5, 0.25)


@pl.tensix.kernel
def exponents(dst):
    e = pl.tensix.exexp(pl.vfloat(dst[0]))
    dst.mode("i32")[0] = e + 3


@pl.tensix.kernel
def mantissas(dst):
    dst[0] = pl.tensix.setexp(pl.vfloat(dst[0]), 127)


@pl.tensix.kernel
def signs(dst):
    x, y = pl.vfloat(dst[0]), pl.vfloat(dst[1])
    dst[0] = pl.tensix.copysgn(x, y)


@pl.tensix.kernel
def bits(dst):
    i, j = pl.vint(dst.mode("i32")[0]), pl.vint(dst.mode("i32")[1])
    dst.mode("i32")[0] = (i & j) ^ ~i


@pl.tensix.kernel
def sums(dst):
    i, j = pl.vint(dst.mode("i32")[0]), pl.vint(dst.mode("i32")[1])
    dst.mode("i32")[0] = i - j + 7


@pl.tensix.kernel
def compared(dst):
    i, j = pl.vint(dst.mode("i32")[0]), pl.vint(0)
    with pl.v_if(i < 100):
        j = pl.vint(1)
    dst.mode("i32")[0] = j


@pl.tensix.kernel
def counted(dst):
    x, y = pl.vfloat(dst[0]), pl.vfloat(1.0)
    with pl.v_block():
        for _ in range(3):
            x = x - 1.0
            pl.v_and(x >= 0.0)
            y = y * 2.0
    dst[0] = y


@pl.tensix.kernel
def exchanged(dst):
    x, y = pl.vfloat(dst[0]), pl.vfloat(dst[1])
    x, y = pl.tensix.swap(x, y)
    dst[0] = x
    dst[1] = y
