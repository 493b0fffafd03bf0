# SPDX-License-Identifier: Apache-2.0
"""Accuracy sweep: every value of a format through unpack, a kernel and pack, and how far each result is from a
reference.

Values go in ascending order of their patterns, positive ones first, 1,024 a tile; each tile is a run of its own. The
reference is evaluated in double precision or better, and rounded to nearest even into the format of the result
(docs/sfpi.md).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.diagnostics import input_error, nearest
from polyloom.extras import install_command
from polyloom.targets.tensix.options import STRIDE, Format
from polyloom.targets.tensix.run import kernel_run, ulp
from polyloom.targets.tensix.run.pack import dst_format, pack_values, unpack_values
from polyloom.targets.tensix.run.places import parse_place, read_place
from polyloom.targets.tensix.run.reference import Reference, implied_format
from polyloom.targets.tensix.run.ulp import Bits, Distances, Floats
from polyloom.targets.tensix.source.note import Note
from polyloom.targets.tensix.source.oracle.interpret import State

TILE: Final = 1024
_VECTORS: Final = TILE // 32
Evaluate = Callable[[Floats], Floats]
_BESIDE: Final = 64


@dataclass(frozen=True, slots=True)
class Swept:
    """Results of a sweep: what the kernel made of `values`; instructions of one tile, and cycles per vector of 32 lanes
    where one tile follows another; `dst` of every tile before and after.
    """

    values: Bits
    results: Bits
    form: Format
    instructions: int
    cycles_per_vector: float
    dst: tuple[NDArray[np.uint16], NDArray[np.uint16]]


def sweep_values(form: Format, stride: int | None, domain: tuple[float, float] | None) -> Bits:
    """Patterns that are swept: finite, in order; every `stride`-th of 32 bits. Errors: PL1293 for none."""
    bits = ulp.finite_values(form, stride or (STRIDE if ulp.format_width(form) == 32 else 1))
    if domain is None:
        return bits
    numbers = ulp.to_doubles(bits, form)
    kept = bits[(numbers >= domain[0]) & (numbers <= domain[1])]
    if not len(kept):
        message = f"no value of {form} that is swept lies from {domain[0]:g} to {domain[1]:g}"
        raise input_error("PL1293", message, help="give a wider --domain, or a smaller --stride")
    return kept


def sweep(
    data: bytes, note: Note, form: Format, values: Bits, arguments: Mapping[str, NDArray[Any]], hazards: str = "error"
) -> Swept:
    """Sweep of the kernel's executable over all values. Errors: PL1220 to PL1222, PL1291, PL1293."""
    if ulp.format_width(form) > note.dest:
        raise input_error("PL1293", f"{form.upper()} does not fit a Dst of 16 bits", help="write --dest 32")
    inner = dst_format(form, note.dest)
    name = f"dst:{inner}"
    made: list[Bits] = []
    before: list[NDArray[np.uint16]] = []
    after: list[NDArray[np.uint16]] = []
    instructions = 0
    for tile in ulp.to_tiles(unpack_values(values, form, note.dest)):
        # Unsigned arrays are taken as bits, so that no value is rounded on its way in.
        given = tile.astype(np.uint32 if note.dest == 32 else np.uint16)
        ran = kernel_run.run(data, note, {**arguments, name: given}, hazards=hazards)
        rows = read_place(ran.tile, parse_place(name), None, given)
        made.append(_pattern_bits(rows, inner).reshape(-1))
        before.append(ran.before)
        after.append(ran.tile.dst.copy())
        # All tiles run the same program; branches on data do not exist in vector code.
        instructions = instructions or ran.passed[2]
    results = pack_values(np.concatenate(made)[: len(values)], form, note.dest)
    cycles = _cycles_per_vector(data, note, inner, arguments, hazards)
    return Swept(values, results, form, instructions, cycles, (np.stack(before), np.stack(after)))


def find_difference(swept: Swept, reference: Reference, arguments: Mapping[str, NDArray[Any]]) -> int | None:
    """Number of the first tile in which a bit differs from the interpreter's, which runs many tiles side by side."""
    before, after = swept.dst
    for first in range(0, len(before), _BESIDE):
        # Side by side, so that NumPy works on arrays of some length, and not all at once because of memory.
        group = slice(first, first + _BESIDE)
        state = State(reference.member, len(before[group]), implied_format(dst_format(swept.form, reference.dest)))
        state.dst.bits[:] = before[group]
        reference.run(state, arguments)
        wrong = ((state.dst.bits != after[group]) & state.dst.known).any(axis=(1, 2))
        if wrong.any():
            return first + int(np.argmax(wrong))
    return None


def _pattern_bits(found: NDArray[Any], form: Format) -> Bits:
    """Patterns of what a place of Dst gives as numbers."""
    if form == "fp16":
        return found.view(np.uint16).astype(np.uint32)
    bits = found.view(np.uint32)
    return bits >> np.uint32(16) if form == "bf16" else bits


