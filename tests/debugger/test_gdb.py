# SPDX-License-Identifier: Apache-2.0
"""GDB's remote protocol, by a client of our own: threads, registers, memory, breakpoints, watchpoints, steps, back."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from threading import Thread

import numpy as np
import pytest

import polyloom as pl
from polyloom.debugger.gdb import open_stub
from polyloom.debugger.gdb_connection import encode_packet, serve
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
        return self.read()

    def read(self) -> str:
        while self.held.count(b"#") < 1 or len(self.held) < self.held.index(b"#") + 3:
            received = self.connection.recv(1 << 14)
            assert received, "the server has closed the connection"
            self.held += received
        end = self.held.index(b"#")
        data, self.held = self.held[self.held.index(b"$") + 1 : end], self.held[end + 3 :]
        return data.decode()


def listening(source: Path, size: int = 4) -> tuple[Client, Thread]:
    lines = serve(pl.debug(str(source), on="riscv", N=size).session, 0)
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
    assert client.ask("qCRC:0,4") == "" and client.ask("qC") == "QC1"
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


def test_ctrl_c_stops_what_runs(source: Path) -> None:
    """A running `c` ends at the byte 3, and goes on afterwards."""
    client, thread = listening(source, 3_000)
    client.connection.sendall(encode_packet("c") + b"\x03")
    assert client.read() == "T02thread:1;"
    assert client.ask("vCont;s:1") == "T05thread:1;"
    client.connection.close()
    thread.join(20)


def test_continuing_back_stops_where_the_run_did(source: Path) -> None:
    """The last breakpoint before the end, then the one before it; the store of a watched element; the start."""
    of = pl.debug(str(source), on="riscv", N=40)
    stub, session = open_stub(of.session), of.session
    address = next(code.address for code in session.machine.code() if "sw " in code.text)
    reached = list[int]()
    stub.answer(f"Z0,{address:x},4")
    while stub.answer("c").startswith("T05swbreak"):
        reached.append(session.position)
    assert len(reached) == 40
    restored = list[int]()
    restore = session.machine.restore
    session.machine.restore = lambda saved: (restored.append(1), restore(saved))[1]  # pyright: ignore[reportAttributeAccessIssue]: counts calls
    assert stub.answer("bc") == "T05swbreak:;thread:1;" and session.position == reached[-1]
    # Linear, not quadratic: intervals are restored, not positions.
    assert len(restored) < 5
    assert stub.answer("bc") == "T05swbreak:;thread:1;" and session.position == reached[-2]
    stub.answer(f"z0,{address:x},4")
    machine = session.machine
    assert isinstance(machine, HartStepper)
    element = next(region.address for region in machine.regions if region.name == "C") + 4 * 7
    stub.answer(f"Z2,{element:x},4")
    assert stub.answer("bc").startswith(f"T05watch:{element:x};") and session.position == reached[7]
    assert stub.answer("bc").startswith("T05replaylog:begin") and session.position == 0


def test_vector_registers_are_described(source: Path) -> None:
    """A register f of a Minion has 32 bits; its lanes are a vector of their own."""
    stub = open_stub(pl.debug(str(source), on="minion:1", N=4).session)
    text = stub.answer("qXfer:features:read:target.xml:0,4000")
    assert '<reg name="f3" bitsize="32" type="ieee_single"' in text
    assert '<vector id="lanes" type="ieee_single" count="8"/>' in text
    number = int(text.partition('<reg name="fv3" bitsize="256" type="lanes" regnum="')[2].partition('"')[0])
    assert len(stub.answer(f"p{33 + 3:x}")) == 8
    assert len(stub.answer(f"p{number:x}")) == 64


@pytest.mark.skipif(which("gdb-multiarch") is None, reason="gdb-multiarch is not installed")
def test_gdb_itself_reads_vectors_and_goes_back(source: Path) -> None:
    lines = serve(pl.debug(str(source), on="minion:1", N=4).session, 0)
    port = next(lines).rpartition(":")[2]
    thread = Thread(target=lambda: list(lines), daemon=True)
    thread.start()
    asked = [
        "set architecture riscv:rv64",
        f"target remote :{port}",
        "stepi",
        "reverse-stepi",
        "p sizeof($fv0)",
        "p sizeof($f0)",
    ]
    command = ["gdb-multiarch", "-nx", "-batch", *(word for each in asked for word in ("-ex", each))]
    told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    thread.join(20)
    assert "$1 = 32" in told.stdout and "$2 = 4" in told.stdout, told.stdout + told.stderr
