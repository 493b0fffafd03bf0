# SPDX-License-Identifier: Apache-2.0
"""Modules of MLIR for the fuzzers: seeds, their damage, and an attempt to read one."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random
from typing import Final

from tests.device.devices import ROOT
from tests.frontend.mlir.faulty import TEXTS
from tests.fuzz import damage
from tests.fuzz.isolated import PATIENCE, limited

from polyloom.diagnostics import INFEASIBLE, INPUT, PolyloomError
from polyloom.frontend.mlir import load
from polyloom.frontend.source import Options

_WORD: Final = re.compile(r"%?[\w.]+|[-+*<>=]+")
_PARTS: Final = (
    "%x",
    "-1",
    "0",
    "4294967296",
    "index",
    "f64",
    "?",
    "i64",
    "memref<*xf32>",
    "tensor<4xf32>",
    "mod",
    "{",
)


@cache
def mlir_seeds() -> tuple[bytes, ...]:
    """The examples, and what is refused."""
    paths = sorted((ROOT / "examples" / "mlir").glob("*.mlir"))
    return (*(path.read_bytes() for path in paths), *(text.encode() for text in TEXTS.values()))


def damage_module(data: bytes, random: Random) -> bytes:
    """A module in which one to three words are others, or a damaged text."""
    if not random.randrange(3):
        return damage.of_text_bytes(data, random)
    text = data.decode("utf-8", "replace")
    for _ in range(random.randint(1, 3)):
        words = list(_WORD.finditer(text))
        if words:
            at, other = random.choice(words), random.choice((*_PARTS, random.choice(words)[0]))
            text = text[: at.start()] + other + text[at.end() :]
    return text.encode()


def read_module(path: str) -> None:
    """A function of a file as a nest. Raises AssertionError for what no reader may do."""
    assert limited(PATIENCE, lambda: _read(path)), f"reading takes more than {PATIENCE} seconds"


def _read(path: str) -> None:
    names = re.findall(r"@(\w+)", Path(path).read_bytes().decode("utf-8", "replace")) or [None]
    try:
        nest, _ = load(path, Options(function=names[0]), indirect=True)
    except PolyloomError as error:
        assert error.exit_code in (INPUT, INFEASIBLE), error
        assert all(d.help is not None for d in error.diagnostics), error
        return
    assert nest.name
