# SPDX-License-Identifier: Apache-2.0
"""Positions of clang in texts: bytes and lines become spans of characters."""

from __future__ import annotations

from pathlib import Path

from polyloom.buffers import unsaved_text
from polyloom.diagnostics import Source, Span


class Files:
    """The files of a translation unit, each read once."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[bytes, Source]] = {}

    def span(self, path: str, start: int, end: int) -> Span:
        """The characters of the bytes [start, end)."""
        data, source = self._read(path)
        # ASCII alone: bytes are characters, and nothing needs to be decoded for each node of the tree.
        if len(data) == len(source.text):
            return Span(source, start, end)
        return Span(source, *(len(data[:offset].decode("utf-8", "replace")) for offset in (start, end)))

    def word_span(self, path: str, line: int, column: int) -> Span | None:
        """The word at a 1-based line and byte column; None where the file cannot be read."""
        data, _ = self._read(path)
        lines = data.splitlines(keepends=True)
        if line > len(lines):
            return None
        start = sum(map(len, lines[: line - 1])) + column - 1
        end = start
        # Bytes from 0x80 on belong to letters of identifiers in UTF-8 (C17, section 6.4.2).
        while data[end : end + 1].isalnum() or data[end : end + 1] == b"_" or data[end : end + 1] >= b"\x80":
            end += 1
        return self.span(path, start, max(end, start + 1))

    def text(self, path: str) -> str:
        return self._read(path)[1].text

    def line(self, path: str, line: int) -> str:
        """The text of a 1-based line; empty where the file has none."""
        lines = self.text(path).split("\n")
        return lines[line - 1] if 0 < line <= len(lines) else ""

    def word(self, path: str, start: int, length: int) -> str:
        """The bytes [start, start + length) as text."""
        return self._read(path)[0][start : start + length].decode("utf-8", "replace")

    def _read(self, path: str) -> tuple[bytes, Source]:
        if path not in self._files:
            unsaved = unsaved_text(path)
            try:
                data = Path(path).read_bytes() if unsaved is None else unsaved.encode("utf-8", "surrogateescape")
            except (OSError, ValueError):
                data = b""
            self._files[path] = data, Source(path, data.decode("utf-8", "replace"))
        return self._files[path]
