# SPDX-License-Identifier: Apache-2.0
"""Faulty kernels: the bodies of `BODIES` stand in one function, the texts of `FILES` are whole files."""

from __future__ import annotations

from textwrap import indent

HEADER = """import math
import polyloom as pl

N, M = pl.sizes("N M")
WEIGHT = 0.5
TABLE = [1, 2, 3]


def helper(v):
    return v


@pl.kernel
def f(A: pl.f32[N, M], x: pl.f32[N], b: pl.i32[N], c: pl.i8[N], alpha: pl.f32, n: int) -> None:
"""

BODIES: dict[str, str] = {
    "while": "while alpha > 0.5:\n    x[0] = 1.0",
    "unsupported_function": "for i in range(N):\n    x[i] = math.erf(x[i])",
    "print": "for i in range(N):\n    print(x)",
    "recursion": "f(A, x, b, c, alpha, n)",
    "list": "for i in range(N):\n    v = [x[i]]",
    "whole_array": "for i in range(N):\n    x[i] = x",
    "array_of_the_module": "for i in range(N):\n    b[i] = TABLE[i]",
    "object_of_the_module": "for i in range(N):\n    b[i] = TABLE",
    "indirect": "for i in range(N):\n    x[i] = x[b[i]]",
    "indirect_variable": "for i in range(N):\n    k = b[i]\n    x[i] = x[k]",
    "index_product": "for i in range(N):\n    for j in range(N):\n        x[i] = x[i * j]",
    "index_quotient": "for i in range(N):\n    x[i] = x[i // n]",
    "index_real": "for i in range(N):\n    x[i] = x[WEIGHT]",
    "index_too_large": "for i in range(N):\n    x[i] = x[i + 5000000000]",
    "power_too_large": "for i in range(N):\n    b[i] = 10**40",
    "integer_beyond_floats": "for i in range(N):\n    x[i] = 10**40",
    "bound_of_data": "for i in range(N):\n    for j in range(b[i]):\n        A[i, j] = 0.0",
    "bound_of_truth": "for i in range(N > 3):\n    x[i] = 1.0",
    "bound_quotient": "for i in range(N // 2):\n    x[i] = 0.0",
    "bound_max": "for i in range(max(N, M)):\n    x[i] = 0.0",
    "step": "for i in range(0, N, n):\n    x[i] = 0.0",
    "loop_else": "for i in range(N):\n    b[i] = 0\nelse:\n    b[0] = 1",
    "assign_loop": "for i in range(N):\n    i = i + 1\n    x[i] = 0.0",
    "assign_size": "N = 3",
    "assign_parameter": "for i in range(n):\n    n = 3",
    "loop_over_argument": "for alpha in range(N):\n    x[0] = 1.0",
    "assign_attribute": "x.value = 1.0",
    "assign_twice": "for i in range(N):\n    x[i] = A[i, 0] = math.sqrt(x[i])",
    "loop_variable_outside": "for i in range(N):\n    x[i] = 0.0\nb[0] = i",
    "global": "global WEIGHT\nWEIGHT = 1.0",
    "nested_function": "def g() -> None:\n    pass",
    "import": "import numpy",
    "value_statement": "for i in range(N):\n    x[i] + 1.0",
    "assertion": "for i in range(N):\n    assert i < M\n    x[i] = 0.0",
    "mixed_signs": "for i in range(N):\n    b[i] = b[i] + pl.u32(c[i])",
    "mixed_signs_compared": "for i in range(N):\n    if pl.u32(c[i]) < b[i]:\n        x[i] = 0.0",
    "variable_of_two_types": "for i in range(N):\n    v = b[i]\n    v = x[i]\n    b[i] = v",
    "variable_grows": "v = c[0]\nfor i in range(N):\n    v += b[i]\nb[0] = v",
    "sum_of_conditions": "for i in range(N):\n    b[i] = (x[i] > 0.0) + (x[i] < 1.0)",
    "sum_of_halves": "for i in range(N):\n    x[i] = pl.f16(x[i]) + pl.f16(1.0)",
    "double_exponential": "for i in range(N):\n    x[i] = pl.exp(pl.f64(x[i]))",
    "logarithm_of_integer": "for i in range(N):\n    x[i] = pl.log(b[i])",
    "astype_of_text": "for i in range(N):\n    b[i] = x[i].astype('int32')",
    "real_floor": "for i in range(N):\n    x[i] = x[i] // 2.0",
    "real_remainder_later": "for i in range(N):\n    v = 7\n    v = v % 2\n    v = x[i]",
    "real_bits": "for i in range(N):\n    x[i] = x[i] & 1",
    "root_of_integer": "for i in range(N):\n    b[i] = math.sqrt(b[i])",
    "constant_range": "for i in range(N):\n    c[i] = 200",
    "constant_real": "for i in range(N):\n    b[i] = 0.5",
    "constant_infinite": "for i in range(N):\n    x[i] = 1e60",
    "constant_text": "for i in range(N):\n    x[i] = 'one'",
    "constant_division": "for i in range(N):\n    b[i] = b[i] // 0",
    "power_of_data": "for i in range(N):\n    x[i] = x[i] ** b[i]",
    "identity": "for i in range(N):\n    if x[i] is x[0]:\n        x[i] = 0.0",
    "and_of_values": "for i in range(N):\n    x[i] = x[i] and 1.0",
    "unknown_name": "for i in range(N):\n    x[i] = alhpa * x[i]",
    "unknown_array": "for i in range(N):\n    x[i] = y[i]",
    "unknown_bound": "for i in range(K):\n    x[i] = 0.0",
    "unknown_function": "for i in range(N):\n    x[i] = maxx(x[i], 0.0)",
    "unknown_attribute": "for i in range(N):\n    x[i] = math.squrt(x[i])",
    "element_of_scalar": "for i in range(N):\n    x[i] = alpha[i]",
    "declared_type": "v: float = 0.0\nx[0] = v",
    "arguments_of_min": "for i in range(N):\n    x[i] = min(x[i])",
    "test_and_body": "for i in range(N):\n    if y > 0:\n        x[i] = z",
    "several": "for i in range(N):\n    c[i] = 1.5 // x[i]\n    x[i] = y[i]\n    while i:\n        pass",
}

