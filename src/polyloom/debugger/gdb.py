# SPDX-License-Identifier: Apache-2.0
"""GDB's remote serial protocol over a session: threads are harts; registers, memory, breakpoints, watchpoints, steps,
and steps back (GDB manual, appendix E, "GDB Remote Serial Protocol").

A packet is `$DATA#SUM`, acknowledged by `+`. The program cannot be changed: what runs are its words, from its start on,
so that going back shows what was.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError
from polyloom.stepping.session import Session
from polyloom.targets.stepper import HartMachine

_TRAP: Final = "05"
"""SIGTRAP, by which a stop is told."""
_FAULT: Final = "0b"
"""SIGSEGV: a fault of the machine."""
_INTERRUPTED: Final = "02"
"""SIGINT: Ctrl-C."""
_FIRST_FLOAT: Final = 33
"""Number of f0 (GDB manual, section "RISC-V Features")."""
_FIRST_VECTOR: Final = 0x2000
"""Behind the numbers that GDB gives to control registers, of which there are 4096 from 65 on."""
# PacketSize below, which is hexadecimal.
LONGEST: Final = 1 << 14
"""Bytes of a packet."""
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
    # Asked between steps: whether Ctrl-C has come.
    has_interrupt: Callable[[], bool] = lambda: False

    def answer(self, packet: str) -> str:
        """Data of the reply; empty for what is not supported, as the protocol has it."""
        # Names of q and v packets end at a separator: `qCRC` is another packet than `qC`.
        word = re.match(r"[A-Za-z?]*", packet)
        name = word[0] if word is not None and packet[:1] in "qv" else packet
        act, rest = _NAMED.get(name), packet[len(name) :]
        if act is None and packet[:1] not in "qv":
            act, rest = _LETTERS.get(packet[:1]), packet[1:]
        if act is None:
            return ""
        try:
            return act(self, rest)
        except ValueError:
            # 22 is EINVAL, in hexadecimal as all numbers of errors (GDB manual, section "Standard Replies").
            return "E16"

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
        state = self.machine.hart_state(self.thread - 1)
        size = state.flen // 8
        if 0 <= number - _FIRST_FLOAT < len(state.f):
            return state.f[number - _FIRST_FLOAT].to_bytes(size, "little").hex()
        if 0 <= number - _FIRST_VECTOR < len(state.vectors):
            return b"".join(lane.to_bytes(size, "little") for lane in state.vectors[number - _FIRST_VECTOR]).hex()
        return "E01"

    def resume(self, is_step: bool) -> str:
        """Runs until something stops it, and tells what did."""
        while True:
            self.session.step()
            # A fault is an end of the run, too: it is asked for first.
            if self.session.fault is not None:
                return f"T{_FAULT}thread:{self.thread:x};"
            # W is the end of the process; its exit code is not kept.
            if self.session.is_at_end:
                return "W00"
            reason = self._stop_reason()
            if reason is not None or is_step:
                return f"T{_TRAP}{reason or ''}thread:{self.thread:x};"
            if self.has_interrupt():
                return f"T{_INTERRUPTED}thread:{self.thread:x};"

    def reverse_step(self) -> str:
        """One position back."""
        if self.session.position == 0:
            return f"T{_TRAP}replaylog:begin;thread:{self.thread:x};"
        self.session.seek(self.session.position - 1)
        self.read_watched()
        return f"T{_TRAP}thread:{self.thread:x};"

    def reverse_run(self) -> str:
        """Back to the last earlier stop; each part of the run is repeated once (`Session.seek_earlier_position`)."""
        start, reasons = self.session.position, dict[int, str]()

        def find(is_first: bool) -> int | None:
            position = self.session.position
            # A change is seen behind it: going back stops where the store is about to be executed.
            changed = None if is_first else self._changed_address()
            self.read_watched()
            if not is_first and position < start and (hart := self._reached_hart()) is not None:
                reasons[position] = f"swbreak:;thread:{hart + 1:x};"
                return position
            if changed is None:
                return None
            reasons[position - 1] = f"watch:{changed:x};thread:{self.thread:x};"
            return position - 1

        self.session.seek_earlier_position(find)
        self.read_watched()
        reason = reasons.get(self.session.position, f"replaylog:begin;thread:{self.thread:x};")
        self.thread = int(reason.rpartition(":")[2].rstrip(";"), 16)
        return f"T{_TRAP}{reason}"

    def read_watched(self) -> None:
        """Watched bytes are those of now: what changed on the way here stops nothing later."""
        self.watched = {place: self.machine.read_memory(*place) for place in self.watched}

    def _changed_address(self) -> int | None:
        """Address of a watched place whose bytes are others than before."""
        return next((p[0] for p, before in self.watched.items() if self.machine.read_memory(*p) != before), None)

    def _reached_hart(self) -> int | None:
        """Hart that is about to execute an instruction with a breakpoint."""
        # Only a hart that has just moved may have reached an address: others would stop again and again.
        units = {entry.event.unit for entry in self.session.last}
        for hart, unit in enumerate(self.machine.harts):
            if unit in units and self.machine.hart_state(hart).pc in self.breakpoints:
                return hart
        return None

    def _stop_reason(self) -> str | None:
        """Watchpoint that changed, or a breakpoint."""
        # By bytes: stores of coprocessors are seen as those of harts are.
        if (address := self._changed_address()) is not None:
            self.read_watched()
            return f"watch:{address:x};"
        if (hart := self._reached_hart()) is not None:
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
    found = stub.machine.read_memory(address, min(size, LONGEST))
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
    place, _, part = rest.rpartition(":")
    if place != ":features:read:target.xml":
        return ""
    start, length = (int(each, 16) for each in part.split(","))
    text = target_description(stub.machine)
    return f"{'m' if start + length < len(text) else 'l'}{text[start : start + length]}"


def target_description(machine: HartMachine) -> str:
    """XML of the registers (GDB manual, appendix G, "Target Descriptions"). Vector registers have a feature of their
    own, since GDB knows those of RISC-V's V alone.
    """
    state, xlen = machine.hart_state(0), machine.xlen
    names = [*(f"x{n}" for n in range(32)), "pc"]
    rows = [f'<reg name="{name}" bitsize="{xlen}" regnum="{n}"/>' for n, name in enumerate(names)]
    kind = "ieee_double" if state.flen == 64 else "ieee_single"
    floats = [
        f'<reg name="f{n}" bitsize="{state.flen}" type="{kind}" regnum="{_FIRST_FLOAT + n}"/>'
        for n in range(len(state.f))
    ]
    features = [("org.gnu.gdb.riscv.cpu", rows), ("org.gnu.gdb.riscv.fpu", floats)]
    if state.vectors:
        lanes = len(state.vectors[0])
        vectors = [
            f'<reg name="fv{n}" bitsize="{lanes * state.flen}" type="lanes" regnum="{_FIRST_VECTOR + n}"/>'
            for n in range(len(state.vectors))
        ]
        features.append(("polyloom.vectors", [f'<vector id="lanes" type="{kind}" count="{lanes}"/>', *vectors]))
    written = "".join(f'<feature name="{name}">{"".join(inside)}</feature>' for name, inside in features if inside)
    return f'<?xml version="1.0"?><target version="1.0"><architecture>riscv:rv{xlen}</architecture>{written}</target>'


def _close(stub: Stub, rest: str) -> str:
    del rest
    stub.is_closed = True
    return "OK"


def _list_threads(stub: Stub, rest: str) -> str:
    del rest
    return "m" + ",".join(f"{n + 1:x}" for n in range(len(stub.machine.harts)))


def _is_alive(stub: Stub, rest: str) -> str:
    return "OK" if 0 < int(rest, 16) <= len(stub.machine.harts) else "E01"


_NAMED: Final[dict[str, Callable[[Stub, str], str]]] = {
    "qSupported": lambda stub, rest: _SUPPORTED,
    "qXfer": _describe_target,
    "qfThreadInfo": _list_threads,
    "qsThreadInfo": lambda stub, rest: "l",
    "qC": lambda stub, rest: f"QC{stub.thread:x}",
    "qAttached": lambda stub, rest: "1",
    "vCont?": lambda stub, rest: "vCont;c;C;s;S",
    "vCont": _continue_threads,
    "bs": lambda stub, rest: stub.reverse_step(),
    "bc": lambda stub, rest: stub.reverse_run(),
}
"""Packets by their whole name."""
_LETTERS: Final[dict[str, Callable[[Stub, str], str]]] = {
    "?": lambda stub, rest: f"T{_TRAP}thread:{stub.thread:x};",
    # Without floating point: GDB asks for what `g` leaves out by `p`.
    "g": lambda stub, rest: "".join(map(stub.hex_register, range(_FIRST_FLOAT))),
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
"""Packets whose operands follow a letter."""


def open_stub(session: Session) -> Stub:
    """Stub of a session. Errors: PL0801 for a machine without harts."""
    machine = session.machine
    if not isinstance(machine, HartMachine):
        message = "GDB steps RISC-V harts, which this machine has not"
        raise PolyloomError(Diagnostic("PL0801", message, USAGE, help="leave --gdb out, and use the prompt"))
    return Stub(session, machine)
