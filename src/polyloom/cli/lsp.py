# SPDX-License-Identifier: Apache-2.0
"""`polyloom lsp`: a language server on the standard streams (docs/editors.md)."""

from __future__ import annotations

from importlib.util import find_spec

from polyloom import extras
from polyloom.cli import sources
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Request
from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError
from polyloom.targets import registry


def execute(options: Request) -> Answer:
    """Serve until the client leaves. Errors: PL0826 without pygls, PL0805 for a place."""
    registry.split_place(options.on)
    if find_spec("pygls") is None:
        help = f"install it: `{extras.install_command('lsp')}`"
        raise PolyloomError(Diagnostic("PL0826", "pygls is not installed; it speaks to editors", USAGE, help=help))
    # Imported when used: it belongs to the extra `lsp`, which an installation may lack.
    from polyloom.editor.server import serve

    serve(options.on, sources.reading_options(options))
    return Answer(None)
