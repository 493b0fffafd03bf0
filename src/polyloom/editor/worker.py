# SPDX-License-Identifier: Apache-2.0
"""Worker process of checks: one for each change of a file, forked from a warm server, and killed by the next change.

A process of its own for three reasons: a solver cannot be interrupted otherwise, Python executes the user's file, which
may loop or end the process, and what it prints must not enter the language server's protocol. The fork server
(`multiprocessing`, method "forkserver") has loaded and used all readers, so that a fork starts warm.
"""

from __future__ import annotations

import os
import signal
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Final, cast

from polyloom.diagnostics import internal_error
from polyloom.editor.check import Request, Stage, check

_CONTEXT: Final = get_context("forkserver")
_WARM: Final = "polyloom.editor.warm"


class Worker:
    """Worker, mutable: at most one check at a time."""

    def __init__(self) -> None:
        # Before the first fork; the server starts with it.
        _CONTEXT.set_forkserver_preload([_WARM])
        self._process: ForkServerProcess | None = None

    def start(self, request: Request) -> Connection:
        """Begin a check, and cancel the one before. The connection gives its stages, then None, or ends early where the
        check is cancelled."""
        self.cancel()
        # Windows, where pipes have another type, has no fork server.
        here, there = cast("tuple[Connection, Connection]", _CONTEXT.Pipe(duplex=False))
        self._process = _CONTEXT.Process(target=_send_stages, args=(there, request), daemon=True)
        self._process.start()
        # The only writing end is the worker's: when it dies, the reader sees the end.
        there.close()
        return here

    def cancel(self) -> None:
        """Kill the running check, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


def _send_stages(connection: Connection, request: Request) -> None:
    # Ctrl-C reaches the whole group of a terminal: who started this process ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The user's file may print; the standard output may be the language server's protocol.
    os.dup2(2, 1)
    try:
        for stage in check(request):
            connection.send(stage)
    except Exception as error:
        connection.send(Stage("language", (), (internal_error(error),)))
    connection.send(None)
