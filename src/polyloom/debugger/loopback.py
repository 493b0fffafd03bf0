# SPDX-License-Identifier: Apache-2.0
"""Loopback port: a connection of a tool on this host."""

from __future__ import annotations

import socket

from polyloom.diagnostics import INPUT, Diagnostic, PolyloomError


def listen(port: int) -> socket.socket:
    """Listening socket on the host's own address; port 0 is any that is free. Errors: PL1509 for a port that is
    taken.
    """
    try:
        # The host alone: whoever reaches the port runs programs, and reads their memory.
        return socket.create_server(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        message = f"cannot listen on the port {port}: {error}"
        raise PolyloomError(Diagnostic("PL1509", message, INPUT, help="write another port, or 0 for any")) from None
