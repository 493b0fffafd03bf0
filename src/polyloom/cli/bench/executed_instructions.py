# SPDX-License-Identifier: Apache-2.0
"""Executed instructions and code size of functions in C, beside those of the same functions from clang -O2, on the same
interpreter.

`clang` may assume that signed arithmetic never overflows (C11, section 6.5, paragraph 5); with `-fwrapv` it keeps to
what is computed here. All get the same instruction set, and none vectorizes. On rv64gc and rv32imc; the latter has no
floats, so functions of floats have no row there. Arrays are made from one seed; what all leave in them must be the
same. Library routines that a function calls count as executed, but not in its size. `--ssa 0` is what is made of
clang's code at -O0, and not at -O2.
"""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from polyloom.diagnostics import Source
from polyloom.frontend.c.llvm import load_functions
from polyloom.frontend.source import Options
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_interpret import Argument
from polyloom.ir.ssa_types import FLOATS, PTR
from polyloom.riscv import names
from polyloom.riscv.backend import abi
from polyloom.riscv.backend.compile import compile_function
from polyloom.riscv.backend.run import Outcome, call
from polyloom.riscv.symbols import symbol_extents
from polyloom.transform.ssa.construct import construct

Row = dict[str, object]
ISAS: Final = ("rv64gc", "rv32imc")
PATH: Final = Path(__file__).with_name("executed.c")
PEERS: Final[dict[str, tuple[str, ...]]] = {"clang -O2": (), "clang -O2 -fwrapv": ("-fwrapv",)}
EXECUTED, BYTES = "instructions executed", "bytes of code"
_ELEMENTS: Final = {"d": "f8", "f": "f4", "b": "i1", "h": "i2", "q": "i8"}
_SIZES: Final = {"n": 24, "s": 3, "lo": 20, "hi": 60, "x": 77, "y": 52}
_DEFINED: Final = re.compile(r"^((?:\w+ )+\*?)(\w+)\((.*)\) \{$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Made:
    """What a compiler made of a function: its result and arrays, and the figures by unit."""

    outcome: Outcome
    arrays: list[Argument]
    figures: dict[str, int]


def rows(isas: Sequence[str] = ISAS) -> Iterator[Row]:
    """Two rows for each function, and for each instruction set and unit one with geometric means of the ratios."""
    found = list[Row]()
    for isa in isas:
        for row in _rows(names.parse_isa(isa)):
            found.append(row)
            yield row
    yield from (_means(found, isa, unit) for isa in isas for unit in (EXECUTED, BYTES))


def _rows(isa: names.Isa) -> Iterator[Row]:
    chosen = functions(isa)
    plain = {f.name: f for f in functions(isa, 0)}
    with TemporaryDirectory() as folder:
        peers = {
            p: _peer_executables(Path(folder), k, words, chosen, isa) for k, (p, words) in enumerate(PEERS.items())
        }
        for function in chosen:
            yield from _compare_function(function, plain[function.name], isa, peers)


def functions(isa: names.Isa, level: int = 2) -> list[Function]:
    """Those whose types the instruction set has."""
    text = PATH.read_text(encoding="utf-8")
    wanted = [
        name
        for result, name, parameters in _DEFINED.findall(text)
        if "f" in isa.extensions or not re.search(r"\b(float|double)\b", result + parameters)
    ]
    loaded = load_functions(Source(str(PATH), text), wanted, Options(), level, f"riscv{isa.xlen}-unknown-elf")
    return [construct(function) for function in loaded]


def _compare_function(
    function: Function, plain: Function, isa: names.Isa, peers: dict[str, dict[str, bytes]]
) -> Iterator[Row]:
    own, low = (_run(compile_function(each, isa).elf, each, isa) for each in (function, plain))
    found = {peer: _run(files[function.name], function, isa) for peer, files in peers.items() if function.name in files}
    for peer, theirs in {"--ssa 0": low, **found}.items():
        # A faster function that computes something else would be no comparison.
        same = own.outcome.result == theirs.outcome.result and all(map(np.array_equal, own.arrays, theirs.arrays))
        assert same, f"{function.name} of {peer} computes something else"
    for unit, figure in own.figures.items():
        row: Row = {"what": function.name, "isa": str(isa), "polyloom": figure, "unit": unit}
        for peer in PEERS:
            other = found[peer].figures[unit] if peer in found else None
            row |= {peer: other, f"to {peer}": round(figure / other, 2) if other else None}
        yield row | unoptimized_columns(low.figures[unit], figure)


def unoptimized_columns(low: int, high: int) -> Row:
    """The cells of `--ssa 0` and of its ratio to `--ssa 2`."""
    return {"--ssa 0": low, "to --ssa 2": round(low / high, 3)}


def _run(elf: bytes, function: Function, isa: names.Isa) -> _Made:
    given = function_arguments(function, isa)
    outcome = call(elf, isa, function, given)
    return _Made(outcome, given, {EXECUTED: outcome.instructions, BYTES: symbol_extents(elf)[function.name][1]})


def function_arguments(function: Function, isa: names.Isa) -> list[Argument]:
    # One seed: all compilers get the same arrays.
    random = np.random.default_rng(1)
    made: list[Argument] = []
    for parameter in function.parameters:
        if parameter.type == PTR:
            # A pointer to long begins with w: it has as many bits as a register.
            elements = {**_ELEMENTS, "w": f"i{isa.xlen // 8}"}
            made.append(random.integers(1, 100, 1024).astype(elements.get(parameter.name[0], "i4")))
        else:
            made.append(1.5 if parameter.type in FLOATS else _SIZES[parameter.name])
    return made


def _peer_executables(
    folder: Path, number: int, words: tuple[str, ...], functions: Sequence[Function], isa: names.Isa
) -> dict[str, bytes]:
    """By function the executable that clang makes, whose entry it is; nothing where there is no clang."""
    found = find_spec("ziglang")
    if found is None or found.origin is None:
        return {}
    object, library = folder / f"{number}.o", folder / "library.o"
    zig = [sys.executable, "-m", "ziglang"]
    target = [f"--target=riscv{isa.xlen}-freestanding-none", f"-march={isa}", f"-mabi={abi.abi_name(isa)}"]
    # Contraction to fused operations changes bits, and is off here as well.
    flags = ["-O2", "-ffp-contract=off", *words]
    subprocess.run([*zig, "clang", *target, *flags, "-c", str(PATH), "-o", str(object)], check=True)
    # Once per instruction set: the library is the same for all functions.
    if not library.exists():
        _build_library(zig, library, Path(found.origin).parent, isa)
    linked = folder / f"{number}.elf"
    link = ["-static", "-e", "0", str(object), str(library), "-o", str(linked)]
    subprocess.run([*zig, "ld.lld", *link], check=True)
    file = linked.read_bytes()
    places = symbol_extents(file)
    return {f.name: _with_entry(file, places[f.name][0], isa.xlen // 8) for f in functions}


def _with_entry(file: bytes, entry: int, size: int) -> bytes:
    """An executable with another entry (ELF, "ELF Header": `e_entry` is behind 24 bytes, and as long as an address)."""
    return file[:24] + entry.to_bytes(size, "little") + file[24 + size :]


def _build_library(zig: Sequence[str], library: Path, package: Path, isa: names.Isa) -> None:
    """The routines that clang calls, such as for quotients of 64 bits on RV32: those of the same package."""
    letters = [letter for letter in "mafdc" if letter in isa.extensions]
    machine = "+".join((f"generic_rv{isa.xlen}", *letters))
    words = ["-target", f"riscv{isa.xlen}-freestanding-none", f"-mcpu={machine}", "-O", "ReleaseFast"]
    # Routines that clang calls, for division on RV32 and its like: part of what is executed.
    source = str(package / "lib" / "compiler_rt.zig")
    subprocess.run([*zig, "build-obj", *words, f"-femit-bin={library}", source], check=True)


def _means(rows: Iterable[Row], isa: str, unit: str) -> Row:
    own = [row for row in rows if row["isa"] == isa and row["unit"] == unit]
    means: Row = {f"to {peer}": geometric_mean((row["polyloom"], row[peer]) for row in own) for peer in PEERS}
    means["to --ssa 2"] = geometric_mean((row["--ssa 0"], row["polyloom"]) for row in own)
    return {"what": "geometric mean", "isa": isa, **means, "unit": unit}


def geometric_mean(figures: Iterator[tuple[object, object]]) -> float | None:
    """Of the ratios of those that both have."""
    # Ratios are averaged geometrically: twice as long and half as long cancel (Fleming and Wallace 1986).
    logs = [math.log(own / theirs) for own, theirs in figures if isinstance(own, int) and isinstance(theirs, int)]
    return round(math.exp(sum(logs) / len(logs)), 3) if logs else None
