# SPDX-License-Identifier: Apache-2.0
"""Numerical kernels as NumPy users publish them: linear algebra, stencils, statistics, networks, physics; only
arguments have types and sizes."""

# What NumPy gives is stored to arguments that a type checker takes for elements.
# ruff: noqa: B007, E741, F841, RET504
# pyright: basic, reportAttributeAccessIssue=false, reportCallIssue=false, reportArgumentType=false
# pyright: reportOperatorIssue=false, reportReturnType=false, reportAssignmentType=false, reportIndexIssue=false

from __future__ import annotations

from typing import Any

import numpy as np

import polyloom as pl

N, M, K, L, T, H = pl.sizes("N M K L T H")


@pl.kernel
def k2mm(alpha: pl.f32, beta: pl.f32, A: pl.f32[N, K], B: pl.f32[K, M], C: pl.f32[M, L], D: pl.f32[N, L]) -> Any:
    D[:] = alpha * A @ B @ C + beta * D


@pl.kernel
def atax(A: pl.f32[M, N], x: pl.f32[N]) -> Any:
    return (A @ x) @ A


@pl.kernel
def bicg(A: pl.f32[N, M], p: pl.f32[M], r: pl.f32[N]) -> Any:
    return r @ A, A @ p


@pl.kernel
def mvt(x1: pl.f32[N], x2: pl.f32[N], y_1: pl.f32[N], y_2: pl.f32[N], A: pl.f32[N, N]) -> Any:
    x1 += A @ y_1
    x2 += y_2 @ A


@pl.kernel
def gesummv(alpha: pl.f32, beta: pl.f32, A: pl.f32[N, N], B: pl.f32[N, N], x: pl.f32[N]) -> Any:
    return alpha * A @ x + beta * B @ x


@pl.kernel
def syrk(alpha: pl.f32, beta: pl.f32, C: pl.f32[N, N], A: pl.f32[N, M]) -> Any:
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]


@pl.kernel
def trmm(alpha: pl.f32, A: pl.f32[M, M], B: pl.f32[M, N]) -> Any:
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
    B *= alpha


@pl.kernel
def symm(alpha: pl.f32, beta: pl.f32, C: pl.f32[M, N], A: pl.f32[M, M], B: pl.f32[M, N]) -> Any:
    temp2 = np.empty((C.shape[1],), dtype=C.dtype)
    C *= beta
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[:i, j] += alpha * B[i, j] * A[i, :i]
            temp2[j] = B[:i, j] @ A[i, :i]
        C[i, :] += alpha * B[i, :] * A[i, i] + alpha * temp2


@pl.kernel
def trisolv(L: pl.f32[N, N], x: pl.f32[N], b: pl.f32[N]) -> Any:
    for i in range(x.shape[0]):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]


@pl.kernel
def lu(A: pl.f32[N, N]) -> Any:
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, A.shape[0]):
            A[i, j] -= A[i, :i] @ A[:i, j]


@pl.kernel
def cholesky(A: pl.f32[N, N]) -> Any:
    A[0, 0] = np.sqrt(A[0, 0])
    for i in range(1, A.shape[0]):
        for j in range(i):
            A[i, j] -= np.dot(A[i, :j], A[j, :j])
            A[i, j] /= A[j, j]
        A[i, i] -= np.dot(A[i, :i], A[i, :i])
        A[i, i] = np.sqrt(A[i, i])


@pl.kernel
def durbin(r: pl.f32[N]) -> Any:
    y = np.empty_like(r)
    alpha = -r[0]
    beta = np.float32(1.0)
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


@pl.kernel
def gramschmidt(A: pl.f32[M, N]) -> Any:
    Q = np.zeros_like(A)
    R = np.zeros((A.shape[1], A.shape[1]), dtype=A.dtype)
    for k in range(A.shape[1]):
        nrm = np.dot(A[:, k], A[:, k])
        R[k, k] = np.sqrt(nrm)
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, A.shape[1]):
            R[k, j] = np.dot(Q[:, k], A[:, j])
            A[:, j] -= Q[:, k] * R[k, j]
    return Q, R


@pl.kernel
def doitgen(A: pl.f32[N, M, K], C4: pl.f32[K, K]) -> Any:
    A[:] = np.reshape(np.reshape(A, (N, M, 1, K)) @ C4, (N, M, K))


@pl.kernel
def correlation(float_n: pl.f32, data: pl.f32[N, M]) -> Any:
    mean = np.mean(data, axis=0)
    stddev = np.std(data, axis=0)
    stddev[stddev <= 0.1] = 1.0
    data -= mean
    data /= np.sqrt(float_n) * stddev
    corr = np.eye(M, dtype=data.dtype)
    for i in range(M - 1):
        corr[i + 1 : M, i] = corr[i, i + 1 : M] = data[:, i] @ data[:, i + 1 : M]
    return corr


