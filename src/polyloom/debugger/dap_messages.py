# SPDX-License-Identifier: Apache-2.0
"""Messages of the Debug Adapter Protocol: JSON behind a header with its length (Microsoft, "Debug Adapter Protocol",
section "Base protocol").
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, BinaryIO, Final, cast

Message = dict[str, Any]
_LONGEST: Final = 1 << 24
"""Bytes of a message; a longer one is no message of an editor."""


def read_message(stream: BinaryIO) -> Message | None:
    """Next message; None at the end of the stream, or behind what is no message."""
    length = 0
    while line := stream.readline(1 << 12).strip():
        name, _, value = line.decode("latin-1").partition(":")
        if name.lower() == "content-length" and value.strip().isdecimal():
            length = int(value)
    # A stream that is not one of messages cannot be followed any further.
    if not 0 < length <= _LONGEST:
        return None
    data = stream.read(length)
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):  # such as a thousand parentheses
        return None
    return cast(Message, found) if isinstance(found, dict) else None


class Channel:
    """Channel to an editor. Requests are read beside the run, so that `pause` is seen while it goes on."""

    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        self._source, self._sink = source, sink
        self._count, self._lock = 0, Lock()
        self.requests = SimpleQueue[Message | None]()
        # It waits for the editor, and ends with the process.
        Thread(target=self._read, daemon=True).start()

    def send(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Sends a response or an event, with the next number."""
        with self._lock:
            self._count += 1
            data = json.dumps({"seq": self._count, "type": kind, **fields}).encode()
            self._sink.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
            self._sink.flush()

    def _read(self) -> None:
        try:
            while (message := read_message(self._source)) is not None:
                self.requests.put(message)
        except (OSError, ValueError):
            pass  # the connection was cut
        self.requests.put(None)
