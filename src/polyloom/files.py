# SPDX-License-Identifier: Apache-2.0
"""Files: read whole or refused with a reason; outputs checked before any work starts, and written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Final

from polyloom import memory
from polyloom.diagnostics import PolyloomError, input_error

_PIECE: Final = 1 << 26
_COPIES: Final = 4
"""What is made of a file takes several times its size."""


def read(path: str | os.PathLike[str]) -> bytes:
    """Errors: PL0807."""
    if path == "":
        raise input_error("PL0807", "the name of a file is empty", help="give the path of an existing file that you may read")
    try:
        with Path(path).open("rb") as file:
            data = _within(file, memory.available_bytes() // _COPIES)
    except (OSError, TypeError, ValueError) as error:  # ValueError: a path with a zero byte
        raise input_error("PL0807", f"cannot read '{path}': {_reason(error)}", help="give the path of an existing file that you may read") from None
    if data is None:
        raise input_error("PL0807", f"cannot read '{path}': it is too large for the memory that there is", help="give a smaller file")
    return data


def _within(file: IO[bytes], most: int) -> bytes | None:
    """The bytes of a file, None if they are more than `most`. What has no size, such as a pipe, is read piece by piece."""
    size = os.fstat(file.fileno()).st_size
    if size > most:
        return None
    pieces, left = list[bytes](), most
    while piece := file.read(min(size + 1, _PIECE) if size else _PIECE):
        left -= len(piece)
        if left < 0:
            return None
        pieces.append(piece)
    return b"".join(pieces)


def check_outputs(outputs: Iterable[str], inputs: Iterable[str]) -> None:
    """Refuse an output that cannot be written, that is an input, or that is given twice."""
    sources = {os.path.realpath(path): path for path in inputs}
    seen: set[str] = set()
    for path in outputs:
        real = os.path.realpath(path)
        if real in sources:
            raise input_error("PL0809", f"the output '{path}' is the input '{sources[real]}'", help="write to another file")
        if real in seen:
            raise input_error("PL0809", f"the output '{path}' is given twice", help="write to another file")
        seen.add(real)
        if (reason := _obstacle(_followed(path)) if path else "the name is empty") is not None:
            raise _unwritable(path, reason)


def write(files: Mapping[str, bytes]) -> None:
    """Write every file through a temporary neighbour that then takes its name; a link is followed, and stays. Errors: PL0808."""
    for path, data in files.items():
        try:
            _write(_followed(path), data)
        except (OSError, ValueError) as error:
            raise _unwritable(path, _reason(error)) from None


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _followed(path: str) -> Path:
    """What a link leads to, and any other path as it is."""
    return Path(os.path.realpath(path) if os.path.islink(path) else path)


def _write(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _obstacle(path: Path) -> str | None:
    if path.is_dir():
        return "it is a directory"
    if not path.parent.is_dir():
        return f"there is no directory '{path.parent}'"
    if path.exists() and not path.is_file():
        return "it is not a regular file"
    if path.exists() and not os.access(path, os.W_OK):
        return "it is write-protected"
    return None if os.access(path.parent, os.W_OK | os.X_OK) else f"the directory '{path.parent}' is write-protected"


def _unwritable(path: str, reason: str) -> PolyloomError:
    return input_error("PL0808", f"cannot write '{path}': {reason}", help="give a path in an existing directory that you may write to")
