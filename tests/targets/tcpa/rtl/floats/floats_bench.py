# SPDX-License-Identifier: Apache-2.0
"""The floating-point modules under Verilator, in the formats of golden_floats.py."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from tests.targets.tcpa.rtl.floats.golden_floats import (
    BINARY,
    NUMBERS,
    UNARY,
    Format,
    Words,
    expected_words,
    fused_words,
    of_integers,
)

from polyloom.targets.tcpa.rtl import verilog_files

FOLDER = Path(__file__).parent
_OPTIONS = ("-fno-gate", "--language", "1364-2005", "-Wno-WIDTH", "-Wno-UNOPTFLAT", "--x-assign", "fast")

_PART = 37
"""One in so many pairs: no power of two, so that all fields of a word have many values."""


def _sources() -> list[Path]:
    return [FOLDER / "bench.v", FOLDER / "bench.cpp", *sorted(verilog_files.LIBRARY.glob("floats/*.v"))]


def bench_parts() -> Iterator[bytes]:
    """Whatever decides the program: its sources, this file, which has the flags, and the tools."""
    for path in (*_sources(), Path(__file__)):
        yield path.name.encode()
        yield path.read_bytes()
    for tool in ("verilator", "g++"):
        yield subprocess.run([tool, "--version"], capture_output=True).stdout


def build_bench(folder: Path, *forms: Format, replaced: Mapping[str, str] | None = None) -> Path:
    """The program of bench.cpp for some of the formats; `replaced` are texts in the place of those of the library."""
    for path in _sources():
        shutil.copy(path, folder)
    for name, text in (replaced or {}).items():
        (folder / name).write_text(text, encoding="utf-8")
    command = [
        "verilator",
        "--cc",
        "--exe",
        "--build",
        "--prefix",
        "Vbench",
        "--top-module",
        "bench",
        "--Mdir",
        "built",
    ]
    levels = "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O1"
    command += [*_OPTIONS, "-CFLAGS", "-std=c++17", "-MAKEFLAGS", levels, "bench.v", "bench.cpp"]
    command.append(f"-GFORMATS={sum(1 << form.number for form in forms)}")
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "built" / "Vbench"


def run_bench(
    bench: Path, form: Format, operation: str, a: Words, b: Words, c: Words | None = None, *, is_signed: bool = False
) -> Words:
    """Results of the circuit."""
    head = np.array([form.number, NUMBERS[operation], is_signed, len(a)], np.uint32)
    operands = np.stack([a, b, a if c is None else c], axis=1).astype(np.uint32)
    done = subprocess.run([bench], input=head.tobytes() + operands.tobytes(), capture_output=True, check=True)
    return np.frombuffer(done.stdout, np.uint32)


def all_words(form: Format, operands: int) -> list[Words]:
    """Words of every combination of operands."""
    return [w.ravel().astype(np.uint32) for w in np.meshgrid(*[np.arange(form.size)] * operands, indexing="ij")]


@cache
def _golden_runs(form: Format) -> Sequence[tuple[str, tuple[Words, ...], bool, Words]]:
    """Operations with operands, whether integers are signed, and results."""
    a, b = all_words(form, 2)
    c = np.random.default_rng(1).integers(0, form.size, len(a)).astype(np.uint32)
    integers = np.arange(-1 << 31, 1 << 31, 12_345_677)
    words = integers.astype(np.uint32)
    return (
        *((o, (a, b), False, expected_words(form, o, a, b)) for o in (*BINARY, *UNARY)),
        ("madd", (a, b, c), False, fused_words(form, a, b, c)),
        ("to_f32", (words, words), True, of_integers(form, integers)),
    )


def equals_golden(bench: Path, form: Format) -> bool:
    """Whether all pairs of a small format, and samples of triples and integers, have the golden results: a part of
    them first, which is enough for most circuits that have not."""
    return all(
        np.array_equal(
            run_bench(bench, form, operation, *(words[::part] for words in operands), is_signed=signed),
            expected[::part],
        )
        for part in (_PART, 1)
        for operation, operands, signed, expected in _golden_runs(form)
    )
