# SPDX-License-Identifier: Apache-2.0
"""Serialization of units for other processes, which may be on other machines.

A kernel of a file goes with the text of that file: a worker that does not have it writes it into a folder of its own.
What such a file imports from beside it has to be importable there. A kernel of an importable module goes by its name.
"""

from __future__ import annotations

import copyreg
import hashlib
import io
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from polyloom import files
from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError
from polyloom.exploration.work import Unit
from polyloom.frontend.python import load_kernel
from polyloom.frontend.python.kernel import Kernel


def pack(unit: Unit) -> bytes:
    """Bytes of a unit. Errors: PL1412 for what no other process can have."""
    stream = io.BytesIO()
    try:
        _Pickler(stream, protocol=pickle.HIGHEST_PROTOCOL).dump(unit)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise serialization_error(str(error)) from None
    return stream.getvalue()


def unpack(data: bytes, folder: Path) -> Unit:
    """Unit of bytes; `folder` takes the files that are not here. Errors: PL1412."""
    try:
        return _Unpickler(io.BytesIO(data), folder).load()
    except Exception as error:  # whatever unpickling raises
        raise serialization_error(f"{type(error).__name__}: {error}") from None


def serialization_error(why: str) -> PolyloomError:
    message = f"the program cannot be sent to another process: {why}"
    help = "define the kernel in a module that can be imported, or give the path of its file"
    return PolyloomError(Diagnostic("PL1412", message, USAGE, help=help))


class _Pickler(pickle.Pickler):
    def persistent_id(self, obj: Any) -> Any:
        """A kernel by its file, with the text of it."""
        if not isinstance(obj, Kernel):
            return None
        by = copyreg.dispatch_table[Kernel](obj)
        if isinstance(by, str):
            # A worker's `__main__` is the worker itself, so that the name would find nothing there.
            if obj.function.__module__ == "__main__":
                raise pickle.PicklingError(f"the kernel {by} is defined in a script or a notebook")
            return None
        return obj.path, obj.name, files.read_source(obj.path, "Python")


class _Unpickler(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, folder: Path) -> None:
        super().__init__(stream)
        self._folder = folder

    def persistent_load(self, pid: tuple[str, str, bytes]) -> Kernel:
        path, name, text = pid
        return _load_module(path, name, text, self._folder)


@cache
def _load_module(path: str, name: str, text: bytes, folder: Path) -> Kernel:
    """Kernel of the file itself where it is here and has this text, else of a copy."""
    here = Path(path)
    if _text(here.read_bytes) != text:
        # By its content: two versions of a file of one name may be in use.
        here = folder / hashlib.sha256(text).hexdigest()[:16] / here.name
        here.parent.mkdir(exist_ok=True)
        if not here.exists():
            files.write({str(here): text})
    return load_kernel(str(here), name)


def _text(read: Callable[[], bytes]) -> bytes | None:
    try:
        return read()
    except OSError:
        return None
