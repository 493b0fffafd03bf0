# SPDX-License-Identifier: Apache-2.0
"""Loop fusion and array contraction: neighbouring loops of the same iterations become one where each iteration touches
places of its own; results stay the same.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polyloom.frontend.python import load_kernel
from polyloom.ir.nest_interpret import interpret
from polyloom.transform.parallel.restructuring.loop_fusion import fuse_loops

HEAD = "import polyloom as pl\n\nN = pl.sizes('N')\n\n\n@pl.kernel\n"
HEADS = "def f(a: pl.f32[N], b: pl.f32[N], c: pl.f32[N], d: pl.f32[1]) -> None:\n"
FIRST = "    for i in range(N):\n        b[i] = a[i] * 2.0\n"
SCALAR = "    s = 0.0\n    for i in range(N):\n        s = a[i]\n        b[i] = s * 2.0\n"
CASES = {
    "of one iteration": (FIRST + "    for k in range(N):\n        c[k] = b[k] + 1.0\n", 1),
    "of the iteration before": (FIRST + "    for k in range(1, N):\n        c[k] = b[k - 1] + 1.0\n", 2),
    "of another iteration": (FIRST + "    for k in range(N):\n        c[k] = b[N - 1 - k] + 1.0\n", 2),
    "a scalar of each": (
        f"{SCALAR}    for k in range(N):\n        s = b[k]\n        c[k] = s + 1.0\n    s = 5.0\n    d[0] = s\n",
        1,
    ),
    "a scalar that some iterations write, read behind": (
        f"{SCALAR}    for k in range(N):\n        if k < 3:\n            s = b[k] + 1.0\n        c[k] = b[k]\n"
        "    d[0] = s\n",
        2,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_values_stay(name: str, tmp_path: Path) -> None:
    text, loops = CASES[name]
    file = tmp_path / "f.py"
    file.write_text(HEAD + HEADS + text)
    nest = load_kernel(str(file)).nest
    made = fuse_loops(nest)
    assert sum(hasattr(node, "upper") for node in made.body) == loops
    given = {n: np.arange(1, 8, dtype=np.float32) for n in "abc"} | {"d": np.zeros(1, np.float32)}
    found, wanted = (interpret(each, {"N": 7}, given) for each in (made, nest))
    assert all(np.array_equal(found[n], wanted[n]) for n in wanted)
