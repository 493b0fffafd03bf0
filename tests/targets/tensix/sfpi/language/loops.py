# SPDX-License-Identifier: Apache-2.0
# pyright: basic, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
"""Vector kernels whose loops Python unrolls, with what iterations hand to one another."""

import polyloom as pl

t = pl.tensix


@pl.tensix.kernel
def softmax(dst, rows=7):
    """In three passes over rows: the greatest, the sum of powers, the quotients by Newton's steps."""
    greatest = pl.vfloat(dst[0])
    for _ in range(rows):
        greatest = t.max(greatest, dst[0])
        dst.advance()
    total = pl.vfloat(0.0)
    for _ in range(rows):
        x = dst[0] - greatest
        power = pl.vfloat(1.0)
        for _ in range(4):
            power = power * x * 0.25 + 1.0
        with pl.v_if(power < 0.0):
            power = 0.0
        total = total + power
        dst[0] = power
        dst.advance()
    inverse = t.setexp(total, 126)
    for _ in range(3):
        inverse = inverse * (2.0 - total * inverse)
    for _ in range(rows):
        dst[0] = dst[0] * inverse
        dst.advance()


@pl.tensix.kernel
def fibonacci(dst, n=9):
    """Each iteration hands two values on, crosswise."""
    a, b = pl.vfloat(dst[0]), pl.vfloat(dst[1])
    for _ in range(n):
        a, b = b, a + b
    dst[0] = a
    dst[1] = b


@pl.tensix.kernel
def before_last(dst, n=9):
    """The value of the last iteration but one is needed, too."""
    x = pl.vfloat(dst[0])
    for _ in range(n):
        old = x
        x = abs(x * 0.5 - 1.0) * x
    dst[0] = old
    dst[1] = x


@pl.tensix.kernel
def different(dst, n=9):
    """Each iteration has a number of its own, so that there is no loop."""
    x = pl.vfloat(dst[0])
    for k in range(n):
        x = abs(x) * (k + 0.5)
    dst[0] = x


@pl.tensix.kernel
def guarded(dst, slope: pl.f32, n=9):
    """The loop stands within a condition, and has one."""
    x = pl.vfloat(dst[0])
    with pl.v_if(x < 2.0):
        for _ in range(n):
            x = x + slope
            with pl.v_if(x >= 1.0):
                x = x - 0.75
    dst[0] = x


@pl.tensix.kernel
def chain(dst, n=8):
    """A short body, which leaves a row and goes to the next."""
    for _ in range(n):
        x = abs(dst[0]) * 0.5
        dst[0] = x * x + x
        dst.advance()
