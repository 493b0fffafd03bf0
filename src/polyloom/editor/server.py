# SPDX-License-Identifier: Apache-2.0
"""Language server over standard streams (Language Server Protocol 3.17): diagnostics of every change, and the intervals
of loops as inlay hints when they are solved; a change cancels what is still being solved.

Each open document has a worker process; what it sends is published in the server's own loop. Only this file needs
pygls (extra `lsp`).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from polyloom.diagnostics import Diagnostic, Span
from polyloom.editor.check import Request, Stage
from polyloom.editor.hints import Hint
from polyloom.editor.worker import Worker
from polyloom.frontend.source import Options
from polyloom.targets.entry import BUILT_IN
from polyloom.version import VERSION


@dataclass(slots=True)
class Document:
    """Open document, mutable: its worker, the diagnostics of the language, which those of the machine are added to, and
    the hints of its present text.
    """

    path: str
    worker: Worker = field(default_factory=Worker)
    found: list[types.Diagnostic] = field(default_factory=list[types.Diagnostic])
    hints: tuple[Hint, ...] = ()


class Server:
    """Server of one client, mutable. Without a place, the default machine gives hints, and what it refuses is told as
    information, since nobody asked for it.
    """

    def __init__(self, on: str | None, options: Options) -> None:
        self.protocol = LanguageServer("polyloom", VERSION)
        self._on, self._options = on, options
        self._documents: dict[str, Document] = {}
        handlers = {
            types.TEXT_DOCUMENT_DID_OPEN: self._open,
            types.TEXT_DOCUMENT_DID_CHANGE: self._change,
            types.TEXT_DOCUMENT_DID_CLOSE: self._close,
            types.TEXT_DOCUMENT_INLAY_HINT: self._hints,
            types.SHUTDOWN: self._cancel_checks,
        }
        for name, handler in handlers.items():
            # pygls writes attributes on its handlers, which methods cannot have.
            self.protocol.feature(name)(partial(handler))

    def _open(self, params: types.DidOpenTextDocumentParams) -> None:
        uri = params.text_document.uri
        # Of what is no file yet, neighbours and endings are unknown; its name is all that there is.
        self._documents[uri] = Document(to_fs_path(uri) or uri.rpartition(":")[2])
        self._check(uri)

    def _change(self, params: types.DidChangeTextDocumentParams) -> None:
        self._check(params.text_document.uri)

    def _close(self, params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        if (document := self._documents.pop(uri, None)) is not None:
            document.worker.cancel()
        self._publish(uri, None, [])

    def _cancel_checks(self, params: None) -> None:
        del params
        for document in self._documents.values():
            document.worker.cancel()

    def _hints(self, params: types.InlayHintParams) -> list[types.InlayHint]:
        document = self._documents.get(params.text_document.uri)
        if document is None:
            return []
        text = self.protocol.workspace.get_text_document(params.text_document.uri).source.splitlines()
        first, last = params.range.start.line, params.range.end.line
        return [_inlay_hint(hint, text) for hint in document.hints if first <= hint.line - 1 <= last]

    def _check(self, uri: str) -> None:
        """Begin to check the present text of a document, and give up what was begun."""
        document = self._documents[uri]
        text = self.protocol.workspace.get_text_document(uri)
        document.hints = ()
        request = Request(document.path, self._options, self._on or BUILT_IN[0], text=text.source or "")
        connection = document.worker.start(request)
        # The loop is the one in which the protocol calls this.
        loop = asyncio.get_running_loop()
        loop.add_reader(connection.fileno(), partial(self._receive, loop, connection, uri, document, text.version))

    def _receive(
        self,
        loop: asyncio.AbstractEventLoop,
        connection: Connection,
        uri: str,
        document: Document,
        version: int | None,
    ) -> None:
        """Take a stage that a worker has sent; the end of the connection is that of the check."""
        try:
            stage = connection.recv()
        except (EOFError, OSError):
            stage = None
        if stage is None:
            loop.remove_reader(connection.fileno())
            connection.close()
        # What was sent before a change came is of a text that is gone.
        elif self._documents.get(uri) is document and self._is_current(uri, version):
            self._tell(uri, document, version, stage)

    def _is_current(self, uri: str, version: int | None) -> bool:
        return self.protocol.workspace.get_text_document(uri).version == version

    def _tell(self, uri: str, document: Document, version: int | None, stage: Stage) -> None:
        is_machine = stage.name == "machine"
        told = is_machine and self._on is None
        found = [lsp_diagnostic(each, document.path, is_information=told) for each in stage.diagnostics]
        document.found = [*document.found, *found] if is_machine else found
        self._publish(uri, version, document.found)
        if stage.hints:
            document.hints = stage.hints
            self._refresh_hints()

    def _refresh_hints(self) -> None:
        """Ask the client to ask for hints, where it can be asked."""
        workspace = self.protocol.client_capabilities.workspace
        if workspace is not None and workspace.inlay_hint is not None and workspace.inlay_hint.refresh_support:
            self.protocol.workspace_inlay_hint_refresh(None)

    def _publish(self, uri: str, version: int | None, found: list[types.Diagnostic]) -> None:
        self.protocol.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=found, version=version)
        )


def serve(on: str | None, options: Options) -> None:
    """Serve a client on the standard streams until it leaves."""
    Server(on, options).protocol.start_io()


def lsp_diagnostic(diagnostic: Diagnostic, path: str, *, is_information: bool = False) -> types.Diagnostic:
    """Diagnostic as the protocol has it; what another file has wrong, such as a header, stands at the first line."""
    span = diagnostic.span
    is_here = span is not None and span.source.name == path
    place = "" if span is None or is_here else f"{span.source.name}:{span.line}:{span.column}: "
    notes = [f"note: {note}" for note in diagnostic.notes]
    help = [f"help: {diagnostic.help}"] if diagnostic.help is not None else []
    severity = types.DiagnosticSeverity.Error if diagnostic.exit_code else types.DiagnosticSeverity.Warning
    return types.Diagnostic(
        range=_range(span) if span is not None and is_here else types.Range(types.Position(0, 0), types.Position(0, 0)),
        message="\n".join([place + diagnostic.message, *notes, *help]),
        severity=types.DiagnosticSeverity.Information if is_information else severity,
        code=diagnostic.code,
        source="polyloom",
    )


def _range(span: Span) -> types.Range:
    """Range of a span; a place between characters gets one."""
    return types.Range(_position(span, span.start), _position(span, max(span.end, span.start + 1)))


def _position(span: Span, offset: int) -> types.Position:
    """Position of an offset: lines from 0, and UTF-16 code units within a line, the encoding that every client has."""
    text = span.source.text
    begin = text.rfind("\n", 0, offset) + 1
    return types.Position(text.count("\n", 0, offset), _code_units(text[begin:offset]))


def _code_units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _inlay_hint(hint: Hint, text: list[str]) -> types.InlayHint:
    line = text[hint.line - 1] if hint.line <= len(text) else ""
    place = types.Position(hint.line - 1, _code_units(line))
    return types.InlayHint(position=place, label=hint.text, padding_left=True, tooltip=hint.detail)