_START = 'import polyloom as pl\n\nN, M = pl.sizes("N M")\n\n\n'

FILES: dict[str, str] = {
    "no_kernel": "import polyloom as pl\n",
    "syntax": "import polyloom as pl\n\nfor i in range(3)\n    pass\n",
    "exception": "import polyloom as pl\n\nN = pl.sizes('N')\nprint(1 / 0)\n",
    "exit": "import sys\n\nsys.exit(3)\n",
    "size_name": "import polyloom as pl\n\nN = pl.size('2N')\n",
    "size_value": "import polyloom as pl\n\nN = pl.size('N')\nfor i in range(N):\n    pass\n",
    "size_count": "import polyloom as pl\n\nN, M = pl.sizes('N')\nK, L = pl.sizes('K L M')\n",
    "extent_product": f"{_START}@pl.kernel\ndef f(x: pl.f32[N * N]) -> None:\n    x[0] = 1.0\n",
    "extent_quotient": f"{_START}@pl.kernel\ndef f(x: pl.f32[N // 2]) -> None:\n    x[0] = 1.0\n",
    "element_name": f"{_START}@pl.kernel\ndef f(x: pl.float32[N]) -> None:\n    x[0] = 1.0\n",
    "size_of_no_declaration": f"{_START}@pl.kernel\ndef f(x: pl.f32[K]) -> None:\n    x[0] = 1.0\n",
    "parentheses": f"{_START}@pl.kernel()\ndef f(x: pl.f32[N]) -> None:\n    x[0] = 1.0\n",
    "not_a_function": "import polyloom as pl\n\nf = pl.kernel(3)\n",
    "lambda": "import polyloom as pl\n\nf = pl.kernel(lambda x: None)\n",
    "no_annotation": f"{_START}@pl.kernel\ndef f(x) -> None:\n    pass\n",
    "double": f"{_START}@pl.kernel\ndef f(alpha: float) -> None:\n    pass\n",
    "wide_elements": f"import numpy as np\n{_START}@pl.kernel\ndef f(x: np.int64) -> None:\n    pass\n",
    "double_array": f"import numpy as np\n{_START}@pl.kernel\ndef f(x: np.ndarray) -> None:\n    pass\n",
    "unknown_type": f"{_START}@pl.kernel\ndef f(x: pl.f128[N]) -> None:\n    pass\n".replace(
        "import polyloom", "from __future__ import annotations\nimport polyloom"
    ),
    "unknown_size": f"{_START}@pl.kernel\ndef f(x: pl.f32[K]) -> None:\n    pass\n".replace(
        "import polyloom", "from __future__ import annotations\nimport polyloom"
    ),
    "extent": f"{_START}@pl.kernel\ndef f(x: pl.f32[N * M]) -> None:\n    pass\n".replace(
        "import polyloom", "from __future__ import annotations\nimport polyloom"
    ),
    "extent_text": f"{_START}@pl.kernel\ndef f(x: pl.f32[N, '4*M']) -> None:\n    pass\n",
    "no_extent": f"{_START}@pl.kernel\ndef f(x: pl.f32[()]) -> None:\n    pass\n",
    "any_arguments": f"{_START}@pl.kernel\ndef f(*arrays: pl.f32) -> None:\n    pass\n",
    "argument_named_as_size": f"{_START}SIZE = N\n\n\n@pl.kernel\ndef f(N: pl.f32[SIZE]) -> None:\n    N[0] = 1.0\n",
    "several_kernels": f"{_START}@pl.kernel\ndef f(x: pl.f32[N]) -> None:\n    x[0] = 1.0\n\n\n@pl.kernel\ndef g(x: "
    "pl.f32[N]) -> None:\n    x[0] = 1.0\n",
}


def texts() -> dict[str, str]:
    """Every faulty file by its name."""
    return {name: HEADER + indent(body, "    ") + "\n" for name, body in BODIES.items()} | FILES
