# SPDX-License-Identifier: Apache-2.0
"""Kernels in Python with expressions replaced, of loops and of whole arrays: each is read, or refused at its place.

Only what stands inside of kernels changes, so that nothing of a damaged file runs when it is imported.
"""

from __future__ import annotations

import ast
from copy import deepcopy
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Final

from tests.device.devices import ROOT
from tests.frontend.python.arrays.programs import random_kernel
from tests.frontend.python.arrays.test_mutations import PARTS, Mutation
from tests.fuzz.isolated import PATIENCE, limited

from polyloom.diagnostics import INFEASIBLE, INPUT, PolyloomError
from polyloom.frontend.python import load_kernel

_FILES: Final = ("examples/kernels", "examples/arrays", "examples/loops", "tests/frontend/python")
LARGE: Final = (
    "10 ** 9",
    "2 ** 10 ** 7",
    "1 << 10 ** 9",
    "-(10 ** 30)",
    "(1,) * 10 ** 9",
    "[0.5] * 10 ** 9",
    "'text' * 10 ** 9",
    "np.zeros((10 ** 5, 10 ** 5))",
    "np.arange(10 ** 10)",
    "range(10 ** 12)",
    "[v for v in range(10 ** 9)]",
    "sum(v for v in range(10 ** 9))",
    "x[x.argmax()]",
    "x[b]",
    "b",
    "1e400",
    "float('nan')",
    "x[N // 0 :]",
    "not x",
    "x if N > 2 else y",
    "two(*x)",
    "f(x)",
    "(v := N)",
)
"""Parts of any size, and gathers."""


@cache
def python_seeds() -> tuple[bytes, ...]:
    """Texts of kernels: of examples, of tests that are no tests themselves, and random ones."""
    paths = [p for folder in _FILES for p in sorted((ROOT / folder).rglob("*.py")) if not p.name.startswith("test_")]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    return tuple(
        text.encode() for text in (*texts, *(random_kernel(n, gathers=n % 2 == 0) for n in range(20))) if _kernels(text)
    )


def _kernels(text: str) -> list[ast.FunctionDef]:
    found = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return [node for node in found if any(ast.unparse(each) == "pl.kernel" for each in node.decorator_list)]


def damage_kernel(data: bytes, random: Random) -> bytes:
    """One kernel of a file, in which one to three expressions are others, in the place of all its kernels."""
    module = ast.parse(data)
    chosen = random.choice([node.name for node in _kernels(data.decode())])
    others = {node.name for node in _kernels(data.decode())} - {chosen}
    module.body = [node for node in module.body if not (isinstance(node, ast.FunctionDef) and node.name in others)]
    (kernel,) = [node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == chosen]
    for _ in range(random.randint(1, 3)):
        body = ast.Module(deepcopy(kernel.body), [])
        count = sum(isinstance(node, ast.expr) for node in ast.walk(body))
        part = ast.parse(random.choice((*PARTS, *LARGE)), mode="eval").body
        kernel.body = Mutation(random.randint(1, max(count, 1)), part).visit(body).body
    return ast.unparse(ast.fix_missing_locations(module)).encode()


def read_kernel(path: str) -> None:
    """The kernel of a file as a nest. Raises AssertionError for what no reader may do."""
    data = Path(path).read_bytes()
    # Python keeps the lines of a file that it knows.
    own = Path(f"kernel_{sha256(data).hexdigest()[:16]}.py")
    own.write_bytes(data)
    try:
        assert limited(PATIENCE, lambda: _read(str(own))), f"reading takes more than {PATIENCE} seconds"
    finally:
        own.unlink()


def _read(path: str) -> None:
    try:
        assert load_kernel(path).indirect
    except PolyloomError as error:
        assert error.exit_code in (INPUT, INFEASIBLE), error
        assert all(d.help is not None for d in error.diagnostics), error
