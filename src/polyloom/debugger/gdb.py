# SPDX-License-Identifier: Apache-2.0
"""GDB's remote serial protocol over a session: threads are harts; registers, memory, breakpoints, watchpoints, steps,
and steps back (GDB manual, appendix E, "GDB Remote Serial Protocol").

A packet is `$DATA#SUM`, acknowledged by `+`. The program cannot be changed: what runs are its words, from its start on,
so that going back shows what was.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from polyloom.debugger.session import Session
from polyloom.diagnostics import INPUT, USAGE, Diagnostic, PolyloomError
from polyloom.targets.stepper import HartMachine

_TRAP: Final = "05"
"""SIGTRAP, by which a stop is told."""
_FAULT: Final = "0b"
"""SIGSEGV: a fault of the machine."""
# PacketSize below, which is hexadecimal.
_LONGEST: Final = 1 << 14
_SUPPORTED: Final = "PacketSize=4000;swbreak+;hwbreak+;qXfer:features:read+;ReverseStep+;ReverseContinue+"


@dataclass(slots=True)  # the connection's state
class Stub:
    """Answers of a session to packets; thread n is hart n - 1."""

    session: Session
    machine: HartMachine
    thread: int = 1
    breakpoints: set[int] = field(default_factory=set[int])
    watched: dict[tuple[int, int], bytes] = field(default_factory=dict[tuple[int, int], bytes])
    is_closed: bool = False

    def answer(self, packet: str) -> str:
        """Data of the reply; empty for what is not supported, as the protocol has it."""
        for start, act in _PACKETS.items():
            if packet.startswith(start):
                try:
                    return act(self, packet[len(start) :])
                except ValueError:
                    # 22 is EINVAL, in hexadecimal as all numbers of errors (GDB manual, section "Standard Replies").
                    return "E16"
        return ""

    @property
    def bytes_per_register(self) -> int:
        return self.machine.xlen // 8

    def registers(self) -> list[int]:
        """x0 to x31, then pc."""
        state = self.machine.hart_state(self.thread - 1)
        # Numbers 0 to 32; floating point follows from 33 on (GDB manual, section "RISC-V Features").
        return [*state.x, state.pc]

    def hex_register(self, number: int) -> str:
        known = self.registers()
        if number < len(known):
            return known[number].to_bytes(self.bytes_per_register, "little").hex()
        floats = self.machine.hart_state(self.thread - 1).f
        if number - len(known) < len(floats):
            return floats[number - len(known)].to_bytes(8, "little").hex()
        return "E01"

    def resume(self, is_step: bool, back: bool = False) -> str:
        """Runs until something stops it, and tells what did."""
        while True:
            if back:
                if self.session.position == 0:
                    return f"T{_TRAP}replaylog:begin;thread:{self.thread:x};"
                self.session.seek(self.session.position - 1)
            else:
                self.session.step()
            # A fault is an end of the run, too: it is asked for first.
            if self.session.fault is not None:
                return f"T{_FAULT}thread:{self.thread:x};"
            # W is the end of the process; its exit code is not kept.
            if self.session.is_at_end and not back:
                return "W00"
            reason = self._stop_reason()
            if reason is not None or is_step:
                return f"T{_TRAP}{reason or ''}thread:{self.thread:x};"

    def _stop_reason(self) -> str | None:
        """Watchpoint that changed, or a hart that is about to execute an instruction with a breakpoint."""
        # By bytes: stores of coprocessors are seen as those of harts are.
        for (address, size), before in self.watched.items():
            now = self.machine.read_memory(address, size)
            if now != before:
                self.watched[address, size] = now
                return f"watch:{address:x};"
        # Only a hart that has just moved may have reached an address: others would stop again and again.
        units = {entry.event.unit for entry in self.session.last}
        for hart, unit in enumerate(self.machine.harts):
            if unit in units and self.machine.hart_state(hart).pc in self.breakpoints:
                self.thread = hart + 1
                return "swbreak:;"
        return None


def _choose_thread(stub: Stub, rest: str) -> str:
    number = int(rest, 16) if rest not in ("", "-1") else 0
    if number > len(stub.machine.harts):
        return "E01"
    # 0 and -1 mean any thread.
    stub.thread = number if number > 0 else stub.thread
    return "OK"


def _read_memory(stub: Stub, rest: str) -> str:
    address, size = (int(part, 16) for part in rest.split(","))
    # A reply may have fewer bytes than were asked for; GDB asks for the others again.
    found = stub.machine.read_memory(address, min(size, _LONGEST))
    return found.hex() if found or not size else "E0e"


def _set_point(stub: Stub, rest: str) -> str:
    kind, address, size = rest.split(",")[:3]
    # Software and hardware breakpoints are one: no word of the program is replaced.
    if kind in ("0", "1"):
        stub.breakpoints.add(int(address, 16))
    elif kind == "2":
        place = int(address, 16), int(size, 16)
        stub.watched[place] = stub.machine.read_memory(*place)
    else:
        return ""  # watchpoints of reads are not supported
    return "OK"


def _remove_point(stub: Stub, rest: str) -> str:
    kind, address, size = rest.split(",")[:3]
    if kind in ("0", "1"):
        stub.breakpoints.discard(int(address, 16))
    else:
        stub.watched.pop((int(address, 16), int(size, 16)), None)
    return "OK"


def _continue_threads(stub: Stub, rest: str) -> str:
    """`vCont`: the first action decides, for all harts are on one clock."""
    # A packet without an action is none: its answer is that of an unknown packet.
    if not rest.startswith(";") or len(rest) < 2:
        return ""
    action, _, thread = rest.split(";")[1].partition(":")
    if thread:
        _choose_thread(stub, thread)
    return stub.resume(action.startswith(("s", "S")))


def _describe_target(stub: Stub, rest: str) -> str:
    """Part of the description of registers, of which GDB asks for offset and length."""
    start, length = (int(part, 16) for part in rest.split(","))
    arch = f"riscv:rv{stub.machine.xlen}"
    names = [*(f"x{n}" for n in range(32)), "pc"]
    rows = [f'<reg name="{name}" bitsize="{stub.machine.xlen}" regnum="{n}"/>' for n, name in enumerate(names)]
    floats = len(stub.machine.hart_state(0).f)
    rows_f = [f'<reg name="f{n}" bitsize="64" type="ieee_double" regnum="{33 + n}"/>' for n in range(floats)]
    vector = f'<feature name="org.gnu.gdb.riscv.fpu">{"".join(rows_f)}</feature>' if floats else ""
    text = (
        f'<?xml version="1.0"?><target version="1.0"><architecture>{arch}</architecture>'
        f'<feature name="org.gnu.gdb.riscv.cpu">{"".join(rows)}</feature>{vector}</target>'
    )
    part = text[start : start + length]
    return f"{'m' if start + length < len(text) else 'l'}{part}"


def _close(stub: Stub, rest: str) -> str:
    del rest
    stub.is_closed = True
    return "OK"


def _list_threads(stub: Stub, rest: str) -> str:
    del rest
    return "m" + ",".join(f"{n + 1:x}" for n in range(len(stub.machine.harts)))


def _is_alive(stub: Stub, rest: str) -> str:
    return "OK" if 0 < int(rest, 16) <= len(stub.machine.harts) else "E01"


# Longer beginnings stand before shorter ones.
_PACKETS: Final[dict[str, Callable[[Stub, str], str]]] = {
    "qSupported": lambda stub, rest: _SUPPORTED,
    "qXfer:features:read:target.xml:": _describe_target,
    "qfThreadInfo": _list_threads,
    "qsThreadInfo": lambda stub, rest: "l",
    "qC": lambda stub, rest: f"QC{stub.thread:x}",
    "qAttached": lambda stub, rest: "1",
    "vCont?": lambda stub, rest: "vCont;c;C;s;S",
    "vCont": _continue_threads,
    "?": lambda stub, rest: f"T{_TRAP}thread:{stub.thread:x};",
    "bs": lambda stub, rest: stub.resume(True, back=True),
    "bc": lambda stub, rest: stub.resume(False, back=True),
    # Without floating point: GDB asks for what `g` leaves out by `p`.
    "g": lambda stub, rest: "".join(map(stub.hex_register, range(33))),
    "p": lambda stub, rest: stub.hex_register(int(rest, 16)),
    "m": _read_memory,
    "H": lambda stub, rest: _choose_thread(stub, rest[1:]),
    "T": _is_alive,
    "Z": _set_point,
    "z": _remove_point,
    "c": lambda stub, rest: stub.resume(False),
    "s": lambda stub, rest: stub.resume(True),
    "D": _close,
    "k": _close,
}


def open_stub(session: Session) -> Stub:
    """Stub of a session. Errors: PL0801 for a machine without harts."""
    machine = session.machine
    if not isinstance(machine, HartMachine):
        message = "GDB steps RISC-V harts, which this machine has not"
        raise PolyloomError(Diagnostic("PL0801", message, USAGE, help="leave --gdb out, and use the prompt"))
    return Stub(session, machine)


def serve(session: Session, port: int) -> Iterator[str]:
    """Serves one connection on the host's own address, and tells where it waits. Errors: PL0801, PL1509 for a port that
    is taken.
    """
    stub = open_stub(session)
    try:
        # The host alone: whoever reaches the port reads the program's memory.
        listening = socket.create_server(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        message = f"cannot listen on the port {port}: {error}"
        raise PolyloomError(Diagnostic("PL1509", message, INPUT, help="write another port, or 0 for any")) from None
    with listening:
        yield f"waiting for GDB: target remote :{listening.getsockname()[1]}"
        connection, _ = listening.accept()
        with connection:
            _exchange(stub, connection)
    yield "GDB has left"


def _exchange(stub: Stub, connection: socket.socket) -> None:
    """Packets of a connection until it ends."""
    held = b""
    while not stub.is_closed:
        received = connection.recv(_LONGEST)
        if not received:
            return
        held += received
        # TCP keeps no bounds of packets: several may have come, or a part of one.
        while (packet := _pop_packet(held)) is not None:
            text, held = packet
            # The acknowledgement goes first: GDB waits for it before a reply.
            connection.sendall(b"+" + encode_packet(stub.answer(text)))


def _pop_packet(held: bytes) -> tuple[str, bytes] | None:
    """First whole packet in what was received, and the rest; acknowledgements are dropped."""
    start = held.find(b"$")
    end = held.find(b"#", start)
    # The sum behind `#` is not compared: TCP has one of its own.
    if start < 0 or end < 0 or len(held) < end + 3:
        return None
    return held[start + 1 : end].decode("latin-1"), held[end + 3 :]


def encode_packet(data: str) -> bytes:
    """`$DATA#SUM`, where the sum of the bytes is modulo 256."""
    return f"${data}#{sum(data.encode('latin-1')) % 256:02x}".encode("latin-1")
