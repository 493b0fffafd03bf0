# SPDX-License-Identifier: Apache-2.0
"""`polyloom lsp`, by the protocol's own messages over standard streams (Language Server Protocol 3.17)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

PYTHON = """import polyloom as pl

N = pl.size("N")
print("this must not enter the protocol")


@pl.kernel
def running(x: pl.f32[N], y: pl.f32[N]):
    t = pl.f32(0.0)
    for i in range(N):
        t = t * 0.5 + x[i]
        y[i] = t  # π² 𝛼
"""
WRONG = PYTHON.replace("y[i] = t ", "y[i] = t + z ")
Message = dict[str, Any]


class Client:
    """Client that sends messages, and waits for those that it is asked to find."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "polyloom", "lsp", "--on", "tcpa:paper"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._number = 0

    def notify(self, method: str, **params: Any) -> None:
        self._send({"method": method, "params": params})

    def request(self, method: str, params: Any) -> Any:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        answer = self.wait_for(lambda m: m.get("id") == self._number and "method" not in m)
        assert "error" not in answer, answer
        return answer["result"]

    def diagnostics(self, uri: str, version: int) -> list[Message]:
        """What a version has wrong; what the machine refuses comes later."""
        found = self.wait_for(
            lambda m: (
                m.get("method") == "textDocument/publishDiagnostics"
                and (m["params"]["uri"], m["params"].get("version")) == (uri, version)
            )
        )
        return found["params"]["diagnostics"]

    def wait_for(self, wanted: Callable[[Message], bool]) -> Message:
        return next(message for message in self._messages() if wanted(message))

    def _send(self, message: Message) -> None:
        assert self._process.stdin is not None
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self._process.stdin.flush()

    def _messages(self) -> Iterator[Message]:
        """Messages of the server (base protocol: headers, an empty line, JSON)."""
        assert self._process.stdout is not None
        while True:
            headers = dict(line.decode().strip().split(": ") for line in iter(self._process.stdout.readline, b"\r\n"))
            yield json.loads(self._process.stdout.read(int(headers["Content-Length"])))

    def leave(self) -> int:
        self.request("shutdown", None)
        self._send({"method": "exit"})
        return self._process.wait(timeout=60)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    made = Client()
    made.request(
        "initialize",
        {"processId": None, "rootUri": None, "capabilities": {"workspace": {"inlayHint": {"refreshSupport": True}}}},
    )
    made.notify("initialized")
    yield made
    assert made.leave() == 0


def open_document(client: Client, path: Path, text: str) -> str:
    """Open what is not on the disk, as an editor shows it."""
    uri = path.as_uri()
    client.notify("textDocument/didOpen", textDocument={"uri": uri, "languageId": "", "version": 1, "text": text})
    return uri


def change(client: Client, uri: str, version: int, text: str) -> None:
    document = {"uri": uri, "version": version}
    client.notify("textDocument/didChange", textDocument=document, contentChanges=[{"text": text}])


def test_a_change_is_answered_and_the_interval_is_a_hint(client: Client, tmp_path: Path) -> None:
    uri = open_document(client, tmp_path / "k.py", WRONG)
    (found,) = client.diagnostics(uri, 1)
    assert (found["code"], found["source"], found["severity"]) == ("PL0140", "polyloom", 1)
    assert found["range"] == {"start": {"line": 11, "character": 19}, "end": {"line": 11, "character": 20}}
    assert "help: " in found["message"]
    # The first change is overtaken by the second, whose hints come.
    change(client, uri, 2, PYTHON.replace("0.5", "0.25"))
    change(client, uri, 3, PYTHON)
    assert client.diagnostics(uri, 3) == []
    client.wait_for(lambda m: m.get("method") == "workspace/inlayHint/refresh")
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    (hint,) = client.request("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": whole})
    assert hint["position"] == {"line": 9, "character": 22}
    assert hint["label"].startswith("π = ") and "bound by" in hint["label"]
    # Hints of a text that is gone are not told.
    change(client, uri, 4, WRONG)
    assert client.request("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": whole}) == []
    client.notify("textDocument/didClose", textDocument={"uri": uri})


def test_columns_are_code_units_and_buffers_reach_clang(client: Client, tmp_path: Path) -> None:
    text = "/* 𝛼𝛽 */ void k(int n, int x[n]) { for (int i = 0; i < n; i++) x[i] = y; }\n"
    (tmp_path / "k.c").write_text("not C at all\n")
    uri = open_document(client, tmp_path / "k.c", text)
    (found,) = client.diagnostics(uri, 1)
    column = len(text[: text.index("y;")].encode("utf-16-le")) // 2
    assert (found["code"], found["range"]["start"]) == ("PL0151", {"line": 0, "character": column})


def test_what_no_machine_reads_is_told_at_the_first_line(client: Client, tmp_path: Path) -> None:
    uri = open_document(client, tmp_path / "empty.py", "import polyloom\n")
    (found,) = client.diagnostics(uri, 1)
    assert (found["code"], found["range"]["end"]) == ("PL0132", {"line": 0, "character": 0})


def test_a_program_without_kernels_is_not_executed(client: Client, tmp_path: Path) -> None:
    uri = open_document(client, tmp_path / "other.py", "open('ran', 'w').close()\n1 / 0\n")
    assert client.diagnostics(uri, 1) == []
    assert not Path("ran").exists()
