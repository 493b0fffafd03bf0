# SPDX-License-Identifier: Apache-2.0
"""Executed instructions of functions in C, beside those of the same functions from clang -O2, on the same interpreter.

`clang` may assume that signed arithmetic never overflows; with `-fwrapv` it keeps to what is computed here. Both get
the instruction set rv64gc, and neither vectorizes. Arrays are made from one seed; what the three leave in them must be
the same.
"""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from polyloom.diagnostics import Source
from polyloom.frontend.c.llvm import load_all
from polyloom.frontend.source import Options
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_interpret import Argument
from polyloom.ir.ssa_types import FLOATS, PTR
from polyloom.riscv import names
from polyloom.riscv.backend.compile import compile_function
from polyloom.riscv.backend.run import Outcome, call
from polyloom.transform.ssa.construct import construct

Row = dict[str, object]
ISA: Final = "rv64gc"
PATH: Final = Path(__file__).with_name("executed.c")
PEERS: Final[dict[str, tuple[str, ...]]] = {"clang -O2": (), "clang -O2 -fwrapv": ("-fwrapv",)}
_ELEMENTS: Final = {"d": "f8", "f": "f4", "b": "i1", "w": "i8"}
_SIZES: Final = {"n": 24, "s": 3, "lo": 20, "hi": 60, "x": 77, "y": 52}
_TARGET: Final = ("--target=riscv64-freestanding-none", f"-march={ISA}", "-mabi=lp64d", "-O2", "-ffp-contract=off")


def rows(only: Sequence[str] = ()) -> Iterator[Row]:
    """A row for each function, or for those that are named, and one with geometric means of the ratios."""
    functions = [f for f in _functions() if not only or f.name in only]
    with TemporaryDirectory() as folder:
        peers = {peer: _peer(Path(folder), k, words, functions) for k, (peer, words) in enumerate(PEERS.items())}
        found = list[Row]()
        for function in functions:
            found.append(_row(function, peers))
            yield found[-1]
    means: Row = {f"to {peer}": _mean(row[f"to {peer}"] for row in found) for peer in PEERS}
    yield {"what": "geometric mean", "isa": ISA, **means}


def _functions() -> list[Function]:
    text = PATH.read_text(encoding="utf-8")
    wanted = re.findall(r"^(?:\w+ )+\*?(\w+)\(", text, re.MULTILINE)
    loaded = load_all(Source(str(PATH), text), wanted, Options(), 2, "riscv64-unknown-elf")
    return [construct(function) for function in loaded]


def _row(function: Function, peers: dict[str, dict[str, bytes]]) -> Row:
    isa = names.parse(ISA)
    own, left = _run(compile_function(function, isa).elf, function)
    row: Row = {"what": function.name, "isa": ISA, "polyloom": own.instructions, "unit": "instructions executed"}
    for peer, files in peers.items():
        if function.name not in files:
            row |= {peer: None, f"to {peer}": None}
            continue
        theirs, also = _run(files[function.name], function)
        same = own.result == theirs.result and all(map(np.array_equal, left, also))
        assert same, f"{function.name} of {peer} computes something else"
        row |= {peer: theirs.instructions, f"to {peer}": round(own.instructions / theirs.instructions, 2)}
    return row


def _run(elf: bytes, function: Function) -> tuple[Outcome, list[Argument]]:
    arguments = _arguments(function)
    return call(elf, names.parse(ISA), function, arguments), arguments


def _arguments(function: Function) -> list[Argument]:
    random = np.random.default_rng(1)
    made: list[Argument] = []
    for parameter in function.parameters:
        if parameter.type == PTR:
            made.append(random.integers(1, 100, 1024).astype(_ELEMENTS.get(parameter.name[0], "i4")))
        else:
            made.append(1.5 if parameter.type in FLOATS else _SIZES[parameter.name])
    return made


def _peer(folder: Path, number: int, words: tuple[str, ...], functions: Sequence[Function]) -> dict[str, bytes]:
    """By function the executable that clang makes, whose entry it is; nothing where there is no clang."""
    if find_spec("ziglang") is None:
        return {}
    object = folder / f"{number}.o"
    zig = [sys.executable, "-m", "ziglang"]
    subprocess.run([*zig, "clang", *_TARGET, *words, "-c", str(PATH), "-o", str(object)], check=True)
    made: dict[str, bytes] = {}
    for function in functions:
        linked = folder / f"{number}-{function.name}"
        subprocess.run([*zig, "ld.lld", "-static", "-e", function.name, str(object), "-o", str(linked)], check=True)
        made[function.name] = linked.read_bytes()
    return made


def _mean(ratios: Iterator[object]) -> float | None:
    numbers = [ratio for ratio in ratios if isinstance(ratio, float)]
    return round(math.exp(sum(map(math.log, numbers)) / len(numbers)), 3) if numbers else None