def _cycles_per_vector(
    data: bytes, note: Note, inner: str, arguments: Mapping[str, NDArray[Any]], hazards: str
) -> float:
    """Cycles per vector, by the difference of two tiles and one, so that what is done once does not count."""
    # Cycles do not depend on values: the vector unit has no early exit.
    given = np.ones((2, 32, 32), np.uint32 if inner == ulp.INTEGERS else np.float32)
    cycles = [
        kernel_run.run(data, note, {**arguments, f"dst:{inner}": given}, tiles=tiles, hazards=hazards).outcome.cycles
        for tiles in (1, 2)
    ]
    return (cycles[1] - cycles[0]) / _VECTORS


def load_reference(name: str) -> Evaluate:
    """Reference function: of NumPy, of `mpmath`, or `module:function`. Errors: PL1294."""
    if ":" in name:
        return _module_reference(name)
    found = getattr(np, name, None)
    if isinstance(found, np.ufunc) and found.nin == 1:
        return _silence_warnings(found)
    return _mpmath_reference(name)


def _silence_warnings(function: Callable[[Floats], Any]) -> Evaluate:
    def evaluate(x: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return np.asarray(function(x), np.float64)

    return evaluate


def _mpmath_reference(name: str) -> Evaluate:
    try:
        mpmath: Any = import_module("mpmath")
    except ImportError:
        message = f"NumPy has no function `{name}` of one argument, and mpmath is not installed"
        raise input_error("PL1294", message, help=f"install it: `{install_command('sweep')}`") from None
    function = getattr(mpmath, name, None)
    if not callable(function):
        known = [n for n in dir(np) if isinstance(getattr(np, n), np.ufunc)]
        help = f"{nearest(name, known, 'function')}; or write module:function"
        raise input_error("PL1294", f"neither NumPy nor mpmath has a function `{name}`", help=help)

    def evaluate(x: Floats) -> Floats:
        return np.array([_evaluate_precisely(function, float(value)) for value in x])

    return evaluate


def _evaluate_precisely(function: Callable[[float], Any], value: float) -> float:
    """Value of a reference of mpmath: NaN where the result is no real number, infinity at poles."""
    try:
        found = function(value)
        return float(found) if not hasattr(found, "imag") or found.imag == 0 else float("nan")
    except ZeroDivisionError:
        return float("inf")
    except (ValueError, TypeError, OverflowError):
        return float("nan")


@contextmanager
def _import_path() -> Generator[None]:
    """Import path that includes the current folder, as `python script.py` would."""
    # Removed again, so that later imports of the package are not shadowed by the user's files.
    sys.path.insert(0, str(Path.cwd()))
    try:
        yield
    finally:
        sys.path.remove(str(Path.cwd()))


def _module_reference(name: str) -> Evaluate:
    module, _, function = name.partition(":")
    try:
        with _import_path():
            found = getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        help = "write for instance --reference my_module:gelu, a function of an array of doubles"
        raise input_error("PL1294", f"there is no reference '{name}': {error}", help=help) from None

    def evaluate(x: Floats) -> Floats:
        try:
            made = np.asarray(found(x), np.float64)
        except Exception as error:  # whatever a function of the user's raises
            message = f"`{name}` fails: {type(error).__name__}: {error}"
            help = "give a function of an array of doubles"
            raise input_error("PL1294", message, help=help) from None
        if made.shape != x.shape:
            message = f"`{name}` gives the shape {list(made.shape)} for {list(x.shape)}"
            raise input_error("PL1294", message, help="give a function that works element by element")
        return made

    return evaluate


def expected_results(swept: Swept, evaluate: Evaluate) -> Bits:
    """Reference results in the format of the result."""
    return ulp.encode_nearest(evaluate(ulp.to_doubles(swept.values, swept.form)), swept.form)


def judge_results(swept: Swept, expected: Bits) -> tuple[Distances, dict[str, Any]]:
    """Judgement: distances, and what `--json` says of them; of equal errors the first value is named as the worst."""
    found = ulp.distances(swept.results, expected, swept.form)
    worst = int(np.argmax(found.ulp)) if len(found.ulp) else 0
    has = bool(len(found.ulp)) and int(found.ulp[worst]) >= 0

    def show_value(bits: Bits) -> float | str | None:
        value = float(ulp.to_doubles(bits[worst : worst + 1], swept.form)[0])
        # JSON has no infinity and no NaN.
        return value if np.isfinite(value) else str(value)

    return found, {
        "values": len(swept.values),
        "max_ulp": int(found.ulp[worst]) if has else None,
        "at": show_value(swept.values) if has else None,
        "got": show_value(swept.results) if has else None,
        "expected": show_value(expected) if has else None,
        "histogram": [{"from": low, "to": high, "count": count} for low, high, count in ulp.histogram(found)],
        "nonfinite_mismatches": found.mismatches,
        "instructions": swept.instructions,
        "cycles_per_vector": swept.cycles_per_vector,
    }


def mismatches(swept: Swept, expected: Bits, found: Distances, most: int = 3) -> Sequence[tuple[float, float, float]]:
    """Non-finite mismatches: the first values with which one side is not finite: value, got, expected."""
    at = np.flatnonzero(found.ulp < 0)[:most]
    columns = (ulp.to_doubles(bits[at], swept.form) for bits in (swept.values, swept.results, expected))
    return [(float(a), float(b), float(c)) for a, b, c in zip(*columns, strict=True)]
