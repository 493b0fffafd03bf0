# SPDX-License-Identifier: Apache-2.0
"""`polyloom litmus`: what the RISC-V memory model says of litmus tests, or of a C function; with `--against`, whether logs of another tool agree.

Of a C function tests are made that show whether its accesses are ordered; the pass of `targets.riscv.ordering` may keep the order of branches.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from polyloom import files
from polyloom.cli import sources
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request, parameters, positive, usage_error
from polyloom.cli.entry import as_object
from polyloom.diagnostics import MISMATCH, Diagnostic, PolyloomError, input_error
from polyloom.frontend import file_of, ssa
from polyloom.targets.riscv import names
from polyloom.targets.riscv.ordering import ordered
from polyloom.targets.riscv.rvwmo import Verdict, check, judge
from polyloom.targets.riscv.rvwmo.check import MAX_EXECUTIONS
from polyloom.targets.riscv.rvwmo.litmus import Litmus, emit
from polyloom.targets.riscv.rvwmo.log import Entry, entries, entry
from polyloom.targets.riscv.rvwmo.pattern import patterns


def arguments(parser: Parser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="+", help="litmus tests in the herd format, or directories of them; or one C file and NAME=VALUE...")
    parser.add_argument("--max-executions", metavar="N", default=str(MAX_EXECUTIONS), help=f"give up after so many candidates ({MAX_EXECUTIONS})")
    parser.add_argument("--against", metavar="LOG", action="append", default=[], help="compare with a log of herd; tests that it lacks are left out")
    sources.function_options(parser)
    sources.level_option(parser, "C: clang's code at -O0 with its branches, or at -O1 with selects (1)")
    parser.add_argument("--isa", default="rv64gc_zicond", help="C: what selects are made of (rv64gc_zicond)")
    parser.add_argument("--ordering", choices=("branch", "fence"), help="C: order stores after selects of racy values as branches would, by these or by fences")
    parser.add_argument("--emit", action="store_true", help="C: print the tests instead of judging them")


def execute(options: Request) -> Answer:
    limit = positive(options.max_executions, "--max-executions")
    if file_of(options.files[0]).endswith(".c"):
        tests = _of_function(options)
        if options.emit:
            return Answer([{"name": test.name, "test": emit(test)} for test in tests], "\n".join(map(emit, tests)).rstrip("\n"))
        return _answer([judge(test, limit) for test in tests])
    paths = _tests(options.files)
    if options.against:
        return _compared(paths, options.against, limit)
    return _answer([_verdict(path, limit) for path in paths])


def _of_function(options: Request) -> tuple[Litmus, ...]:
    """The tests of a C function."""
    if options.against:
        raise usage_error("--against is for litmus tests, not for a C file", "write the tests to files with --emit")
    file, *words = options.files
    isa = names.parse(options.isa)
    if isa.xlen != 64:
        raise usage_error(f"the memory model is that of RV64, not of {isa}", "write for instance --isa rv64gc_zicond")
    if isa.short_branches:
        raise usage_error(f"tests have no pairs of a branch and its shadow, which {isa} asks for", "leave out +sfb, and write --ordering branch")
    function = ssa(file, sources.options_of(options), sources.level_of(options))
    return patterns(ordered(function, options.ordering) if options.ordering else function, isa, parameters(words))


def _answer(verdicts: Sequence[Verdict]) -> Answer:
    return Answer([_data(verdict) for verdict in verdicts], "\n\n".join(map(_text, verdicts)))


def _tests(operands: Sequence[str]) -> list[str]:
    """The files, in the order given, those of a directory by name."""
    found: list[str] = []
    for operand in operands:
        inside = sorted(map(str, Path(operand).rglob("*.litmus"))) if operand and Path(operand).is_dir() else [operand]
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
        if not (inside := entries(_read(log))):
            raise input_error("PL0807", f"there is no verdict on a test in '{log}'", help="give what herd or a tool like it printed of litmus tests")
        for name, found in inside.items():
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
