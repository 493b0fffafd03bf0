# SPDX-License-Identifier: Apache-2.0
"""The programs of the tests."""

from __future__ import annotations

from tests.targets.tcpa.instantiate.naive import Program

BITS = Program(
    ("i",),
    ("N",),
    ("N",),
    {"in": (), "bits": ("N",)},
    ("x = move in() if -i >= 0", "x = move y[-1] if i - 1 >= 0", "y = shr x #1", "bits(i) = and x #1"),
)
MATMUL = Program(
    ("i", "j", "k"),
    ("N", "M", "K"),
    ("N", "M", "K"),
    {"A": ("N", "K"), "B": ("K", "M"), "C": ("N", "M")},
    (
        "a = move A(i, k) if -j >= 0",
        "a = move a[0,-1,0] if j - 1 >= 0",
        "b = move B(k, j) if -i >= 0",
        "b = move b[-1,0,0] if i - 1 >= 0",
        "m = mul a b",
        "c = add m #0 if -k >= 0",
        "c = add m c[0,0,-1] if k - 1 >= 0",
        "C(i, j) = move c if k - K + 1 >= 0",
    ),
)
FIR = Program(
    ("i", "j"),
    ("N", "T"),
    ("N", "T"),
    {"a": ("T",), "u": ("N",), "y": ("N",)},
    (
        "A = move a(j) if -i >= 0",
        "A = move A[-1,0] if i - 1 >= 0",
        "U = move u(i) if -j >= 0",
        "U = move U[-1,-1] if j - 1 >= 0 and i - 1 >= 0",
        "U = move #0 if j - 1 >= 0 and -i >= 0",
        "p = mul A U",
        "s = move p if -j >= 0",
        "s = add p s[0,-1] if j - 1 >= 0",
        "y(i) = move s if j - T + 1 >= 0",
    ),
)
JACOBI = Program(
    ("t", "x"),
    ("T", "N"),
    ("T", "N"),
    {"in": ("N",), "out": ("N",)},
    (
        "v = move in(x) if -t >= 0",
        "v = add l r if t - 1 >= 0 and x - 1 >= 0 and N - 2 - x >= 0",
        "v = move v[-1,0] if t - 1 >= 0 and -x >= 0",
        "v = move v[-1,0] if t - 1 >= 0 and x - N + 1 >= 0 and x - 1 >= 0",
        "l = move v[-1,-1] if t - 1 >= 0 and x - 1 >= 0 and N - 2 - x >= 0",
        "r = move v[-1,1] if t - 1 >= 0 and x - 1 >= 0 and N - 2 - x >= 0",
        "out(x) = move v if t - T + 1 >= 0",
    ),
)
TRIANGLE = Program(
    ("i", "j"),
    ("N",),
    ("N", "N"),
    {"u": ("N",), "y": ("N",)},
    (
        "x = move u(j) if -i + j >= 0 and i - j >= 0",
        "x = move x[-1,0] if i - j - 1 >= 0",
        "s = move x if -j >= 0 and i - j >= 0",
        "s = add x s[0,-1] if j - 1 >= 0 and i - j >= 0",
        "y(i) = move s if i - j >= 0 and j - i >= 0",
    ),
)
CONV = Program(
    ("m", "h", "w", "c", "r", "s"),
    ("M", "C", "H", "W", "R", "S"),
    ("M", "H - R + 1", "W - S + 1", "C", "R", "S"),
    {"x": ("C", "H", "W"), "f": ("M", "C", "R", "S"), "y": ("M", "H - R + 1", "W - S + 1")},
    (
        "p = mul x(c, h + r, w + s) f(m, c, r, s)",
        "a = move p if -s >= 0",
        "a = add p a[0,0,0,0,0,-1] if s - 1 >= 0",
        "b = move a if s - S + 1 >= 0 and -r >= 0",
        "b = add a b[0,0,0,0,-1,0] if s - S + 1 >= 0 and r - 1 >= 0",
        "d = move b if s - S + 1 >= 0 and r - R + 1 >= 0 and -c >= 0",
        "d = add b d[0,0,0,-1,0,0] if s - S + 1 >= 0 and r - R + 1 >= 0 and c - 1 >= 0",
        "y(m, h, w) = move d if s - S + 1 >= 0 and r - R + 1 >= 0 and c - C + 1 >= 0",
    ),
)
