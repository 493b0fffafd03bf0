# SPDX-License-Identifier: Apache-2.0
"""Reference execution of the user's own C function, compiled by clang and called on copies of the arrays: what every
run is compared with.

A generated unit includes the file, so `static` functions are reached, and passes arguments from a table of pointers.
The function runs in a process of its own: what ends that process does not end this one.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from polyloom import temporary
from polyloom.diagnostics import Span, input_error
from polyloom.frontend.c.calls.adapter import NAME
from polyloom.frontend.c.clang import include_directive, shared_library
from polyloom.frontend.c.library import with_kernels
from polyloom.frontend.source import Arrays, Options
from polyloom.ir.nest import Nest, Storage, statements
from polyloom.ir.nest_c import TYPES
from polyloom.ir.numbers import NUMPY

ENTRY = "__polyloom_"
"""What stands before the names that a generated unit adds to a user's file. C keeps such names for those who translate
it (C17 7.1.3)."""

# The runner's program: it maps the shared file, loads libm for what the library leaves open, and calls the entry.
_RUNNER = """
import ctypes, mmap, sys
with open(sys.argv[2], "r+b") as file:
    memory = mmap.mmap(file.fileno(), 0)
base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
for name in ("libm.so.6", "libm.dylib"):
    try:
        ctypes.CDLL(name, ctypes.RTLD_GLOBAL)
    except OSError:
        pass
ctypes.CDLL(sys.argv[1]).__polyloom_entry(*(ctypes.c_void_p(base + int(offset)) for offset in sys.argv[3:]))
"""
_UNDEFINED = re.compile(r"undefined symbol: (\w+)")
"""What a dynamic linker says of a function without a body, also where no run reaches its call."""
# Bytes: a cache line, and what vector loads of any host ask for.
_ALIGNMENT = 64


@dataclass(frozen=True, slots=True)
class Native:
    """Native reference: calls the function of `nest` in the file `path`; `parameters` are its parameters in C's order.
    Outputs are the written arrays. `library` are the functions of others that the file calls; `adapter` is the text of
    what is called where parameters are fields of structures, or variables of the file.
    """

    path: str
    nest: Nest
    parameters: tuple[str, ...]
    options: Options
    library: frozenset[str] = frozenset()
    adapter: str = ""

    def __call__(self, parameters: Mapping[str, int], arrays: Arrays) -> Arrays:
        values = {s.name: _initial_array(s, parameters, arrays) for s in self.nest.storage if s.role == "argument"}
        # Parameters of the nest are `int` in the unit, whatever integer type C's parameter has.
        values |= {name: np.asarray(parameters[name], np.int32) for name in self.nest.parameters}
        passed = (*self.parameters, *self._result_names())
        results = call_library(
            shared_library(self._entry_text(), self.options),
            [values[name] for name in passed],
            self.nest.name,
            self.nest.span,
        )
        found = dict(zip(passed, results, strict=True))
        written = {s.assign.target.name for s in statements(self.nest)}
        return {s.name: found[s.name] for s in self.nest.storage if s.name in written and s.role == "argument"}

    def _entry_text(self) -> str:
        passed = [_argument_text(self.nest, name, f"{ENTRY}{n}") for n, name in enumerate(self.parameters)]
        call = f"{NAME if self.adapter else self.nest.name}({', '.join(passed)})"
        for result in self._result_names():
            call = f"*({TYPES[self.nest[result].dtype]} *){ENTRY}{len(passed)} = {call}"
        unit = entry_unit(self.path, len(passed) + len(self._result_names()), call, self.adapter)
        return with_kernels(unit, self.library, ENTRY)

    def _result_names(self) -> tuple[str, ...]:
        """The argument that stands for what the function returns; no parameter has its name."""
        return tuple(s.name for s in self.nest.storage if s.role == "argument" and s.name not in self.parameters)


def entry_unit(path: str, count: int, call: str, more: str = "") -> str:
    """The file, `more` behind it, with a function `__polyloom_entry` of `count` pointers that executes a statement."""
    pointers = ", ".join(f"void *{ENTRY}{n}" for n in range(count)) or "void"
    head = f'__attribute__((__visibility__("default"))) void {ENTRY}entry({pointers})'
    return f"{include_directive(path)}\n{more}{head} {{ {call}; }}\n"


def call_library(
    library: Path, values: Sequence[npt.NDArray[np.generic]], name: str, span: Span | None
) -> list[npt.NDArray[np.generic]]:
    """Foreign call in a child process: what the arrays hold after `__polyloom_entry` was called on pointers to copies
    of them. Errors: PL0167, which calls it `name`.
    """
    offsets, size = list[int](), 0
    for array in values:
        offsets.append(size)
        # An empty array has a place, too: its pointer must not be null or another array's.
        size += -(-max(array.nbytes, 1) // _ALIGNMENT) * _ALIGNMENT
    with temporary.temporary_folder() as folder:
        memory = Path(folder, "memory")
        memory.write_bytes(_pack_arguments(values, offsets, size))
        command = [sys.executable, "-I", "-S", "-c", _RUNNER, str(library), str(memory), *map(str, offsets)]
        # In a process of its own: what C leaves undefined may end it, and must not end us.
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if done.returncode:
            reason = (
                f"signal {-done.returncode}"
                if done.returncode < 0
                else done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            )
            if (missing := _UNDEFINED.search(reason)) is not None:
                message = f"the C function `{name}` cannot be linked: `{missing[1]}` has no body"
                raise input_error("PL0167", message, span=span, help="name the file that defines it by --with FILE")
            help = (
                "an integer division by zero or of the least integer by -1, or an access outside of an array, ends "
                "a C program like that"
            )
            raise input_error(
                "PL0167", f"the C function `{name}` failed when it was run ({reason})", span=span, help=help
            )
        data = memory.read_bytes()
    return [
        np.frombuffer(data, a.dtype, a.size, o).reshape(a.shape).copy() for a, o in zip(values, offsets, strict=True)
    ]


def _argument_text(nest: Nest, name: str, pointer: str) -> str:
    if name in nest.parameters:
        return f"*(int *){pointer}"
    return pointer if nest[name].writable else f"*({TYPES[nest[name].dtype]} *){pointer}"


def _initial_array(storage: Storage, parameters: Mapping[str, int], arrays: Arrays) -> npt.NDArray[np.generic]:
    """A given array, or zeros for an output that begins with nothing."""
    if storage.name in arrays:
        return np.array(arrays[storage.name], NUMPY[storage.dtype], order="C")
    return np.zeros(tuple(extent.evaluate(parameters) for extent in storage.shape), NUMPY[storage.dtype])


def _pack_arguments(values: Sequence[npt.NDArray[np.generic]], offsets: Sequence[int], size: int) -> bytes:
    data = bytearray(max(size, _ALIGNMENT))
    for array, offset in zip(values, offsets, strict=True):
        data[offset : offset + array.nbytes] = array.tobytes()
    return bytes(data)


def make_reference(
    path: str, nest: Nest, parameters: Sequence[str], options: Options
) -> Callable[[Mapping[str, int], Arrays], Arrays]:
    """The oracle of a C function."""
    return Native(path, nest, tuple(parameters), options)
