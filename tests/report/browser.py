# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that looks at pages: a small client of its DevTools protocol over a pipe, messages of JSON on the
descriptors 3 and 4, each ended by a zero byte (`--remote-debugging-pipe`).

It resolves no names, and whatever a page asks for beyond itself is recorded, as is what its console says.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from base64 import b64decode
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any, Final

_FLAGS: Final = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-extensions"),
    *("--host-resolver-rules=MAP * ~NOTFOUND", "--disable-background-networking", "--disable-dev-shm-usage"),
    *("--remote-debugging-pipe", "--force-device-scale-factor=1", "--disable-component-update", "--mute-audio"),
)
_PATIENCE: Final = 60.0
"""Seconds for one answer, on a machine that is busy."""
Message = dict[str, Any]


def chromium() -> str | None:
    """The program, where there is one."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One tab. `requests` are addresses that a page asked for besides itself, `errors` what its console or the browser
    complained of."""

    def __init__(self, process: subprocess.Popen[bytes], write: int, read: int) -> None:
        self.process, self._write, self._read = process, write, read
        self._buffer, self._number, self._session = b"", 0, ""
        self.requests: list[str] = []
        self.errors: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Message:
        """The result of a method; events that come before it are noted."""
        self._number += 1
        message: Message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") == self._number:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']['message']}")
                return found["result"]
            self._note(found)

    def open(self, path: Path, width: int, height: int = 900, *, dark: bool = False, query: str = "") -> None:
        """Load a file, at a width, and wait until it is drawn; `query` is what stands behind its address."""
        self.requests, self.errors = [], []
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)
        self.resize(width, height)
        self.call("Page.navigate", url=path.as_uri() + query)
        self.run("new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', done))")
        self.settle()

    def resize(self, width: int, height: int = 900) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def settle(self) -> None:
        """Until what was started has been drawn."""
        self.run("new Promise(done => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 60))")

    def run(self, script: str) -> Any:
        """The value of an expression on the page; of a promise what it gives."""
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"].get("description", script))
        return found["result"].get("value")

    def press(self, key: str) -> None:
        """A key, down and up."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, **_KEYS.get(key, {}))

    def point(self, x: float, y: float, *, click: bool = False) -> None:
        """Move the pointer, and click there."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased") if click else ():
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def picture(self, path: Path) -> None:
        """The whole page as PNG."""
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(b64decode(found["data"]))

    def _next(self) -> Message:
        end = monotonic() + _PATIENCE
        while b"\0" not in self._buffer:
            part = os.read(self._read, 1 << 16)
            if not part or monotonic() > end:
                raise RuntimeError("the browser does not answer")
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(line)

    def _note(self, event: Message) -> None:
        match event.get("method"), event.get("params", {}):
            case "Network.requestWillBeSent", {"type": kind, "request": {"url": url}} if kind != "Document":
                self.requests.append(url)
            case "Runtime.consoleAPICalled", {"type": "error" | "warning", "args": said}:
                self.errors.append(str(said))
            case "Runtime.exceptionThrown", {"exceptionDetails": details}:
                self.errors.append(details.get("exception", {}).get("description", details["text"]))
            case "Log.entryAdded", {"entry": {"level": "error" | "warning", "text": said}}:
                self.errors.append(said)
            case _:
                pass


_KEYS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Tab": {"windowsVirtualKeyCode": 9},
    "Enter": {"windowsVirtualKeyCode": 13, "text": "\r"},
    "Backspace": {"windowsVirtualKeyCode": 8},
    "Escape": {"windowsVirtualKeyCode": 27},
    "ArrowRight": {"windowsVirtualKeyCode": 39},
    "ArrowDown": {"windowsVirtualKeyCode": 40},
    "+": {"text": "+"},
}


@contextmanager
def browser(folder: Path) -> Generator[Browser]:
    """A browser with a profile in the folder, ended at last."""
    program = chromium()
    assert program is not None, "the package `chromium` is missing"
    to_browser, from_us = os.pipe()
    to_us, from_browser = os.pipe()

    def connect() -> None:
        # Descriptors that were opened lower than 5 may be what 3 or 4 replaces.
        first, second = os.dup2(to_browser, 10), os.dup2(from_browser, 11)
        os.dup2(first, 3)
        os.dup2(second, 4)

    process = subprocess.Popen(
        [program, *_FLAGS, f"--user-data-dir={folder}"],
        pass_fds=(3, 4, to_browser, from_browser),
        preexec_fn=connect,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_browser)
    os.close(from_browser)
    try:
        yield Browser(process, from_us, to_us)
    finally:
        process.terminate()
        process.wait()
        os.close(from_us)
        os.close(to_us)
