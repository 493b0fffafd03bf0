# SPDX-License-Identifier: Apache-2.0
"""Result of a comparison, as users hold it (docs/compare.md): its rows, the data of `--json`, and what went wrong.

Figures of different machines stand side by side and are never divided by each other: one machine's cycle is not
another's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Final, cast

from polyloom.comparison.figures import classes
from polyloom.comparison.reference import Task
from polyloom.comparison.rows import Row
from polyloom.diagnostics import INTERNAL, Diagnostic, PolyloomError, infeasible
from polyloom.ir.work import total_operations
from polyloom.report import notebook
from polyloom.report.comparison import columns, page, text
from polyloom.run.compare import describe_array
from polyloom.run.verdict import verdict_keys
from polyloom.targets.account import CATEGORIES, Account
from polyloom.targets.account_advice import binding_loss
from polyloom.targets.target import Json


@dataclass(frozen=True, slots=True)
class Comparison:
    """`task` is what all rows computed."""

    task: Task
    rows: tuple[Row, ...]

    @property
    def data(self) -> dict[str, Json]:
        """What `polyloom compare --json` prints."""
        task = self.task
        outputs = None if task.outputs is None else {n: describe_array(a) for n, a in task.outputs.items()}
        return {
            "kernel": task.name,
            "source": task.path,
            "parameters": dict(task.values),
            "inputs": {name: describe_array(array) for name, array in task.inputs.items()},
            "outputs": cast(Json, outputs),
            "work": self.work,
            "work_by_operation": cast(Json, classes(task.work)),
            "compulsory_bytes": task.compulsory,
            "rows": [_row(row) for row in self.rows],
        }

    @property
    def work(self) -> int | None:
        """Arithmetic operations of the source; None where it is no loop nest."""
        return None if self.task.work is None else total_operations(self.task.work)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What gives the exit code: faults of the compiler first, then rows that differ, then that all are refused."""
        # The first diagnostic gives the exit code: a fault of the compiler must not hide behind a difference.
        found = [*self._faults(), *self._differences()]
        if not found and self.rows and all(row.refused is not None for row in self.rows):
            found = [*self._refusal_error().diagnostics]
        return tuple(found)

    def _faults(self) -> Iterator[Diagnostic]:
        for row in self.rows:
            if row.refused is not None and row.refused.exit_code == INTERNAL:
                yield row.refused

    def _differences(self) -> Iterator[Diagnostic]:
        for row in self.rows:
            for each in row.judged.differences if row.judged is not None else ():
                yield replace(each, notes=(*each.notes, f"on {row.on}"))

    def _refusal_error(self) -> PolyloomError:
        codes = tuple(f"{row.on}: {row.refused.code} {row.refused.message}" for row in self.rows if row.refused)
        message = f"no place of --on takes `{self.task.name}`"
        help = "`polyloom run` on one of them shows the whole message; docs/kernels.md lists what runs where"
        return infeasible("PL0821", message, notes=codes, help=help)

    def report(self) -> str:
        """The text that `polyloom compare` prints."""
        return text.page(self.data)

    def page(self) -> str:
        """The HTML page that `polyloom compare --report` writes."""
        return page.document(self.data, self.task.text)

    def show(self) -> notebook.Embedded:
        """The page as notebooks embed it: the last expression of a cell shows it."""
        return notebook.Embedded(self.page(), columns.headline(self.data))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        data = self.data
        html = notebook.table(columns.headline(data), columns.make_table(data), columns.notes(data))
        return notebook.bundle(repr(self), html, include, exclude)

    def __repr__(self) -> str:
        good = sum(row.verified is True for row in self.rows)
        return f"<comparison of {self.task.name} on {len(self.rows)} places: {good} verified>"


_UNKNOWN: Final[Mapping[str, Json]] = {"verdict": None, "compared_with": None, "comparisons": None}


def _refusal_data(refused: Diagnostic) -> dict[str, Json]:
    return {"code": refused.code, "message": refused.message, "help": refused.help}


def _account_data(account: Account) -> dict[str, Json]:
    """Unit-cycles of a row by class, with those that have none, so that rows have the same keys."""
    classes = {name: account.categories.get(name, 0) for name in CATEGORIES}
    return {"unit_cycles": account.unit_cycles, "counts": account.counts, "classes": dict[str, Json](classes)}


def _row(row: Row) -> dict[str, Json]:
    costs, judged = row.costs, row.judged
    stated = {f"stated_{name}": value for name, value in asdict(costs.stated).items()}
    figures = cast("dict[str, Json]", asdict(row.figures))
    return {
        "on": row.on,
        "verified": row.verified,
        **(_UNKNOWN if judged is None else verdict_keys(judged.comparisons)),
        "why": None if judged is None else judged.why,
        "refused": None if row.refused is None else _refusal_data(row.refused),
        "cycles": row.cycles,
        "time": costs.time,
        "energy_shares": None if costs.energy_shares is None else dict[str, Json](costs.energy_shares),
        "area": costs.area,
        "area_unit": costs.area_unit,
        "whole_time": None if costs.whole_time is None else dict[str, Json](costs.whole_time),
        "issued": costs.issued,
        "issues": costs.issues if costs.issued is not None else None,
        **figures,
        "moved_bytes": costs.moved,
        # What a boundary is has no meaning in a row whose bytes are not counted.
        "boundary": None if costs.moved is None else costs.boundary,
        "boundary_bytes_per_cycle": None if costs.moved is None else costs.bandwidth,
        "code_bytes": costs.code_bytes,
        "bound_by": None if row.account is None else binding_loss(row.account),
        "account": None if row.account is None else _account_data(row.account),
        **stated,
        "loop": [{"text": line.text, "line": line.line or None, "reason": line.reason} for line in costs.loop],
        "outputs": cast(Json, row.outputs),
    }
