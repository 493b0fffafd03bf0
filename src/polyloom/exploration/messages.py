# SPDX-License-Identifier: Apache-2.0
"""Message framing between a sweep and its workers: pickled objects, each behind its length in 8 bytes."""

from __future__ import annotations

import pickle
from typing import Any, BinaryIO


def send(stream: BinaryIO, message: Any) -> None:
    """Errors: OSError where nobody reads any more."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(len(data).to_bytes(8, "little") + data)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """Errors: EOFError where the other side has ended, if only in the middle of a message."""
    size = int.from_bytes(_read_exactly(stream, 8), "little")
    # Both ends are this program's own processes: no pickle comes from outside.
    return pickle.loads(_read_exactly(stream, size))


def _read_exactly(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data
