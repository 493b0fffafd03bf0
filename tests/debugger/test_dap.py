# SPDX-License-Identifier: Apache-2.0
"""The debug adapter, by the protocol's own messages: what an editor asks for, from the handshake to the end."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from threading import Thread
from typing import Any, BinaryIO, cast

import pytest
from tests.debugger.test_prints import PRINTING

import polyloom as pl
from polyloom.debugger.dap import Adapter
from polyloom.debugger.dap_connection import launch_program, serve_port
from polyloom.debugger.dap_messages import Channel, read_message


class Editor:
    """Client of the protocol: responses by request, and the events between them."""

    def __init__(self, port: int) -> None:
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.source = self.connection.makefile("rb")
        self.events, self.count = list[dict[str, Any]](), 0

    def send(self, command: str, **arguments: Any) -> int:
        self.count += 1
        self.connection.sendall(
            framed({"seq": self.count, "type": "request", "command": command, "arguments": arguments})
        )
        return self.count

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        number = self.send(command, **arguments)
        while (message := self.read())["type"] != "response" or message["request_seq"] != number:
            self.events.append(message)
        return message

    def body(self, command: str, **arguments: Any) -> dict[str, Any]:
        answer = self.ask(command, **arguments)
        assert answer["success"], answer
        return answer["body"]

    def read(self) -> dict[str, Any]:
        message = read_message(self.source)
        assert message is not None
        return message

    def wait(self, event: str) -> dict[str, Any]:
        """Body of the next event of that name."""
        while True:
            message = self.events.pop(0) if self.events else self.read()
            if message["type"] == "event" and message["event"] == event:
                return message.get("body", {})

    def line(self) -> int:
        """Line where the last stop is."""
        thread = self.wait("stopped")["threadId"]
        return self.body("stackTrace", threadId=thread)["stackFrames"][0]["line"]


def framed(message: dict[str, Any]) -> bytes:
    data = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(data), data)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dap") / "mix.py"
    path.write_text(PRINTING)
    return path


@pytest.fixture
def connect() -> Iterator[Callable[[], Editor]]:
    editors = list[Editor]()

    def connected() -> Editor:
        lines = serve_port(launch_program, 0)
        editors.append(Editor(int(next(lines).rpartition(" ")[2])))
        Thread(target=lambda: list(lines), daemon=True).start()
        return editors[-1]

    yield connected
    for editor in editors:
        editor.connection.close()


def launched(editor: Editor, source: Path, on: str, **more: Any) -> None:
    capabilities = editor.body("initialize", adapterID="polyloom", linesStartAt1=True)
    assert capabilities["supportsStepBack"]
    editor.body("launch", program=str(source), on=on, values={"N": 3}, **more)
    editor.wait("initialized")


@pytest.mark.parametrize("on", ["tcpa:1x2", "riscv"])
def test_a_session_of_an_editor(source: Path, on: str, connect: Callable[[], Editor]) -> None:
    editor = connect()
    launched(editor, source, on)
    path = {"path": str(source)}
    # Line 11 is a print, which is no code: one of those behind it has some, on RISC-V the head of the loop.
    set_points = editor.body("setBreakpoints", source=path, breakpoints=[{"line": 11}, {"line": 99}])["breakpoints"]
    assert set_points[0]["line"] == {"riscv": 12}.get(on, 14)
    assert (set_points[0]["verified"], set_points[1]["verified"]) == (True, False)
    editor.body("setBreakpoints", source=path, breakpoints=[{"line": 14, "condition": "position > 0"}])
    editor.body("configurationDone")
    assert editor.wait("stopped")["reason"] == "entry"
    assert editor.body("threads")["threads"]
    editor.body("continue", threadId=1)
    stopped = editor.wait("stopped")
    assert stopped["reason"] == "breakpoint"
    thread = stopped["threadId"]
    (frame,) = editor.body("stackTrace", threadId=thread)["stackFrames"]
    assert (frame["line"], frame["source"]["path"]) == (14, str(source))
    scopes = editor.body("scopes", frameId=frame["id"])["scopes"]
    assert [scope["name"] for scope in scopes] == ["Source", "Registers", "Operation"]
    variables = editor.body("variables", variablesReference=scopes[0]["variablesReference"])["variables"]
    array = next(variable for variable in variables if variable["name"] == "B")
    (row, *_) = editor.body("variables", variablesReference=array["variablesReference"], start=1, count=1)["variables"]
    assert row["name"] == "[1]" and row["indexedVariables"] == 3
    assert editor.body("variables", variablesReference=scopes[1]["variablesReference"])["variables"]
    value = editor.body("evaluate", expression="B[1, 2] * 0 + 7", context="watch", frameId=frame["id"])
    assert float(value["result"]) == 7
    assert not editor.ask("evaluate", expression="nothing", context="watch")["success"]
    # Back, and on again, to the same place.
    at = editor.body("evaluate", expression="position", context="watch")["result"]
    editor.body("stepBack", threadId=thread)
    editor.wait("stopped")
    assert int(editor.body("evaluate", expression="position", context="watch")["result"]) < int(at)
    editor.body("continue", threadId=thread)
    editor.wait("stopped")
    assert editor.body("evaluate", expression="position", context="watch")["result"] == at
    editor.body("next", threadId=thread)
    assert editor.wait("stopped")["reason"] in ("step", "breakpoint")
    editor.body("stepIn", threadId=thread)
    editor.wait("stopped")
    editor.body("stepOut", threadId=thread)
    editor.wait("stopped")
    editor.body("reverseContinue", threadId=thread)
    assert editor.wait("stopped")["reason"] in ("breakpoint", "entry")
    editor.body("setBreakpoints", source=path, breakpoints=[])
    editor.body("reverseContinue", threadId=thread)
    assert editor.wait("stopped")["reason"] == "entry"
    assert editor.body("evaluate", expression="position", context="watch")["result"] == "0"
    editor.body("continue", threadId=thread)
    assert "cycle" in editor.wait("output")["output"]
    editor.wait("terminated")
    editor.body("disconnect")


def test_pause_stops_a_run(tmp_path: Path, connect: Callable[[], Editor]) -> None:
    """While the program runs, requests are answered; an unknown one is refused, and the session goes on."""
    (tmp_path / "long.py").write_text(PRINTING.replace('print("', 'pass  # ("'))
    editor = connect()
    editor.body("initialize")
    assert not editor.ask("threads")["success"]
    assert not editor.ask("launch")["success"]
    editor.body("launch", program=str(tmp_path / "long.py"), on="riscv", values={"N": 60}, stopOnEntry=False)
    editor.body("configurationDone")
    assert not editor.ask("frobnicate")["success"]
    editor.body("pause", threadId=1)
    assert editor.wait("stopped")["reason"] == "pause"
    assert "hart 0" in editor.body("evaluate", expression="info registers", context="repl")["result"]
    editor.body("terminate")


def test_an_adapter_on_the_standard_streams(source: Path) -> None:
    """`polyloom debug FILE --dap`: nothing but messages stands in the output."""
    asked: list[tuple[str, dict[str, Any]]] = [
        ("initialize", {}),
        ("launch", {"stopOnEntry": False}),
        ("configurationDone", {}),
    ]
    text = b"".join(
        framed({"seq": n, "type": "request", "command": c, "arguments": a}) for n, (c, a) in enumerate(asked)
    )
    command = [sys.executable, "-m", "polyloom", "debug", "--dap", str(source), "N=2", "--on", "riscv"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(text)
        process.stdin.flush()
        told = list[dict[str, Any]]()
        while not told or told[-1].get("event") != "terminated":
            message = read_message(cast(BinaryIO, process.stdout))
            assert message is not None
            told.append(message)
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait(30) == 0
    assert sum(message.get("event") == "output" for message in told) == 6


@pytest.mark.parametrize(
    "data",
    [
        framed({})[:-1],
        b"Content-Length: 99999\r\n\r\n" + b"[" * 99_999,
        b"Content-Length: 1" + b"0" * 99,
        b"x\r\n\r\n",
    ],
    ids=["cut", "nested", "long", "no length"],
)  # fmt: skip
def test_what_is_no_message_ends_the_session(data: bytes) -> None:
    """The adapter neither waits for ever nor fails."""
    sink = BytesIO()
    served = Thread(target=Adapter(Channel(BytesIO(data), sink), launch_program).serve, daemon=True)
    served.start()
    served.join(30)
    assert not served.is_alive() and sink.getvalue() == b""


@pytest.mark.parametrize(
    ("command", "arguments"),
    [("variables", {"start": float("inf")}), ("threads", {}), ("launch", {"seed": []}), ("", [])],
)  # fmt: skip
def test_requests_that_are_wrong_or_too_early_are_refused(command: str, arguments: Any) -> None:
    told = framed({"seq": 1, "type": "request", "command": command, "arguments": arguments})
    sink = BytesIO()
    Adapter(Channel(BytesIO(told), sink), launch_program).serve()
    sink.seek(0)
    answer = read_message(sink)
    assert answer is not None and answer["request_seq"] == 1 and not answer["success"] and answer["message"]


def test_a_condition_that_fails_while_the_program_runs_stops_it(source: Path, connect: Callable[[], Editor]) -> None:
    editor = connect()
    launched(editor, source, "riscv", stopOnEntry=False)
    point = {"line": 10, "condition": "A[3 * (cycle > 0)] == 0"}
    assert editor.body("setBreakpoints", source={"path": str(source)}, breakpoints=[point])["breakpoints"][0][
        "verified"
    ]
    editor.body("configurationDone")
    assert "A" in (stopped := editor.wait("stopped"))["text"] and stopped["reason"] == "exception"
    # The session goes on.
    assert editor.body("threads")["threads"]


def test_going_back_stops_at_the_breakpoints_of_going_on(source: Path) -> None:
    """From the end, the positions of breakpoints in reverse; a unit that stands in a line does not enter it again."""
    for on in ("riscv", "tcpa:1x2"):
        of = pl.debug(str(source), on=on, N=3)
        of.execute("break 14 if i_2 == 1")
        reached = list[int]()
        while not of.session.is_at_end:
            if of.execute("continue") and not of.session.is_at_end:
                reached.append(of.session.position)
        back = list[int]()
        while of.session.position:
            of.execute("reverse-continue")
            back.append(of.session.position)
        assert back == [*reversed(reached), 0]
