# SPDX-License-Identifier: Apache-2.0
"""Connection of GDB: packets of its remote serial protocol over TCP, and Ctrl-C (GDB manual, appendix E)."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator
from time import perf_counter
from typing import Final

from polyloom.debugger.gdb import LONGEST, Stub, open_stub
from polyloom.debugger.loopback import listen
from polyloom.stepping.session import Session

_PATIENCE: Final = 0.05
"""Seconds between two looks for Ctrl-C."""


def serve(session: Session, port: int) -> Iterator[str]:
    """Serves one connection on the host's own address, and tells where it waits. Errors: PL0801, PL1509 for a port that
    is taken.
    """
    stub = open_stub(session)
    with listen(port) as listening:
        yield f"waiting for GDB: target remote :{listening.getsockname()[1]}"
        connection, _ = listening.accept()
        with connection:
            _exchange(stub, connection)
    yield "GDB has left"


def _exchange(stub: Stub, connection: socket.socket) -> None:
    """Packets of a connection until it ends."""
    held, asked = bytearray(), perf_counter()

    def has_interrupt() -> bool:
        nonlocal asked
        # A call of the system takes as long as many steps.
        if perf_counter() - asked < _PATIENCE:
            return False
        asked = perf_counter()
        if select.select([connection], [], [], 0)[0] and not _receive(connection, held):
            stub.is_closed = True
            return True
        return _pop_interrupt(held)

    stub.has_interrupt = has_interrupt
    while not stub.is_closed and _receive(connection, held):
        # TCP keeps no bounds of packets: several may have come, or a part of one.
        while (text := _pop_packet(held)) is not None:
            # The acknowledgement goes first: GDB waits for it before a reply.
            connection.sendall(b"+" + encode_packet(stub.answer(text)))


def _receive(connection: socket.socket, held: bytearray) -> bool:
    """Whether the connection goes on, with what came."""
    received = connection.recv(LONGEST)
    held += received
    return bool(received)


def _pop_interrupt(held: bytearray) -> bool:
    """Whether Ctrl-C has come, a byte outside packets (GDB manual, section "Interrupts"); it is taken out."""
    end = held.find(b"$")
    place = held.find(b"\x03", 0, end if end >= 0 else len(held))
    if place >= 0:
        del held[place]
    return place >= 0


def _pop_packet(held: bytearray) -> str | None:
    """First whole packet in what was received, which is taken out; acknowledgements are dropped."""
    start = held.find(b"$")
    end = held.find(b"#", start)
    # The sum behind `#` is not compared: TCP has one of its own.
    if start < 0 or end < 0 or len(held) < end + 3:
        return None
    found = held[start + 1 : end].decode("latin-1")
    del held[: end + 3]
    return found


def encode_packet(data: str) -> bytes:
    """`$DATA#SUM`, where the sum of the bytes is modulo 256."""
    return f"${data}#{sum(data.encode('latin-1')) % 256:02x}".encode("latin-1")
