# SPDX-License-Identifier: Apache-2.0
"""Random programs of vectors beside NumPy: more values than registers, calls between them, arrays of vectors, masks."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.targets.minion.c.programs import run_c

pytest.importorskip("ziglang", reason="C needs the extra `c`")

VALUES: Final = 40
STEPS: Final = 150
Lanes = NDArray[np.int32]
NAMES: Final = ("add", "sub", "mul", "and", "or", "xor", "min", "max")


def _apply(name: str, a: Lanes, b: Lanes) -> Lanes:
    """What an operation does in each lane; words wrap."""
    match name:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "mul":
            return a * b
        case "and":
            return a & b
        case "or":
            return a | b
        case "xor":
            return a ^ b
        case "min":
            return np.minimum(a, b)
        case _:
            return np.maximum(a, b)


def _program(r: random.Random, values: list[Lanes]) -> tuple[str, list[Lanes]]:
    """Statements over `VALUES` vectors, half of them in an array, and what they leave."""
    lines: list[str] = []

    def name(k: int) -> str:
        return f"v{k}" if k < VALUES // 2 else f"more[{k - VALUES // 2}]"

    for _ in range(STEPS):
        d, a, b = (r.randrange(VALUES) for _ in range(3))
        operation = r.choice(NAMES)
        match r.randrange(5):
            case 0:
                lanes = r.randrange(256)
                lines.append(f"et_set_lanes({lanes});")
                lines.append(f"{name(d)} = et_f{operation}_pi_masked({name(d)}, {name(a)}, {name(b)});")
                lines.append("et_set_lanes(255);")
                selected = np.array([lanes >> k & 1 for k in range(8)], bool)
                values[d] = np.where(selected, _apply(operation, values[a], values[b]), values[d])
            case 1:
                lines.append(f"{name(d)} = mixed({name(a)}, {name(b)});")
                values[d] = (values[a] ^ values[b]) + values[a]
            case 2:
                amount = r.randrange(32)
                lines.append(f"{name(d)} = et_fsrai_pi(et_fslli_pi({name(a)}, {amount}), {amount});")
                values[d] = (values[a] << np.int32(amount)) >> np.int32(amount)
            case _:
                lines.append(f"{name(d)} = et_f{operation}_pi({name(a)}, {name(b)});")
                values[d] = _apply(operation, values[a], values[b])
    return "\n    ".join(lines), values


@pytest.mark.parametrize("seed", range(2))
def test_random_vectors(seed: int, tmp_path: Path) -> None:
    r = random.Random(seed)
    x = np.random.default_rng(seed).integers(-(2**31), 2**31, (VALUES, 8)).astype(np.int32)
    with np.errstate(over="ignore"):
        body, values = _program(r, list(x))
    half = VALUES // 2
    loads = "\n    ".join(f"et_i32x8 v{k} = et_load_i32x8(x[{k}]);" for k in range(half))
    stores = "\n    ".join(f"et_store_i32x8(x[{k}], v{k});" for k in range(half))
    text = f"""#include <minion.h>
int x[{VALUES}][8];
__attribute__((noinline)) et_i32x8 mixed(et_i32x8 a, et_i32x8 b) {{ return et_fadd_pi(et_fxor_pi(a, b), a); }}
int main(void) {{
    {loads}
    et_i32x8 more[{half}];
    for (int k = 0; k < {half}; k++) more[k] = et_load_i32x8(x[k + {half}]);
    {body}
    {stores}
    for (int k = 0; k < {half}; k++) et_store_i32x8(x[k + {half}], more[k]);
    return 0;
}}
"""
    found = run_c(tmp_path, {"r.c": text}, {"x": x}, {"x": f"{VALUES}x8:i32"})
    assert (found["x"] == np.array(values)).all()
