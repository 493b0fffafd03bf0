# SPDX-License-Identifier: Apache-2.0
"""`polyloom litmus`: what the RISC-V memory model says of litmus tests; with `--against`, whether logs of another tool agree."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from polyloom.cli import files
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request, integer, usage_error
from polyloom.cli.entry import as_object
from polyloom.diagnostics import MISMATCH, Diagnostic, PolyloomError, input_error
from polyloom.targets.riscv.rvwmo import Verdict, check
from polyloom.targets.riscv.rvwmo.check import MAX_EXECUTIONS
from polyloom.targets.riscv.rvwmo.log import Entry, entries, entry


def arguments(parser: Parser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="+", help="a litmus test in the herd format; of a directory, all its files *.litmus")
    parser.add_argument("--max-executions", metavar="N", default=str(MAX_EXECUTIONS), help=f"give up after so many candidates ({MAX_EXECUTIONS})")
    parser.add_argument("--against", metavar="LOG", action="append", default=[], help="compare with a log of herd; tests that it lacks are left out")


def execute(options: Request) -> Answer:
    limit = integer(options.max_executions, "--max-executions")
    if limit < 1:
        raise usage_error("--max-executions is less than 1", "give a positive integer")
    paths = _tests(options.files)
    if options.against:
        return _compared(paths, options.against, limit)
    verdicts = [_verdict(path, limit) for path in paths]
    return Answer([_data(verdict) for verdict in verdicts], "\n\n".join(map(_text, verdicts)))


def _tests(operands: Sequence[str]) -> list[str]:
    """The files, in the order given, those of a directory by name."""
    found: list[str] = []
    for operand in operands:
        inside = sorted(map(str, Path(operand).rglob("*.litmus"))) if Path(operand).is_dir() else [operand]
        if not inside:
            raise input_error("PL0807", f"there is no litmus test in '{operand}'", help="the names of litmus tests end in .litmus")
        found += inside
    return found


def _verdict(path: str, limit: int) -> Verdict:
    return check(_read(path), path, limit)


def _read(path: str) -> str:
    try:
        return files.read(path).decode("utf-8")
    except UnicodeDecodeError:
        raise input_error("PL0807", f"'{path}' is not UTF-8 text", help="give a litmus test in the herd format") from None


def _data(verdict: Verdict) -> dict[str, object]:
    """`loops_cut` only where it matters."""
    return {
        "name": verdict.name,
        "states": list(verdict.states),
        "positive": verdict.positive,
        "negative": verdict.negative,
        "verdict": verdict.verdict,
        "condition_holds": verdict.condition_holds,
        **({"loops_cut": True} if verdict.cut else {}),
    }


def _text(verdict: Verdict) -> str:
    holds = "holds" if verdict.condition_holds else "does not hold"
    lines = [
        f"{verdict.name}: {verdict.verdict}, {verdict.quantifier} {holds}",
        f"executions: {verdict.positive} inside of the proposition, {verdict.negative} outside",
        f"states: {len(verdict.states)}",
        *(f"  {state}".rstrip() for state in verdict.states),
    ]
    return "\n".join([*lines, "loops are followed twice; longer executions are not counted"] if verdict.cut else lines)


def _compared(paths: Sequence[str], logs: Sequence[str], limit: int) -> Answer:
    """Tests that the logs know, by whether they agree, differ, or are refused."""
    known: dict[str, list[Entry]] = {}
    for log in logs:
        for name, found in entries(_read(log)).items():
            known.setdefault(name, []).extend(found)
    agree, differ, refused = 0, list[str](), list[dict[str, object]]()
    for path in paths:
        try:
            if (name := _name(path)) not in known:
                continue
            same = entry(_verdict(path, limit)) in known[name]
        except PolyloomError as error:
            refused.append({"path": path, **as_object(error.diagnostics[0])})
            continue
        agree += same
        differ += [] if same else [path]
    data = {"agree": agree, "differ": differ, "refused": refused}
    lines = [f"{agree} agree, {len(differ)} differ, {len(refused)} refused", *(f"differs: {path}" for path in differ)]
    lines += [f"refused: {each['path']}: {each['message']}" for each in refused]
    what = f"{len(differ)} litmus tests have another verdict than in the log"
    found = (Diagnostic("PL0946", what, MISMATCH, help="run `polyloom litmus` on one of them and compare the states"),) if differ else ()
    return Answer(data, "\n".join(lines), found)


def _name(path: str) -> str:
    return _read(path).partition("\n")[0].removeprefix("RISCV").strip()
