# SPDX-License-Identifier: Apache-2.0
"""GDB's remote protocol, by a client of our own: threads, registers, memory, breakpoints, watchpoints, steps, back."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

import polyloom as pl
from polyloom.debugger.gdb import encode_packet, open_stub, serve
from polyloom.diagnostics import PolyloomError
from polyloom.targets.riscv.stepper import HartStepper

SOURCE = """import polyloom as pl

N = pl.size("N")


@pl.kernel
def twice(A: pl.i32[N], C: pl.i32[N]) -> None:
    for i in range(N):
        C[i] = A[i] + A[i]
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gdb") / "twice.py"
    path.write_text(SOURCE)
    return path


class Client:
    """Client of the protocol: a packet, and the data of the reply."""

    def __init__(self, port: int) -> None:
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.held = b""

    def ask(self, packet: str) -> str:
        self.connection.sendall(encode_packet(packet))
        while self.held.count(b"#") < 1 or len(self.held) < self.held.index(b"#") + 3:
            self.held += self.connection.recv(1 << 14)
        end = self.held.index(b"#")
        data, self.held = self.held[self.held.index(b"$") + 1 : end], self.held[end + 3 :]
        return data.decode()


def listening(source: Path) -> tuple[Client, Thread]:
    lines = serve(pl.debug(str(source), on="riscv", N=4).session, 0)
    port = int(next(lines).rpartition(":")[2])

    def drain(rest: Iterator[str]) -> None:
        for _ in rest:
            pass

    thread = Thread(target=drain, args=(lines,), daemon=True)
    thread.start()
    return Client(port), thread


def test_a_session_over_the_wire(source: Path) -> None:
    """What a session of GDB asks for, from the handshake to the end."""
    client, thread = listening(source)
    assert "ReverseStep+" in client.ask("qSupported:swbreak+")
    assert client.ask("qfThreadInfo") == "m1"
    assert client.ask("Hg0") == "OK"
    assert client.ask("qXfer:features:read:target.xml:0,fff").startswith("l<?xml")
    assert client.ask("?") == "T05thread:1;"
    assert len(client.ask("g")) == 33 * 16
    pc = int.from_bytes(bytes.fromhex(client.ask("p20")), "little")
    assert client.ask("vCont;s:1") == "T05thread:1;"
    after = int.from_bytes(bytes.fromhex(client.ask("p20")), "little")
    assert after != pc
    assert client.ask("bs") == "T05thread:1;"
    assert int.from_bytes(bytes.fromhex(client.ask("p20")), "little") == pc
    assert client.ask(f"Z0,{after:x},4") == "OK"
    assert client.ask("c") == "T05swbreak:;thread:1;"
    assert client.ask(f"z0,{after:x},4") == "OK"
    assert client.ask("mffffffffffff,4") == "E0e"
    assert client.ask("qUnknown") == ""
    assert client.ask("c") == "W00"
    assert client.ask("D") == "OK"
    thread.join(20)


def test_a_watchpoint_stops_at_the_store(source: Path) -> None:
    """The memory of an element is watched; what it holds then is what the source stores."""
    of = pl.debug(str(source), on="riscv", N=4)
    stub = open_stub(of.session)
    machine = of.session.machine
    assert isinstance(machine, HartStepper)
    address = next(region.address for region in machine.regions if region.name == "C") + 8
    assert stub.answer(f"Z2,{address:x},4") == "OK"
    assert stub.answer("c").startswith(f"T05watch:{address:x};")
    arrays = of.session.machine.arrays()
    assert int.from_bytes(bytes.fromhex(stub.answer(f"m{address:x},4")), "little", signed=True) == 2 * arrays["A"][2]


@pytest.mark.parametrize(("on", "threads"), [("minion:1", 2), ("tensix", 5)])
def test_threads_are_harts(source: Path, on: str, threads: int) -> None:
    stub = open_stub(pl.debug(str(source), on=on, N=4).session)
    assert stub.answer("qfThreadInfo").count(",") == threads - 1
    assert stub.answer("s").startswith("T05")
    assert np.frombuffer(bytes.fromhex(stub.answer("g")), np.uint32).size > 32


def test_a_machine_without_harts_is_refused(source: Path) -> None:
    with pytest.raises(PolyloomError, match="RISC-V harts"):
        open_stub(pl.debug(str(source), on="tcpa:2x2", N=4).session)
