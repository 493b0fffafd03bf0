# SPDX-License-Identifier: Apache-2.0
"""Kernels in the manner of well-known ones, in i32, with sizes small enough to enumerate."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.transform.nest.text import nest

from polyloom.ir.nest import Nest


@dataclass(frozen=True, slots=True)
class Kernel:
    declarations: str
    body: str
    sizes: tuple[dict[str, int], ...] = field(default_factory=lambda: ({"N": 5},))
    assume: str = ""

    def nest(self, name: str = "test") -> Nest:
        return nest(self.declarations, self.body.strip("\n"), self.assume, name=name)


TN = ({"T": 3, "N": 6}, {"T": 0, "N": 4}, {"T": 2, "N": 1})
KERNELS: dict[str, Kernel] = {
    "gemm": Kernel(
        "const alpha; const beta; C[N, M]; A[N, K]; B[K, M]",
        """
for i in range(N):
    for j in range(M):
        C[i, j] *= beta
    for k in range(K):
        for l in range(M):
            C[i, l] += alpha * A[i, k] * B[k, l]
""",
        ({"N": 2, "M": 3, "K": 4}, {"N": 2, "M": 2, "K": 0}),
    ),
    "jacobi1d": Kernel(
        "A[N]; B[N]",
        """
for t in range(T):
    for i in range(1, N - 1):
        B[i] = 3 * (A[i - 1] + A[i] + A[i + 1])
    for j in range(1, N - 1):
        A[j] = 3 * (B[j - 1] + B[j] + B[j + 1])
""",
        TN,
    ),
    "jacobi2d_copied": Kernel(
        "A[N, N]; B[N, N]",
        """
for t in range(T):
    for i in range(1, N - 1):
        for j in range(1, N - 1):
            B[i, j] = A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j]
    for k in range(1, N - 1):
        for l in range(1, N - 1):
            A[k, l] = B[k, l]
""",
        ({"T": 2, "N": 5}, {"T": 1, "N": 3}),
    ),
    "seidel": Kernel(
        "A[N, N]",
        """
for t in range(T):
    for i in range(1, N - 1):
        for j in range(1, N - 1):
            A[i, j] = (
                A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1]
                + A[i, j - 1] + A[i, j] + A[i, j + 1]
                + A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]
            )
""",
        ({"T": 2, "N": 5},),
    ),
    "lu": Kernel(
        "A[N, N]",
        """
for i in range(N):
    for j in range(i):
        for k in range(j):
            A[i, j] -= A[i, k] * A[k, j]
        A[i, j] = A[i, j] * A[j, j]
    for l in range(i, N):
        for m in range(i):
            A[i, l] -= A[i, m] * A[m, l]
""",
    ),
    "cholesky": Kernel(
        "A[N, N]",
        """
for i in range(N):
    for j in range(i):
        for k in range(j):
            A[i, j] -= A[i, k] * A[j, k]
        A[i, j] = A[i, j] * A[j, j]
    for l in range(i):
        A[i, i] -= A[i, l] * A[i, l]
    A[i, i] = abs(A[i, i])
""",
    ),
    "trisolv": Kernel(
        "L[N, N]; x[N]; b[N]",
        """
for i in range(N):
    x[i] = b[i]
    for j in range(i):
        x[i] -= L[i, j] * x[j]
    x[i] = x[i] * L[i, i]
""",
        ({"N": 6}, {"N": 1}),
    ),
    "symm": Kernel(
        "C[M, N]; A[M, M]; B[M, N]; local t; const alpha; const beta",
        """
for i in range(M):
    for j in range(N):
        t = 0
        for k in range(i):
            C[k, j] += alpha * B[i, j] * A[i, k]
            t += B[k, j] * A[i, k]
        C[i, j] = beta * C[i, j] + alpha * B[i, j] * A[i, i] + alpha * t
""",
        ({"M": 4, "N": 3},),
    ),
    "trmm_decreasing": Kernel(
        "A[M, M]; B[M, N]; const alpha",
        """
for i in range(M - 1, -1, -1):
    for j in range(N):
        for k in range(M - 1, i, -1):
            B[i, j] += A[k, i] * B[k, j]
        B[i, j] = alpha * B[i, j]
""",
        ({"M": 4, "N": 3},),
    ),
    "covariance": Kernel(
        "data[N, M]; cov[M, M]; local mean[M]",
        """
for j in range(M):
    mean[j] = 0
    for i in range(N):
        mean[j] += data[i, j]
    mean[j] = mean[j] - 7
for p in range(N):
    for q in range(M):
        data[p, q] -= mean[q]
for a in range(M):
    for b in range(a, M):
        cov[a, b] = 0
        for c in range(N):
            cov[a, b] += data[c, a] * data[c, b]
        cov[a, b] = cov[a, b] * 3
        cov[b, a] = cov[a, b]
""",
        ({"M": 3, "N": 4},),
    ),
    "total": Kernel(
        "A[N, M]; r[1]; local s",
        """
s = 0
for i in range(N):
    for j in range(M):
        s += A[i, j]
r[0] = s
""",
        ({"N": 3, "M": 2}, {"N": 3, "M": 0}, {"N": 0, "M": 2}),
    ),
    "greatest": Kernel(
        "A[N, N]; r[1]",
        """
