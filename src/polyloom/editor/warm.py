# SPDX-License-Identifier: Apache-2.0
"""Preloaded module of the fork server: importing it loads the front ends and the default target, and checks small
buffers, so that what is loaded at first use is there when a worker is forked; languages of extras only where these are
installed.
"""

from __future__ import annotations

from typing import Final

from polyloom.editor.check import Request, check
from polyloom.targets import registry
from polyloom.temporary import temporary_folder

_PYTHON: Final = (
    "import polyloom as pl\n\nN = pl.size('N')\n\n\n@pl.kernel\n"
    "def warm(x: pl.f32[N], y: pl.f32[N]):\n    for i in range(N):\n        y[i] = 2.0 * x[i]\n"
)
_EQUATIONS: Final = "parameter N\ninput x[N]: i32\noutput y[N]: i32\nfor 0 <= i < N do\n  y[i] = add(x[i], 1)\n"
_C: Final = "void warm(int n, int x[n]) { for (int i = 0; i < n; i++) x[i] = 1; }\n"
_MLIR: Final = (
    "func.func @warm(%x: memref<4xf32>) {\n  %c = arith.constant 1.0 : f32\n"
    "  affine.for %i = 0 to 4 { affine.store %c, %x[%i] : memref<4xf32> }\n  return\n}\n"
)


def warm() -> None:
    """Checks of small files. No solver runs: a process with threads is not forked (POSIX 2008, `fork`)."""
    registry.default_target()
    texts = {"warm.py": _PYTHON, "warm.pla": _EQUATIONS, "warm.c": _C, "warm.mlir": _MLIR}
    with temporary_folder() as folder:
        for name, text in texts.items():
            path = folder / name
            path.write_text(text, encoding="utf-8")
            list(check(Request(str(path), text=text)))


warm()
