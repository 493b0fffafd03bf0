# SPDX-License-Identifier: Apache-2.0
"""`make compare`: every program on every machine, a row as it is known, then counts by machine and reasons of refusals.

A program or a machine that fails stops none of the others. With `--write`, the table goes into README.md, between its
marker and the next line that is no row.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from polyloom.cli.bench.comparison import Listed, compare_places, outcome, places, programs
from polyloom.cli.progress import progress_bar
from polyloom.comparison.rows import Row
from polyloom.diagnostics import PolyloomError
from polyloom.report.markdown import table
from polyloom.targets.subject import Progress

README = Path(__file__).parents[2] / "README.md"
MARK = "<!-- make compare -->\n"
Cells = Mapping[str, tuple[str, str]]
"""By place: the cell, and why it is no number."""


def cells(listed: Listed, progress: Progress | None = None) -> Cells:
    """Cells of a program. An internal error of one machine is the cell `failed`, and leaves those of others."""
    try:
        made = compare_places(listed, places(), progress)
        return {row.on: _cell(row) for row in made.rows}
    except PolyloomError as error:
        return dict.fromkeys(places(), (error.diagnostics[0].code, error.diagnostics[0].message))
    except Exception:  # an internal error is what the goal has to show, wherever it is
        return {on: _single(listed, on) for on in places()}


def _single(listed: Listed, on: str) -> tuple[str, str]:
    try:
        (row,) = compare_places(listed, [on]).rows
    except Exception as error:  # as above
        return "failed", f"{type(error).__name__}: {error}"
    return _cell(row)


def _cell(row: Row) -> tuple[str, str]:
    return outcome(row), "" if row.refused is None else row.refused.message


def is_verified(cell: str) -> bool:
    """Whether a cell is a count of cycles or instructions."""
    return cell.removeprefix("≈ ").replace(",", "").isdigit()


def head(on: str) -> str:
    """Heading of a machine's column: its place, with a link to its page."""
    return f"[{on}](docs/targets/{on.partition(':')[0]}.md)"


def readme_row(listed: Listed, found: Cells) -> dict[str, object]:
    linked = f"[{listed.name}](examples/{listed.file})"
    return {"program": linked, **{head(on): cell for on, (cell, _) in found.items()}}


def summary(found: Mapping[str, Cells]) -> Iterator[str]:
    """Counts by machine, then the reasons of all cells that are not verified."""
    for on in places():
        verified = sum(is_verified(each[on][0]) for each in found.values())
        yield f"{on}: {verified} of {len(found)} verified"
    for name, each in found.items():
        for on, (cell, why) in each.items():
            if not is_verified(cell):
                yield f"{name} on {on}: {cell} {why}".rstrip()


def written(page: str, lines: str) -> str:
    """Page with the table behind its marker replaced."""
    before, mark, behind = page.partition(MARK)
    assert mark, "README.md has lost the marker of the table"
    rest = behind.splitlines(keepends=True)
    end = next((n for n, line in enumerate(rest) if not line.startswith("|")), len(rest))
    return before + mark + lines + "\n" + "".join(rest[end:])


def main(arguments: Sequence[str], chosen: Callable[[], Sequence[Listed]] = programs) -> int:
    found, listed = dict[str, Cells](), chosen()
    for number, each in enumerate(listed):
        # The bar is taken away before the row is printed: both go to the terminal.
        with progress_bar() as told:
            found[each.name] = cells(each, _part(told, each.name, number, len(listed)))
        print(each.name, *(f"{on} {cell}" for on, (cell, _) in found[each.name].items()), sep="\t", flush=True)
    print(*summary(found), sep="\n")
    if "--write" in arguments:
        lines = table([readme_row(each, found[each.name]) for each in listed])
        README.write_text(written(README.read_text(encoding="utf-8"), lines), encoding="utf-8")
    wrong = {cell for each in found.values() for cell, _ in each.values()} & {"differs", "failed"}
    return 4 if wrong else 0


def _part(told: Progress | None, name: str, number: int, count: int) -> Progress | None:
    """Progress of one program, as a part of all."""
    if told is None:
        return None
    return lambda step, fraction: told(f"{name} on {step}", (number + fraction) / count)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
