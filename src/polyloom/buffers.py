# SPDX-License-Identifier: Apache-2.0
"""Unsaved buffers of an editor: texts that are read in the place of the files of their paths.

A language server checks what its user sees, which is not on the disk yet (LSP 3.17, "Text Document Synchronization").
Every reader of sources asks here first, so that spans, messages and clang's own positions keep the path of the file.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

# A context variable, as threads that compile other files at the same time have no buffers.
_BUFFERS: ContextVar[Mapping[str, str] | None] = ContextVar("buffers", default=None)


@contextmanager
def unsaved_buffers(texts: Mapping[str, str]) -> Generator[None]:
    """Context in which the files of these paths have these texts."""
    token = _BUFFERS.set(texts)
    try:
        yield
    finally:
        _BUFFERS.reset(token)


def unsaved_text(path: str) -> str | None:
    """Text of an unsaved buffer; None where the file is what the disk has."""
    return (_BUFFERS.get() or {}).get(path)


def unsaved_texts() -> tuple[tuple[str, str], ...]:
    """Paths and texts of all buffers."""
    return tuple((_BUFFERS.get() or {}).items())