for i in range(N):
    for j in range(i + 1):
        r[0] = max(r[0], A[i, j])
""",
        ({"N": 4}, {"N": 0}),
    ),
    "mttkrp": Kernel(
        "A[I, J]; B[I, K, L]; D[L, J]; C[K, J]",
        """
for i in range(I):
    for k in range(K):
        for l in range(L):
            for j in range(J):
                A[i, j] += B[i, k, l] * D[l, j] * C[k, j]
""",
        ({"I": 2, "J": 3, "K": 2, "L": 3}, {"I": 2, "J": 1, "K": 0, "L": 2}),
    ),
    "three_loops_down": Kernel(
        "A[N, N, N]; r[N]; local s",
        """
for t in range(N):
    s = r[t]
    for i in range(N - 1, -1, -1):
        for j in range(i + 1):
            for k in range(j, -1, -1):
                s = s - A[i, j, k] - t
    r[t] = s * 2
""",
        ({"N": 3}, {"N": 1}),
    ),
    "row_maximum": Kernel(
        "A[N, M, 4]; r[N]",
        """
for i in range(N):
    r[i] = -5
    for j in range(M):
        for k in range(4):
            r[i] = max(max(A[i, j, k], r[i]), j)
""",
        ({"N": 2, "M": 3}, {"N": 2, "M": 0}),
    ),
    "prefix_sums": Kernel(
        "A[N, M]; B[N, M]; local s",
        """
s = 0
for i in range(N):
    for j in range(M):
        s += A[i, j]
        B[i, j] = s
""",
        ({"N": 2, "M": 3},),
    ),
    "rows_with_gaps": Kernel(
        "A[N, N]; r[1]",
        """
for i in range(N):
    for j in range(i, N):
        if j <= 1 or j >= 4:
            r[0] = r[0] * A[i, j]
""",
        ({"N": 6}, {"N": 2}),
    ),
    "pipeline": Kernel(
        "u[N]; y[N, N]; local x[N, N]",
        """
for i in range(N):
    for j in range(N):
        if i == 0:
            x[i, j] = u[j]
        else:
            x[i, j] = x[i - 1, j]
        y[i, j] = x[i, j] * i
""",
    ),
    "conditions": Kernel(
        "A[N, N]; B[N]; local t",
        """
for i in range(N - 1, -1, -1):
    t = i
    if 2 <= i and not i == 4 or i == N - 1:
        t = B[i]
        for j in range(max(0, i - 2), min(N, i + 2)):
            A[i, j] = t * A[j, i]
            B[j] = t
    else:
        B[i] = t + A[i, i]
""",
        ({"N": 7}, {"N": 4}),
    ),
    "first_choices": Kernel(
        "A[N]; B[N]; local t; local u[N]",
        """
for i in range(N):
    t = select(A[i] > 0, A[i], t)
    u[i] = select(A[i] > 0, select(A[i] > 3, t * 3, t * 2), u[i])
    if i > 1:
        u[i] = select(A[i] > 0, u[i], 3)
    else:
        u[i] = 7
    t = select(A[i] > 0, t, u[i])
    B[i] = t + u[i]
""",
    ),
    "branches": Kernel(
        "A[N]; B[N]; local t; local u; local c; local d",
        """
for i in range(N):
    c = A[i] > 0
    t = select(c, A[i], t)
    u = select(c, t * 2, u)
    d = A[i] < B[i]
    t = select(c, t, select(d, 0, t))
    u = select(c, u, select(d, t + 1, u))
    u = select(c, u, select(d, u, 3))
    t = select(c, t, select(d, t, u))
    B[i] = t + u
""",
    ),
    "other_conditions": Kernel(
        "A[N]; B[N]; local t; local c",
        """
t = 5
for i in range(1, N):
    c = A[i] > 0
    t = select(c, A[i], t)
    c = A[i - 1] > 0
    t = select(c, t, B[i])
    A[i] = select(A[i] > 3, t, A[i])
    B[i] = select(A[i] > 3, A[i], t)
""",
    ),
    "recurrent_choices": Kernel(
        "A[2 * N + 2]; B[N + 3, N + 3]; local t",
        """
t = 1
for i in range(N):
    for j in range(i, -1, -1):
        A[j] = select(t > 0, B[j, i + 2], A[j])
    for k in range(N):
        A[k + i] = A[k + i]
    for m in range(N):
        for n in range(1, N):
            A[i] = select(B[i, i + 2] > 0, A[i], A[i])
            A[i] = select(B[i, i + 2] > 0, A[i], A[m])
            t = B[i, n]
""",
    ),
    "temporaries": Kernel(
        "A[N]; B[N]; C[N]; local t; local u",
        """
for i in range(N):
    t = A[i]
    u = t
    B[i] = u * t
    A[i] = B[i]
    t = A[i]
    C[N - 1 - i] = t
""",
    ),
    "overwritten": Kernel(
        "A[N]; B[N]; local t[N]",
        """
for i in range(N):
    A[i] = 5
    B[i] = 2 * i
for j in range(1, N):
    A[j] = B[j] + 1
    t[j] = A[j - 1]
""",
    ),
    "reversal": Kernel("A[N]", "for i in range(N):\n    A[i] = A[N - 1 - i] + 1", ({"N": 6}, {"N": 7})),
}
