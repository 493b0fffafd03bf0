# SPDX-License-Identifier: Apache-2.0
"""Entry point `main`: dispatch to the verb, output of its answer, errors as messages and an exit code.

A verb is a module, `polyloom.cli.VERB` or one that a target brings, with `arguments(parser)` and `execute(options) ->
Answer`; only the chosen one is imported, so that `polyloom --help` answers at once. Where even that takes long, the
flags stand in `flags.py`. With `--json` an error is also an object on stdout.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Final, cast

import polyloom
from polyloom.cli import terminal
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request, general_options, usage_error
from polyloom.cli.color import paint_diagnostic, wants_color
from polyloom.cli.flags import FLAGS
from polyloom.cli.interrupt import INTERRUPTED, is_interrupt
from polyloom.cli.target_flags import named_targets
from polyloom.diagnostics import Diagnostic, PolyloomError, input_error, internal_error, nearest
from polyloom.recursion import nesting_error
from polyloom.targets.entry import entries

VERBS: Final = {
    "run": "compile, instantiate, simulate, check, report",
    "compare": "run one source on several machines, side by side",
    "check": "what is wrong with a file, without running it",
    "compile": "compile a program once, for all sizes",
    "asm": "assemble text in a target's notation",
    "instantiate": "make a concrete configuration for given sizes",
    "simulate": "run a program file on its model",
    "debug": "step through a program, forwards and back, on any machine",
    "show": "print any file",
    "verify": "check a program, or a configuration without running it",
    "schedule": "schedule a loop's operations for the least initiation interval",
    "dominators": "dominators, post-dominators and dominance frontiers of a graph",
    "explore": "sweep sizes, regions and machines: predict all, verify the best",
    "machines": "list the machines, or print one",
    "explain": "explain a diagnostic code",
    "bench": "measure, print a table",
    "doctor": "check this installation",
    "lsp": "serve an editor: diagnostics and intervals while you type",
    "completion": "print a script that completes commands with Tab",
}


def main(words: Sequence[str] | None = None) -> int:
    """Runs one command; the result is the process's exit code."""
    words = sys.argv[1:] if words is None else list(words)
    # From the words themselves: an error in parsing them must obey these flags, too.
    as_json, is_quiet = "--json" in words, "--quiet" in words or "-q" in words
    paint = paint_diagnostic if wants_color(words, sys.stderr) else str
    try:
        answer = _run_verb(words)
        terminal.write(answer.printed.removesuffix("\n"), sys.stderr)
        text = "" if is_quiet else answer.text
        # Of what is streamed, every line is a whole of its own.
        is_whole = as_json and answer.data is not None
        _print_output(json.dumps(answer.data, indent=2, allow_nan=False) if is_whole else text)
        for line in answer.streamed:
            if not is_quiet:
                _print_output(line)
        return _print_diagnostics(answer.diagnostics, paint, is_quiet)
    except PolyloomError as error:
        return _print_failure(error.diagnostics, as_json, paint)
    # The reader of a pipe, such as `head`, has what it wants: no error.
    except BrokenPipeError:
        _drop_output()
        return 0
    # Deeply nested input exhausts Python's stack somewhere below: it is the input that is wrong.
    except RecursionError:
        return _print_failure(nesting_error("the input").diagnostics, as_json, paint)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        return INTERRUPTED if is_interrupt(error) else _print_failure((internal_error(error),), as_json, paint)


def _run_verb(words: Sequence[str]) -> Answer:
    """Chosen verb on its words. Errors: PL0801 and those of the verb."""
    if not words or list(words) == ["--json"]:
        raise usage_error(
            "no command was given", f"write one of {', '.join(known_verbs())}; `polyloom --help` describes them"
        )
    # Before any module of a verb is loaded: help must answer at once.
    if words[0] in ("-h", "--help", "help"):
        return Answer({"verbs": {verb: about for verb, (about, _) in known_verbs().items()}}, _help_text())
    if words[0] == "--version":
        return Answer({"version": polyloom.__version__}, f"polyloom {polyloom.__version__}")
    verb, known = words[0], known_verbs()
    if verb not in known:
        raise usage_error(f"there is no command '{verb}'", nearest(verb, known, "command"))
    about, name = known[verb]
    parser = Parser(f"polyloom {verb}", about, named_targets(verb, words))
    flag_declaration(verb, name)(parser)
    general_options(parser)
    # The whole command line is checked before the verb's work begins.
    options = parser.read(words[1:])
    return cast(Callable[[Request], Answer], importlib.import_module(name).execute)(options)


def flag_declaration(verb: str, name: str) -> Callable[[Parser], None]:
    """What declares the flags of a verb with the module `name`."""
    return FLAGS[verb] if verb in FLAGS else importlib.import_module(name).arguments


def known_verbs() -> dict[str, tuple[str, str]]:
    """Description and module of every verb: ours, then those of the targets."""
    own = {verb: (about, f"polyloom.cli.{verb}") for verb, about in VERBS.items()}
    brought = {verb: found for entry in entries().values() for verb, found in entry.verbs.items()}
    return {**own, **{verb: found for verb, found in brought.items() if verb not in own}}


def _help_text() -> str:
    lines = [
        "Write a loop once, compile it once, run it at any size.",
        "",
        "usage: polyloom COMMAND ..., each with --help and --json",
        "",
    ]
    lines += [f"  {verb:12} {what}" for verb, (what, _) in known_verbs().items()]
    example = "  polyloom run examples/matmul.pla N=20 M=20 K=20 --on tcpa:unit:4x4"
    return "\n".join([*lines, "", "for example", example])


def _print_output(text: str) -> None:
    try:
        terminal.write(text, sys.stdout)
    except BrokenPipeError:
        raise
    except OSError as error:
        _drop_output()
        raise input_error(
            "PL0808", f"cannot write the standard output: {error.strerror}", help="send it where there is room"
        ) from None


def _drop_output() -> None:
    """Redirects stdout to nowhere, so that buffered output is not tried again when the process ends."""
    # Python flushes stdout when it ends, and would print a traceback for the closed pipe.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_diagnostics(diagnostics: tuple[Diagnostic, ...], paint: Callable[[str], str], is_quiet: bool = False) -> int:
    """Messages on stderr, warnings too unless it is to be quiet; the result is the first one's exit code, or 0."""
    if shown := [d for d in diagnostics if d.exit_code or not is_quiet]:
        terminal.write("\n\n".join(d.render() for d in shown), sys.stderr, paint)
    return diagnostics[0].exit_code if diagnostics else 0


def _print_failure(diagnostics: tuple[Diagnostic, ...], as_json: bool, paint: Callable[[str], str]) -> int:
    if as_json:
        # `error` is a number of runs: how far outputs are from the source's.
        _print_output(json.dumps({"errors": [diagnostic_object(d) for d in diagnostics]}, indent=2))
    return _print_diagnostics(diagnostics, paint)


def diagnostic_object(diagnostic: Diagnostic) -> dict[str, object]:
    """A diagnostic for machines."""
    span = diagnostic.span
    place = {"file": span.source.name, "line": span.line, "column": span.column} if span else {}
    return {
        "code": diagnostic.code,
        "message": diagnostic.message,
        "exit_code": diagnostic.exit_code,
        **place,
        "notes": list(diagnostic.notes),
        "help": diagnostic.help,
    }
