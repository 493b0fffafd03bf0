# SPDX-License-Identifier: Apache-2.0
"""Connections of editors: a debug adapter on the standard streams, or on a port of this host."""

from __future__ import annotations

import contextlib
import socket
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from polyloom.debugger.commands import Debugger
from polyloom.debugger.dap import Adapter, Launch
from polyloom.debugger.dap_messages import Channel
from polyloom.debugger.entry_point import debug
from polyloom.debugger.loopback import listen


def launch_program(arguments: Mapping[str, Any]) -> Debugger:
    """Debugger of what `launch` names: `program`, the machine `on`, `values` by name, and `seed`. Errors: those of
    `pl.debug`; ValueError without a program.
    """
    program = arguments.get("program")
    if not program:
        raise ValueError("`launch` needs `program`, the path of a source or of a program file")
    values = dict(arguments.get("values") or {})
    return debug(str(program), values, on=arguments.get("on"), seed=int(arguments.get("seed") or 0))


def serve_streams(launch: Launch, program: str | None = None) -> Iterator[str]:
    """Serves an editor that has started this process; nothing else may stand in its output."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    # What a user's file prints as it is read would break the protocol.
    with contextlib.redirect_stdout(sys.stderr):
        Adapter(Channel(source, sink), launch, program).serve()
    return iter(())


def serve_port(launch: Launch, port: int, program: str | None = None) -> Iterator[str]:
    """Serves one connection on the host's own address, and tells where it waits. Errors: PL1509 for a port that is
    taken.
    """
    with listen(port) as listening:
        yield f"waiting for an editor on the port {listening.getsockname()[1]}"
        connection, _ = listening.accept()
        with connection, connection.makefile("rb") as source, connection.makefile("wb") as sink:
            # An editor that has gone away takes no more answers.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                Adapter(Channel(source, sink), launch, program).serve()
            with contextlib.suppress(OSError):
                # The reader waits for more: it ends with the connection.
                connection.shutdown(socket.SHUT_RDWR)
    yield "the editor has left"
