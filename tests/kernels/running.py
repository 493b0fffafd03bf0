# SPDX-License-Identifier: Apache-2.0
"""Kernels of examples/kernels in either language and any element type, compiled and run on the processor array."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from tests.frontend.python.helpers import KERNELS, Arrays, arguments

from polyloom import api
from polyloom.cli.bench.polybench import REASSOCIATED
from polyloom.frontend.source import Options
from polyloom.ir.operations import ElementType

Language = Literal["py", "c"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
C_TYPES: dict[ElementType, str] = {"i8": "signed char", "i16": "short", "i32": "int", "f32": "float"}
OF_INTEGERS = ("smith_waterman", "lcs", "floyd_warshall")
OF_REALS = (
    "trisolv",
    "lu",
    "cholesky",
    "jacobi1d",
    "jacobi2d",
    "heat3d",
    "seidel2d",
    "fdtd2d",
    "covariance",
    "gramschmidt",
    "durbin",
)
"""Kernels that divide, take roots, or multiply by fractions: they make no sense for integers."""


def types(name: str) -> tuple[ElementType, ...]:
    """The element types in which a kernel makes sense; the first is the one it is written in."""
    if name in OF_INTEGERS:
        return ("i32",)
    return ("f32",) if name in OF_REALS else ("f32", "i32", "i16", "i8")


def compiled(path: Path, name: str, dtype: ElementType) -> api.Compiled:
    return api.compile(path, on="tcpa:wide", options=Options(reassociate=dtype == "f32" and name in REASSOCIATED))


def in_type(name: str, language: Language, dtype: ElementType, folder: Path) -> Path:
    """The kernel's file, or a copy in `folder` for elements of another type."""
    path = KERNELS / f"{name}.{language}"
    if dtype == types(name)[0]:
        return path
    kind = C_TYPES[dtype]
    header = (
        (KERNELS / "kernels.h")
        .read_text(encoding="utf-8")
        .replace("DATA_TYPE float", f"DATA_TYPE {kind}")
        .replace("x##f", f"({kind})(x)")
    )
    (folder / "kernels.h").write_text(header, encoding="utf-8")
    copied = folder / path.name
    text = path.read_text(encoding="utf-8").replace("pl.f32", f"pl.{dtype}")
    copied.write_text(re.sub(r"(?<=\d)\.0\b(?!f)", "", text) if language == "py" else text, encoding="utf-8")
    return copied


def run(made: api.Compiled, sizes: Mapping[str, int], pes: tuple[int, int]) -> tuple[Arrays, api.Result]:
    """The arguments and what the array made of them; a difference from the source or from the equations raises."""
    assert made.source is not None and made.source.nest is not None
    parameters = {name: sizes[name.upper()] for name in made.parameters}
    inputs = arguments(made.source.nest, parameters)
    taken = {array.name: inputs[array.name] for array in made.source.plan.inputs}
    return inputs, made.instantiate(parameters, pes=pes).run(taken)
