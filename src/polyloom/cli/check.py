# SPDX-License-Identifier: Apache-2.0
"""`polyloom check`: what is wrong with a file, at its place, without running it; `--watch` says so again after every
change (docs/editors.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final

from polyloom.cli import arguments as shared
from polyloom.cli import sources, target_flags
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Request
from polyloom.cli.entry import diagnostic_object
from polyloom.cli.loop_json import read_loop
from polyloom.diagnostics import PolyloomError
from polyloom.editor import check as checks
from polyloom.editor.check import Stage
from polyloom.editor.watch import watch
from polyloom.targets import registry

_LOOP: Final = ".json"


def execute(options: Request) -> Answer:
    request = _check_request(options)
    if options.watch:
        lines = (_json_line(request, s) if options.json else _watch_text(request, s) for s in watch(request))
        # Every line is told as soon as it is known; there is no whole to print before.
        return Answer(None, streamed=lines)
    stages = [_check_loop(request)] if request.path.endswith(_LOOP) else list(checks.check(request))
    # The first one decides the exit code: a warning of the language must not hide an error of the machine.
    diagnostics = tuple(sorted((d for stage in stages for d in stage.diagnostics), key=lambda d: d.exit_code == 0))
    text = "\n".join(line for stage in stages for line in _summary_lines(request, stage))
    return Answer(_check_data(request, stages), text, diagnostics)


def _check_request(options: Request) -> checks.Request:
    words = shared.named_values(options.words, "parameter", "N=64")
    own = {}
    # A wrong place or option is refused before anything is read.
    if options.on is not None:
        target, _ = registry.split_place(options.on)
        own = target_flags.given_options(options, target, "compile")
    return checks.Request(options.file, sources.reading_options(options), options.on, own, words)


def _check_loop(request: checks.Request) -> Stage:
    """Stage of a loop for `polyloom schedule`, whose reader belongs to the command line."""
    try:
        read_loop(request.path)
    except PolyloomError as error:
        return Stage("language", (), error.diagnostics)
    return Stage("language")


def _summary_lines(request: checks.Request, stage: Stage) -> Iterator[str]:
    """Line of a stage, and one for each interval."""
    place = f" on {request.on}" if stage.name == "machine" else ""
    names = f" in {', '.join(stage.functions)}" if stage.functions else ""
    errors = sum(bool(d.exit_code) for d in stage.diagnostics)
    warnings = len(stage.diagnostics) - errors
    counted = [
        _plural(errors, "error") if errors else "no errors",
        *([_plural(warnings, "warning")] if warnings else []),
    ]
    yield f"{request.path}{place}: {', '.join(counted)}{names}"
    yield from (f"{request.path}:{hint.line}: {hint.text}" for hint in stage.hints)


def _plural(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _watch_text(request: checks.Request, stage: Stage) -> str:
    """Messages of a stage, then its summary, on one stream, so that their order is that of changes."""
    return "\n\n".join((*(d.render() for d in stage.diagnostics), "\n".join(_summary_lines(request, stage))))


def _json_line(request: checks.Request, stage: Stage) -> str:
    """Stage as a line of JSON (JSON Lines)."""
    return json.dumps({"file": request.path, **_stage_data(request, stage)}, ensure_ascii=False)


def _check_data(request: checks.Request, stages: Sequence[Stage]) -> dict[str, object]:
    return {"file": request.path, "stages": [_stage_data(request, stage) for stage in stages]}


def _stage_data(request: checks.Request, stage: Stage) -> dict[str, object]:
    return {
        "stage": stage.name,
        "on": request.on if stage.name == "machine" else None,
        "functions": list(stage.functions),
        "diagnostics": [diagnostic_object(each) for each in stage.diagnostics],
        "intervals": [{"line": each.line, "text": each.text, "detail": each.detail} for each in stage.hints],
        "seconds": stage.seconds,
    }
