# SPDX-License-Identifier: Apache-2.0
"""What vector kernels in Python are told, at their own line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix.source.language.file import load_kernel

HEAD = "import polyloom as pl\n\n\n"
KERNEL = "@pl.tensix.kernel\ndef f(dst, n=1):\n    x, i = dst[0], pl.vint(dst[1])\n"
BODIES = {
    "python-if": "if x < 0.0:\n    x = -x\n",
    "python-and": "with pl.v_if(x > 0.0 and x < 1.0):\n    x = -x\n",
    "chained-comparison": "with pl.v_if(0.0 < x < 1.0):\n    x = -x\n",
    "python-while": "while x:\n    x = x - 1.0\n",
    "float-and-integer": "dst[0] = x + i\n",
    "integer-and-float": "dst[0] = i + 1.5\n",
    "assigned-type": "with pl.v_if(x < 0.0):\n    x = i\n",
    "condition-as-number": "dst[0] = pl.vfloat(x < 0.0)\n",
    "vector-as-condition": "with pl.v_if(x):\n    x = -x\n",
    "division": "dst[0] = 1.0 + x / 3.0\n",
    "text": "dst[0] = x * 'a'\n",
    "elseif-alone": "x = -x\nwith pl.v_elseif(x < 0.0):\n    x = -x\n",
    "else-behind-else": "with pl.v_if(x < 0.0):\n    x = -x\nwith pl.v_else:\n    x = x\nwith pl.v_else:\n    x = x\n",
    "else-called": "with pl.v_if(x < 0.0):\n    x = -x\nwith pl.v_else():\n    x = x\n",
    "two-conditions": "with pl.v_if(x < 0.0), pl.v_if(x > -1.0):\n    x = -x\n",
    "if-without-with": "pl.v_if(x < 0.0)\n",
    "and-alone": "pl.v_and(x < 0.0)\n",
    "row": "dst[512] = x\n",
    "layout": "dst.mode('f8')[0] = x\n",
    "register": "pl.tensix.l_reg[8] = x\n",
    "exception": "dst[0] = x * [1.0][n]\n",
    "returned": "return x\n",
    "undeclared": "dst[0] = y\n",
    "integer-minimum": "dst[0] = pl.tensix.min(i, 3)\n",
    "right-shift": "dst[0] = i >> 2\n",
    "rounding": "dst[0] = pl.tensix.convert(x, 'fp16b', 'up')\n",
    "conversion": "dst[0] = pl.tensix.convert(x, 'f64')\n",
    "rand": "dst[0] = pl.tensix.rand()\n",
}


def refused(path: Path, text: str, **constants: object) -> str:
    path.write_text(text)
    with pytest.raises(PolyloomError) as caught:
        load_kernel("kernel.py").trace("wormhole", **constants)
    return str(caught.value) + "\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", BODIES)
def test_bodies(name: str, golden: Callable[[str, str], None], tmp_path: Path) -> None:
    body = "".join(f"    {line}\n" for line in BODIES[name].splitlines())
    golden(name, refused(tmp_path / "kernel.py", HEAD + KERNEL + body))


FILES: dict[str, tuple[str, dict[str, object]]] = {
    "helper": (
        "def g(x):\n    with pl.v_if(x < 0.0):\n        x = -x\n    return x\n\n\n"
        "@pl.tensix.kernel\ndef f(dst):\n    dst[0] = g(dst[1])\n",
        {},
    ),
    "no-dst": ("@pl.tensix.kernel\ndef f():\n    pass\n", {}),
    "missing": ("@pl.tensix.kernel\ndef f(dst, slope):\n    dst[0] = slope\n", {}),
    "unknown": ("@pl.tensix.kernel\ndef f(dst, slope=1.0):\n    dst[0] = slope\n", {"slop": 2.0}),
    "run-time": ("@pl.tensix.kernel\ndef f(dst, n: pl.i32):\n    if n:\n        dst[0] = 1.0\n", {}),
    "outside": ("y = pl.vfloat(1.0)\n", {}),
    "no-kernel": ("def f(dst):\n    pass\n", {}),
    "not-a-function": ("pl.tensix.kernel(3)\n", {}),
}


@pytest.mark.parametrize("name", FILES)
def test_files(name: str, golden: Callable[[str, str], None], tmp_path: Path) -> None:
    text, constants = FILES[name]
    golden(f"file-{name}", refused(tmp_path / "kernel.py", HEAD + text, **constants))
