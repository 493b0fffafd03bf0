# SPDX-License-Identifier: Apache-2.0
"""The site's gallery, in `make docs`: every program of the comparison, run on every machine, with the page of each run.

    python -m tests.docs.gallery build/site/gallery JOBS

Runs are made in parallel, and kept: one whose program, size, place and compiler are the same as before is not made
again. docs/conf.py puts what is here on the page gallery.md, and beside the site's other pages.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass, replace
from functools import cache
from hashlib import sha256
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from tests.docs.drawn.svg import ACCENTS, drawing, text

import polyloom
from polyloom.cli import main as command
from polyloom.cli.bench.comparison import Listed, places, programs
from polyloom.targets.account import CATEGORIES

INDEX: Final = "index.html"
_PACKAGE: Final = Path(polyloom.__file__).parent
_SMALL: Final = {"transformer": ({"S": 0, "T": 8}, "layer16")}
"""Programs whose size in the comparison would take minutes."""
_WIDTH, _ROW, _NAMES = 560, 20, 130
_TEAL, _ORANGE, _BLUE, _ROSE = ACCENTS
_COLOURS: Final = (_TEAL, _ORANGE, _ROSE, _BLUE, "#8a6fb8", "#4f8fa8", "#a8803a", "#8894a0", "#8a9a20")
"""One for each class of cycles, work first: the hues that the pages of the runs have (page.css)."""


@dataclass(frozen=True, slots=True)
class Run:
    """One program on one machine: its page, or why there is none; `counts` has what passed, cycles or instructions, and
    `classes` the unit-cycles by class."""

    program: str
    on: str
    key: str
    page: str = ""
    count: int = 0
    counts: str = ""
    classes: tuple[tuple[str, int], ...] = ()
    code: str = ""
    message: str = ""


def gallery_programs() -> tuple[Listed, ...]:
    """Programs of the comparison, of sizes that take seconds."""
    return tuple(
        replace(each, values=_SMALL[each.name][0], function=_SMALL[each.name][1]) if each.name in _SMALL else each
        for each in programs()
    )


def make(folder: Path, listed: Sequence[Listed], on: Sequence[str], jobs: int) -> list[Run]:
    """Runs of all programs on all places, in their order, with their pages below `folder`."""
    work = [(folder, each, place, _key(each, place)) for each in listed for place in on]
    with ProcessPoolExecutor(jobs) as pool:
        made = list(pool.map(_kept_run, work))
    for name, runs in groupby(made, lambda run: run.program):
        (folder / name / "picture.svg").write_text(picture(list(runs)), encoding="utf-8")
    (folder / INDEX).write_text(index(made), encoding="utf-8")
    return made


def _kept_run(work: tuple[Path, Listed, str, str]) -> Run:
    """The run that is kept, or a new one."""
    folder, listed, on, key = work
    note = folder / listed.name / f"{on.partition(':')[0]}.json"
    if note.is_file():
        known: dict[str, Any] = json.loads(note.read_text(encoding="utf-8"))
        known["classes"] = tuple((str(name), int(count)) for name, count in known["classes"])
        if known["key"] == key:
            return Run(**known)
    note.parent.mkdir(parents=True, exist_ok=True)
    made = _new_run(folder, listed, on, key)
    note.write_text(json.dumps(asdict(made)), encoding="utf-8")
    return made


def _new_run(folder: Path, listed: Listed, on: str, key: str) -> Run:
    page = f"{listed.name}/{on.partition(':')[0]}.html"
    words = ["run", listed.path, *(f"{name}={value}" for name, value in listed.values.items()), "--on", on, "--json"]
    words += ["--quiet", "--report", str(folder / page), *(["--reassociate"] if listed.reassociate else [])]
    printed = io.StringIO()
    # The command line has it all: the page as users get it, and what it says in JSON.
    with redirect_stdout(printed), redirect_stderr(io.StringIO()):
        status = command(words)
    data: dict[str, Any] = json.loads(printed.getvalue())
    refused: Sequence[Mapping[str, str]] = data.get("errors") or ()
    if refused:
        return Run(listed.name, on, key, code=refused[0]["code"], message=refused[0]["message"])
    account: Mapping[str, Any] = data.get("account") or {}
    classes = tuple((name, account["classes"][name]) for name in CATEGORIES if account.get("classes", {}).get(name))
    count = data.get("cycles") or data.get("instructions") or 0
    counts = "cycles" if data.get("cycles") else "instructions"
    return Run(listed.name, on, key, page, count, counts, classes, code="" if status == 0 else f"exit code {status}")


def _key(listed: Listed, on: str) -> str:
    """What a page depends on: the files beside the program, sizes, place and compiler."""
    folder = Path(listed.path.partition(".py:")[0]).parent
    beside = [path.read_bytes() for path in sorted(folder.glob("*")) if path.is_file()]
    return sha256(repr((listed, on, _compiler_digest(), beside)).encode()).hexdigest()


@cache
def _compiler_digest() -> str:
    """Digest of the package as it is installed, native code included."""
    made = sha256()
    for path in sorted(_PACKAGE.rglob("*")):
        if path.is_file() and path.suffix in (".py", ".so", ".txt", ".toml", ".js", ".css"):
            made.update(path.read_bytes())
    return made.hexdigest()


def picture(runs: Sequence[Run]) -> str:
    """A bar for each machine: the shares of the classes of its unit-cycles, and the count behind it."""
    rows = "".join(_bar(run, n * _ROW + 4) for n, run in enumerate(runs))
    label = "; ".join(f"{run.on} {run.count:,} {run.counts}" if run.count else f"{run.on} {run.code}" for run in runs)
    return drawing(_WIDTH, len(runs) * _ROW + 8, rows, f"{runs[0].program}: {label}")


def _bar(run: Run, y: int) -> str:
    name = text(0, y + 13, run.on)
    if not run.count:
        return name + text(_NAMES, y + 13, run.code)
    whole, at, parts = sum(n for _, n in run.classes) or 1, float(_NAMES), name
    for category, n in run.classes:
        width = 300 * n / whole
        colour = _COLOURS[[*CATEGORIES].index(category)]
        parts += f'<rect x="{at:.1f}" y="{y}" width="{width:.1f}" height="{_ROW - 5}" style="fill:{colour};rx:0"/>'
        at += width
    return parts + text(_NAMES + 308, y + 13, f"{run.count:,}")


def index(runs: Iterable[Run]) -> str:
    """What stands on gallery.md: a legend, and for each program its picture with links to the pages."""
    legend = " ".join(
        f'<span style="white-space:nowrap"><span style="color:{colour}">■</span> {name}</span>'
        for name, colour in zip(CATEGORIES, _COLOURS, strict=False)
    )
    parts = [_program(name, list(own)) for name, own in groupby(runs, lambda run: run.program)]
    return f"<p>{legend}</p>\n{''.join(parts)}"


def _program(name: str, runs: Sequence[Run]) -> str:
    links = " · ".join(_link(run) for run in runs)
    shown = f'<p><img src="gallery/{name}/picture.svg" alt="{escape(name)} on each machine"></p>'
    return f'<section id="{name}"><h2>{escape(name)}</h2>\n{shown}\n<p>{links}</p></section>\n'


def _link(run: Run) -> str:
    if run.page:
        return f'<a href="gallery/{run.page}">{escape(run.on)}</a>'
    return f'{escape(run.on)}: <span title="{escape(run.message)}">{escape(run.code)}</span>'


def main(words: Sequence[str]) -> int:
    folder, jobs = Path(words[0]), int(words[1])
    made = make(folder, gallery_programs(), places(), jobs)
    shown = sum(bool(run.page) for run in made)
    print(f"{shown} pages of {len(made)} runs in {folder}")
    # A refusal has its code; an internal error, or a result that differs, is what this must not hide.
    return int(any(run.code == "PL0870" or run.code.startswith("exit") for run in made))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
