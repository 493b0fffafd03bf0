# SPDX-License-Identifier: Apache-2.0
"""Native execution of a C function: compiled for this host and called in a process of its own, as an oracle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from polyloom.files import read_source
from polyloom.frontend.c.clang import shared_library
from polyloom.frontend.c.library import called_kernels, with_kernels
from polyloom.frontend.c.prototype import Dtype, Prototype
from polyloom.frontend.c.reference import ENTRY, call_library, entry_unit
from polyloom.frontend.source import Options

_NAMES: Final = {
    "?1": "_Bool",
    "i1": "signed char",
    "u1": "unsigned char",
    "i2": "short",
    "u2": "unsigned short",
    "i4": "int",
    "u4": "unsigned",
    "i8": "long long",
    "u8": "unsigned long long",
    "f4": "float",
    "f8": "double",
}


def call_native(
    path: str, function: Prototype, arguments: Sequence[npt.NDArray[Any]], options: Options, model: str = ""
) -> list[npt.NDArray[Any]]:
    """Oracle run: the result, where there is one, then what the arguments hold afterwards. `model` names the target
    whose C it is: see `shared_library`. A scalar is an array of rank 0. Errors: PL0151, PL0167.
    """
    result = [np.zeros((), function.result)] if function.result is not None else []
    start = len(result)
    passed = [
        _argument_text(p.dtype, f"{ENTRY}{k}", p.extents is None) for k, p in enumerate(function.parameters, start)
    ]
    call = f"{function.name}({', '.join(passed)})"
    if function.result is not None:
        # The result goes through memory as well, so that one runner serves functions of any type.
        call = f"*({_c_type(function.result)} *){ENTRY}0 = {call}"
    own = called_kernels(read_source(path, ".c").decode("utf-8", "replace"))
    unit = with_kernels(entry_unit(path, start + len(passed), call), own, ENTRY)
    library = shared_library(unit, options, model)
    return call_library(library, [*result, *arguments], function.name, function.span)


def _argument_text(dtype: Dtype, pointer: str, is_scalar: bool) -> str:
    return f"*({_c_type(dtype)} *){pointer}" if is_scalar else pointer


def _c_type(dtype: Dtype) -> str:
    return _NAMES[f"{'?' if dtype.kind == 'b' else dtype.kind}{dtype.itemsize}"]
