# SPDX-License-Identifier: Apache-2.0
"""`polyloom litmus`: verdicts of the RISC-V memory model on litmus tests, or on a C function; with `--against`, whether
logs agree (docs/memory-model.md).

A file that is no litmus test does not keep the others from being judged. Of a C function tests are made that show
whether its accesses are ordered; the pass of `riscv.ordering` may keep the order of branches.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from polyloom import files
from polyloom.cli import arguments as shared
from polyloom.cli import sources
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request, parameter_values, positive_integer, usage_error
from polyloom.cli.entry import diagnostic_object
from polyloom.diagnostics import MISMATCH, Diagnostic, PolyloomError, Source, input_error
from polyloom.frontend import source_file, ssa
from polyloom.riscv import names
from polyloom.riscv.ordering import preserve_order
from polyloom.riscv.rvwmo import Verdict, judge
from polyloom.riscv.rvwmo.check import MAX_EXECUTIONS
from polyloom.riscv.rvwmo.hash import litmus_hash
from polyloom.riscv.rvwmo.litmus import Litmus, print_litmus
from polyloom.riscv.rvwmo.log import Entry, Log, agrees, forbidden_states, merge_entries, parse_log
from polyloom.riscv.rvwmo.pattern import litmus_tests
from polyloom.riscv.rvwmo.reader import read_litmus

_ISA: Final = "rv64gc_zicond"
_FOR_C: Final = {
    "isa": "--isa",
    "ordering": "--ordering",
    "emit": "--emit",
    "level": "--ssa",
    "function": "--function",
    "includes": "-I",
    "defines": "-D",
    "shapes": "--shape",
    "single_constants": "--single-constants",
    "reassociate": "--reassociate",
}
"""By name in a request: options that say how tests are made of a C function."""

_NOT_MODELLED: Final = frozenset({"PL0942", "PL0943", "PL0944", "PL0945"})
"""What a test of a collection may be refused for without a mistake in it."""


class Judging(Request):
    """The options of `litmus`."""

    files: list[str]
    max_executions: str
    against: list[str]
    isa: str
    ordering: Literal["branch", "fence"] | None
    emit: bool


def arguments(parser: Parser) -> None:
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="litmus tests in the herd format, or directories of them; or one C file and NAME=VALUE...",
    )
    parser.add_argument(
        "--max-executions",
        metavar="N",
        default=str(MAX_EXECUTIONS),
        help=f"give up after so many candidates ({MAX_EXECUTIONS})",
    )
    parser.add_argument(
        "--against",
        metavar="LOG",
        action="append",
        default=[],
        help="compare with a log of herd, or of hardware; tests that it lacks are left out",
    )
    shared.function_options(parser)
    shared.level_option(parser, "C: clang's code at -O0 with its branches, or at -O1 with selects (1)")
    parser.add_argument("--isa", default=_ISA, help="C: what selects are made of (rv64gc_zicond)")
    parser.add_argument(
        "--ordering",
        choices=("branch", "fence"),
        help="C: order stores after selects of racy values as branches would, by these or by fences",
    )
    parser.add_argument("--emit", action="store_true", help="C: print the tests instead of judging them")


def execute(options: Judging) -> Answer:
    limit = positive_integer(options.max_executions, "--max-executions")
    if source_file(options.files[0]).endswith(".c"):
        tests = _function_tests(options)
        if options.emit:
            return Answer(
                [{"name": test.name, "test": print_litmus(test)} for test in tests],
                "\n".join(map(print_litmus, tests)).rstrip("\n"),
            )
        return _verdicts_answer([judge(test, limit) for test in tests])
    _refuse_flags(options)
    paths = _test_files(options.files)
    if options.against:
        return _comparison_answer(paths, _merge_logs(options.against), limit)
    return _verdicts_answer(
        [_judge_file(path, limit) for path in paths] if len(paths) > 1 else [_file_verdict(paths[0], limit)]
    )


def _refuse_flags(options: Judging) -> None:
    """Refuses flags for a C file in a request for litmus tests. Errors: PL0801."""
    for name, option in _FOR_C.items():
        if getattr(options, name) not in (None, False, [], _ISA):
            raise usage_error(
                f"{option} means nothing for litmus tests",
                "leave it out; it is for a C file, of whose function tests are made",
            )
    for operand in options.files:
        if source_file(operand).endswith(".c"):
            raise usage_error(f"'{operand}' is a C file, which stands alone", f"write `polyloom litmus {operand}`")


def _function_tests(options: Judging) -> tuple[Litmus, ...]:
    """Litmus tests of a C function, ordered by `--ordering` where it is given. Errors: PL0801."""
    if options.against:
        raise usage_error("--against is for litmus tests, not for a C file", "write the tests to files with --emit")
    file, *words = options.files
    isa = names.parse_isa(options.isa)
    # The checker's registers have 64 bits (rvwmo/values.py).
    if isa.xlen != 64:
        raise usage_error(f"the memory model is that of RV64, not of {isa}", "write for instance --isa rv64gc_zicond")
    # Litmus tests have no notation for a fused pair.
    if isa.short_branches:
        raise usage_error(
            f"tests have no pairs of a branch and its shadow, which {isa} asks for",
            "leave out +sfb, and write --ordering branch",
        )
    function = ssa(file, sources.reading_options(options), sources.ssa_level(options))
    return litmus_tests(
        preserve_order(function, options.ordering) if options.ordering else function, isa, parameter_values(words)
    )


@dataclass(frozen=True, slots=True)
class _Refused:
    """File of a batch that has no verdict, with the reasons."""

    path: str
    reasons: tuple[Diagnostic, ...]

    def data(self) -> dict[str, object]:
        return {"path": self.path, **diagnostic_object(self.reasons[0])}

    def text(self) -> str:
        return f"refused: {self.path}: {self.reasons[0].message}"


def _verdicts_answer(results: Sequence[Verdict | _Refused]) -> Answer:
    """Answer with verdicts, and what is refused: in JSON in its place, in the text at the end. Exit code 1 precedes
    others.
    """
    refused = [each for each in results if isinstance(each, _Refused)]
    data = [each.data() if isinstance(each, _Refused) else _verdict_data(each) for each in results]
    texts = [_verdict_text(each) for each in results if not isinstance(each, _Refused)]
    lines = "\n".join(each.text() for each in refused)
    found = sorted((reason for each in refused for reason in each.reasons), key=lambda reason: reason.exit_code)
    return Answer(data, "\n\n".join([*texts, lines] if lines else texts), tuple(found))


def _test_files(operands: Sequence[str]) -> list[str]:
    """Files of the tests, in the order given, those of a directory by name. Errors: PL0807."""
    found: list[str] = []
    for operand in operands:
        inside = sorted(_tests_in_folder(operand)) if operand and os.path.isdir(operand) else [operand]
        if not inside:
            raise input_error(
                "PL0807", f"there is no litmus test in '{operand}'", help="the names of litmus tests end in .litmus"
            )
        found += inside
    return found


def _tests_in_folder(folder: str) -> Iterator[str]:
    """Tests in a folder. Errors: PL0807 for a link that leads out of it, to a file that nobody named."""
    for path, _, inside in os.walk(folder):
        for name in fnmatch.filter(inside, "*.litmus"):
            test = str(Path(path, name))
            # A collection from elsewhere must not make the tool read files outside of it.
            if os.path.islink(test) and not Path(test).resolve().is_relative_to(Path(folder).resolve()):
                raise input_error(
                    "PL0807", f"'{test}' is a link that leads out of '{folder}'", help="name the file itself"
                )
            yield test


def _judge_file(path: str, limit: int) -> Verdict | _Refused:
    try:
        return _file_verdict(path, limit)
    # One faulty file must not keep thousands of others from being judged.
    except PolyloomError as error:
        return _Refused(path, error.diagnostics)


def _file_verdict(path: str, limit: int) -> Verdict:
    return judge(_read_test(path), limit)


def _read_test(path: str) -> Litmus:
    return read_litmus(Source(path, _read_text(path)))


def _read_text(path: str) -> str:
    try:
        return files.read(path).decode("utf-8")
    except UnicodeDecodeError:
        raise input_error(
            "PL0807", f"'{path}' is not UTF-8 text", help="give a litmus test in the herd format"
        ) from None


def _verdict_data(verdict: Verdict) -> dict[str, object]:
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


def _verdict_text(verdict: Verdict) -> str:
    holds = "holds" if verdict.condition_holds else "does not hold"
    lines = [
        f"{verdict.name}: {verdict.verdict}, {verdict.quantifier} {holds}",
        f"executions: {verdict.positive} inside of the proposition, {verdict.negative} outside",
        f"states: {len(verdict.states)}",
        *(f"  {state}".rstrip() for state in verdict.states),
    ]
    return "\n".join([*lines, "loops are followed twice; longer executions are not counted"] if verdict.cut else lines)


# Against logs


@dataclass(frozen=True, slots=True)
class _Compared:
    """Comparison of a test with the logs: they agree, they differ, the log's test of this name has another hash, or
    there is none.

    `forbidden` are the states that a machine showed and the model forbids; there are none where another tool's verdict
    is another.
    """

    path: str
    outcome: Literal["agree", "differ", "other hash", "absent"]
    forbidden: tuple[str, ...] = ()


def _merge_logs(paths: Sequence[str]) -> Log:
    """All logs as one."""
    found: list[Entry] = []
    for path in paths:
        if not (inside := tuple(parse_log(_read_text(path)))):
            what = f"there is no verdict on a test in '{path}'"
            raise input_error("PL0807", what, help="give what herd, or litmus on a machine, printed of litmus tests")
        found += inside
    return merge_entries(found)


def _comparison_answer(paths: Sequence[str], log: Log, limit: int) -> Answer:
    """Answer of a comparison: tests that the logs know, by whether they agree, differ, or are refused; and how many the
    logs do not know.
    """
    results = [_compare_or_refuse(path, log, limit) for path in paths]
    refused = [each for each in results if isinstance(each, _Refused)]
    found = [each for each in results if not isinstance(each, _Refused)]
    differ = [each for each in found if each.outcome == "differ"]
    other = [each.path for each in found if each.outcome == "other hash"]
    counts = {outcome: sum(each.outcome == outcome for each in found) for outcome in ("agree", "absent")}
    data = {
        "agree": counts["agree"],
        "differ": [each.path for each in differ],
        "forbidden": [{"path": each.path, "states": list(each.forbidden)} for each in differ if each.forbidden],
        "refused": [each.data() for each in refused],
        "other_hash": other,
        "absent": counts["absent"],
    }
    lines = [f"{counts['agree']} agree, {len(differ)} differ, {len(refused)} refused"]
    for each in differ:
        lines += [f"differs: {each.path}", *(f"  seen, but forbidden: {state}" for state in each.forbidden)]
    lines += [each.text() for each in refused]
    lines += [f"left out, for the log's test of this name has another Hash: {path}" for path in other]
    lines += [f"{counts['absent']} not in the log"] if counts["absent"] else []
    return Answer(data, "\n".join(lines), (*_difference_diagnostics(differ), *_file_faults(refused)))


def _compare_or_refuse(path: str, log: Log, limit: int) -> _Compared | _Refused:
    try:
        return _compare_file(path, log, limit)
    except PolyloomError as error:
        return _Refused(path, error.diagnostics)


def _compare_file(path: str, log: Log, limit: int) -> _Compared:
    """Comparison of one file with the logs. A text that cannot be read as a test is left out where its name is of no
    test of the logs.
    """
    text = _read_text(path)
    try:
        test = read_litmus(Source(path, text))
    except PolyloomError:
        if text.partition("\n")[0].removeprefix("RISCV").strip() in log.names:
            raise
        return _Compared(path, "absent")
    groups = log.about(test.name, litmus_hash(test))
    if not groups:
        return _Compared(path, "other hash" if test.name in log.names else "absent")
    verdict = judge(test, limit)
    # In each group one entry has to agree: groups hold different tests of one name.
    wrong = [group for group in groups if not any(agrees(verdict, entry) for entry in group)]
    return _Compared(path, "differ", forbidden_states(verdict, wrong)) if wrong else _Compared(path, "agree")


def _difference_diagnostics(differ: Sequence[_Compared]) -> tuple[Diagnostic, ...]:
    if not differ:
        return ()
    tests = "1 litmus test has" if len(differ) == 1 else f"{len(differ)} litmus tests have"
    seen = sum(bool(each.forbidden) for each in differ)
    notes = (f"in {seen} of these a machine showed a state that the model forbids",) if seen else ()
    help = "run `polyloom litmus` on one of them and compare the states"
    return (Diagnostic("PL0946", f"{tests} another verdict than in the log", MISMATCH, notes=notes, help=help),)


def _file_faults(refused: Sequence[_Refused]) -> list[Diagnostic]:
    """Diagnostics of faulty files. That a test has no part in the model is no fault."""
    return [reason for each in refused for reason in each.reasons if reason.code not in _NOT_MODELLED]
