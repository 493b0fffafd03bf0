# SPDX-License-Identifier: Apache-2.0
"""Faulty kernels of whole arrays: bodies of one function."""

from __future__ import annotations

from textwrap import indent

HEADER = """import numpy as np
import polyloom as pl

N, M, K = pl.sizes("N M K")
TABLE, OBJECTS = np.zeros((100, 100)), np.array([1.0, None], object)


def forever(v):
    return forever(v)


def two(a, b=1.0, *, c=2.0):
    return a * b + c


@pl.kernel
def f(A: pl.f32[N, M], B: pl.f32[K, M], x: pl.f32[N], y: pl.f32[M], b: pl.i32[N], c: pl.bool[N], alpha: pl.f32):
"""

BODIES: dict[str, str] = {
    "sum_of_shapes": "A[:] = A + B",
    "product_of_shapes": "return A @ B",
    "store_of_shape": "x[:] = y",
    "store_of_rank": "x[:] = A",
    "slice_of_shape": "x[1:] = x",
    "slice_behind": "y[:] = x[:M]",
    "slice_of_data": "x[: b[0]] = 0.0",
    "step_of_data": "x[:: b[0]] = 0.0",
    "unclear_index": "x[N - M :] = 0.0",
    "gather": "x[:] = x[b]",
    "scatter": "x[b] = 0.0",
    "gather_of_two": "return A[b, b]",
    "gather_around_axis": "return A[0, None, b]",
    "gather_of_reals": "return x[x]",
    "large_integer": "x[:] = (10 ** 300) * (10 ** 300) * alpha",
    "large_power": "return 2 ** 10 ** 9 * x",
    "repeated_by_size": "return np.array([1.0] * N, np.float32)",
    "many_targets": "t, s = np.arange(10 ** 10)\nx[:] = t",
    "object_table": "return x[:2] * OBJECTS",
    "object_elements": "return np.zeros(N, object) + x",
    "long_list": "return np.array([float(v) for v in range(10 ** 9)], np.float32)",
    "element_of_data": "x[0] = x[b[0]]",
    "mask": "return x[x > 0]",
    "where_alone": "return np.where(x > 0)",
    "array_under_mask": "x[x > 0] = A[:, 0]",
    "array_beside_mask": "x[x > 0] = x[x > 0] + A[:, 0]",
    "other_mask": "x[x > 0] = x[c]",
    "reduction_under_mask": "x[x > 0] = max(x[x > 0])",
    "mask_of_shape": "x[y > 0] = 0.0",
    "too_many_indices": "return x[0, 0]",
    "two_ellipses": "return A[..., ...]",
    "axis": "return x.sum(axis=1)",
    "wide_sum": "x[:] = b / b.sum()",
    "wide_compared": "return b.sum() > 5",
    "wide_elements": "return np.zeros(N, np.complex64)",
    "in_place_float": "b += 0.5",
    "exponent": "return x ** alpha",
    "power_of_integers": "return b ** -1",
    "floor_of_reals": "return x // 2.0",
    "and_of_arrays": "if x > 0 and x < 1:\n    x[:] = 0.0",
    "if_of_array": "if x > 0:\n    x[:] = 0.0",
    "choice_of_array": "return 1.0 if x > 0 else 2.0",
    "double_sine": "return np.sin(x.astype(np.float64))",
    "recursion": "return forever(x)",
    "missing_argument": "return two()",
    "unknown_argument": "return two(x, d=1.0)",
    "too_many_arguments": "return two(x, 1.0, 2.0)",
    "unknown_function": "return np.fft.fft(x)",
    "hypot": "return np.hypot(x, y)",
    "unknown_method": "return x.argsort()",
    "wrong_keyword": "return np.sum(x, where=c)",
    "print": "print(x)\nreturn x",
    "reshape": "return A.reshape(N * M)",
    "reshape_inferred": "return A.ravel()",
    "reshape_inferred_of_two": "return A.reshape(2, -1)",
    "index_of_all": "return np.argmin(A)",
    "extent_below_0": "return np.zeros(-1)",
    "joined_shapes": "return np.concatenate((A, B), axis=1)",
    "loop_over_data": "for i in range(b[0]):\n    x[i] = 0.0\nreturn x",
    "loop_over_lengths": "for u, v in zip(x, y):\n    x[0] = u * v\nreturn x",
    "comprehension": "return [x[i] for i in range(N)]",
    "while": "while alpha > 0:\n    x *= 0.5\nreturn x",
    "return_in_loop": "for i in range(N):\n    return x[i]",
    "return_of_one_side": "if alpha > 0:\n    return x\nx[:] = 0.0",
    "no_value": "x[:] = late\nlate = 1.0",
    "loop_variable": "for i in range(N):\n    v = A[i]\nreturn v[0]",
    "swap_of_arguments": "u, v = A[0], y\nfor _ in range(K):\n    u[1:] = v[1:]\n    u, v = v, u\nreturn u",
    "unpacking": "n, m, k = A.shape\nreturn n * x",
    "assertion": "assert alpha > 0\nreturn x",
    "large_table": "return TABLE * alpha",
    "einsum_labels": "return np.einsum('ij,jk->il', A, B)",
    "stored_value": "(x + 1.0)[0] = 2.0",
    "bools": "return c @ c",
    "quotient_of_results": "return x[::2]",
    "pad_mode": "return np.pad(x, 1, mode='maximum')",
    "unknown_name": "return xs",
    "unknown_attribute": "return np.squirt(x)",
    "text": "x[0] = 'one'\nreturn x",
    "identity": "return x is y",
}


def texts() -> dict[str, str]:
    """Whole files by name."""
    return {name: HEADER + indent(body, "    ") + "\n" for name, body in BODIES.items()}