@pl.kernel
def fdtd_2d(ex: pl.f32[N, M], ey: pl.f32[N, M], hz: pl.f32[N, M], _fict_: pl.f32[T]) -> Any:
    for t in range(T):
        ey[0, :] = _fict_[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


@pl.kernel
def heat_3d(A: pl.f32[N, N, N], B: pl.f32[N, N, N]) -> Any:
    for t in range(1, T):
        B[1:-1, 1:-1, 1:-1] = (
            0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[:-2, 1:-1, 1:-1])
            + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, :-2, 1:-1])
            + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, 1:-1, 0:-2])
            + A[1:-1, 1:-1, 1:-1]
        )
        A[1:-1, 1:-1, 1:-1] = B[1:-1, 1:-1, 1:-1] * 1.0


@pl.kernel
def seidel(A: pl.f32[N, N]) -> Any:
    for t in range(T - 1):
        for i in range(1, N - 1):
            A[i, 1:-1] += (
                A[i - 1, :-2] + A[i - 1, 1:-1] + A[i - 1, 2:] + A[i, 2:] + A[i + 1, :-2] + A[i + 1, 1:-1] + A[i + 1, 2:]
            )
            for j in range(1, N - 1):
                A[i, j] += A[i, j - 1]
                A[i, j] /= 9.0


@pl.kernel
def floyd_warshall(path: pl.i32[N, N]) -> Any:
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))


@pl.kernel
def adi(u: pl.f32[N, N]) -> Any:
    v = np.empty(u.shape, dtype=u.dtype)
    p = np.empty(u.shape, dtype=u.dtype)
    q = np.empty(u.shape, dtype=u.dtype)
    for t in range(1, T + 1):
        v[0, 1 : N - 1] = 1.0
        p[1 : N - 1, 0] = 0.0
        q[1 : N - 1, 0] = v[0, 1 : N - 1]
        for j in range(1, N - 1):
            p[1 : N - 1, j] = -0.5 / (0.3 * p[1 : N - 1, j - 1] + 2.0)
            q[1 : N - 1, j] = (
                -0.1 * u[j, 0 : N - 2]
                + (1.0 + 2.0 * 0.1) * u[j, 1 : N - 1]
                - 0.2 * u[j, 2:N]
                - 0.3 * q[1 : N - 1, j - 1]
            ) / (0.3 * p[1 : N - 1, j - 1] + 2.0)
        v[N - 1, 1 : N - 1] = 1.0
        for j in range(N - 2, 0, -1):
            v[j, 1 : N - 1] = p[1 : N - 1, j] * v[j + 1, 1 : N - 1] + q[1 : N - 1, j]
        u[1 : N - 1, 1 : N - 1] = v[1 : N - 1, 1 : N - 1]


@pl.kernel
def hdiff(in_field: pl.f32[N + 4, M + 4, K], out_field: pl.f32[N, M, K], coeff: pl.f32[N, M, K]) -> Any:
    I, J, KK = out_field.shape[0], out_field.shape[1], out_field.shape[2]
    lap_field = 4.0 * in_field[1 : I + 3, 1 : J + 3, :] - (
        in_field[2 : I + 4, 1 : J + 3, :]
        + in_field[0 : I + 2, 1 : J + 3, :]
        + in_field[1 : I + 3, 2 : J + 4, :]
        + in_field[1 : I + 3, 0 : J + 2, :]
    )
    res = lap_field[1:, 1 : J + 1, :] - lap_field[:-1, 1 : J + 1, :]
    flx_field = np.where((res * (in_field[2 : I + 3, 2 : J + 2, :] - in_field[1 : I + 2, 2 : J + 2, :])) > 0, 0, res)
    res = lap_field[1 : I + 1, 1:, :] - lap_field[1 : I + 1, :-1, :]
    fly_field = np.where((res * (in_field[2 : I + 2, 2 : J + 3, :] - in_field[2 : I + 2, 1 : J + 2, :])) > 0, 0, res)
    out_field[:, :, :] = in_field[2 : I + 2, 2 : J + 2, :] - coeff[:, :, :] * (
        flx_field[1:, :, :] - flx_field[:-1, :, :] + fly_field[:, 1:, :] - fly_field[:, :-1, :]
    )


def relu(x: Any) -> Any:
    return np.maximum(x, 0)


def softmax(x: Any) -> Any:
    tmp_max = np.max(x, axis=-1, keepdims=True)
    tmp_out = np.exp(x - tmp_max)
    tmp_sum = np.sum(tmp_out, axis=-1, keepdims=True)
    return tmp_out / tmp_sum


@pl.kernel
def mlp(input: pl.f32[N, K], w1: pl.f32[K, M], b1: pl.f32[M], w2: pl.f32[M, L], b2: pl.f32[L]) -> Any:
    x = relu(input @ w1 + b1)
    x = softmax(x @ w2 + b2)
    return x


@pl.kernel
def softmax4(x: pl.f32[N, H, T, T]) -> Any:
    return softmax(x)


@pl.kernel
def conv2d_bias(input: pl.f32[N, H, L, 3], weights: pl.f32[3, 3, 3, K], bias: pl.f32[K]) -> Any:
    assert H >= 3
    assert L >= 3
    C_out = weights.shape[3]
    H_out = input.shape[1] - 3 + 1
    W_out = input.shape[2] - 3 + 1
    output = np.empty((N, H_out, W_out, C_out), dtype=np.float32)
    for i in range(H_out):
        for j in range(W_out):
            output[:, i, j, :] = np.sum(
                input[:, i : i + 3, j : j + 3, :, np.newaxis] * weights[np.newaxis, :, :, :], axis=(1, 2, 3)
            )
    return output + bias


@pl.kernel
def go_fast(a: pl.f32[N, N]) -> Any:
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


@pl.kernel
def arc_distance(theta_1: pl.f32[N], phi_1: pl.f32[N], theta_2: pl.f32[N], phi_2: pl.f32[N]) -> Any:
    temp = np.sin((theta_2 - theta_1) / 2) ** 2 + np.cos(theta_1) * np.cos(theta_2) * np.sin((phi_2 - phi_1) / 2) ** 2
    return 2 * np.sqrt(temp)


@pl.kernel
def compute(array_1: pl.i32[N, M], array_2: pl.i32[N, M], a: pl.i32, b: pl.i32, c: pl.i32) -> Any:
    return np.clip(array_1, 2, 10) * a + array_2 * b + c


@pl.kernel
def azimint(data: pl.f32[N], radius: pl.f32[N]) -> Any:
    rmax = radius.max()
    res = np.zeros(8, dtype=np.float32)
    for i in range(8):
        r1 = rmax * i / 8
        r2 = rmax * (i + 1) / 8
        mask_r12 = np.logical_and((r1 <= radius), (radius < r2))
        res[i] = np.sum(np.where(mask_r12, data, 0.0)) / (np.sum(mask_r12) + 1)
    return res


@pl.kernel
def mandel(c: pl.f32[N], d: pl.f32[N], n: pl.i32[N]) -> Any:
    x = np.zeros_like(c)
    y = np.zeros_like(c)
    n[:] = 0
    for _ in range(10):
        inside = x * x + y * y < 4.0
        x, y = np.where(inside, x * x - y * y + c, x), np.where(inside, 2.0 * x * y + d, y)
        n[inside] += 1


@pl.kernel
def nbody(mass: pl.f32[N, 1], pos: pl.f32[N, 3], acc: pl.f32[N, 3], G: pl.f32, softening: pl.f32) -> Any:
    x = pos[:, 0:1]
    y = pos[:, 1:2]
    z = pos[:, 2:3]
    dx = x.T - x
    dy = y.T - y
    dz = z.T - z
    inv_r3 = dx**2 + dy**2 + dz**2 + softening**2
    inv_r3 = 1.0 / (inv_r3 * np.sqrt(inv_r3))
    ax = G * (dx * inv_r3) @ mass
    ay = G * (dy * inv_r3) @ mass
    az = G * (dz * inv_r3) @ mass
    acc[:] = np.hstack((ax, ay, az))


@pl.kernel
def cavity(u: pl.f32[N, N], p: pl.f32[N, N], b: pl.f32[N, N], dx: pl.f32, dy: pl.f32) -> Any:
    pn = np.empty_like(p)
    pn[:] = p.copy()
    for q in range(T):
        pn[:] = p.copy()
        p[1:-1, 1:-1] = ((pn[1:-1, 2:] + pn[1:-1, 0:-2]) * dy**2 + (pn[2:, 1:-1] + pn[0:-2, 1:-1]) * dx**2) / (
            2 * (dx**2 + dy**2)
        ) - b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0


@pl.kernel
def deriche(x: pl.f32[N, M]) -> Any:
    y1 = np.empty_like(x)
    y1[:, 0] = 0.2 * x[:, 0]
    y1[:, 1] = 0.2 * x[:, 1] + 0.1 * x[:, 0] + 0.3 * y1[:, 0]
    for j in range(2, x.shape[1]):
        y1[:, j] = 0.2 * x[:, j] + 0.1 * x[:, j - 1] + 0.3 * y1[:, j - 1] + 0.4 * y1[:, j - 2]
    return y1
