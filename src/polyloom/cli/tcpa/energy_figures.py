# SPDX-License-Identifier: Apache-2.0
"""Access counts as closed forms in the sizes, and beside them what the model counts (docs/targets/tcpa.md, Energy).

Of `sizes` that were run, `equal` are those at which every count of the model is that of the closed form; `checked` are
more sizes, at which the form is what one element per class counts. Forms hold for the residue class of the first sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from polyloom import api
from polyloom.cli.bench import polybench
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.source import Options
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.run.phases import plan_execution
from polyloom.targets.tcpa.run.phases.count_polynomials import best_candidate, closed_form

Row = dict[str, object]
MEMBER: Final = "wide"
PES: Final = (2, 2)
RUNS: Final = 3
_SHOWN: Final = ("fetch", "fifo_read", "bank_read", "hop")


def rows(only: Sequence[str] = ()) -> Iterator[Row]:
    """One row per kernel of `bench polybench`, or per kernel that is named."""
    for kernel in only or polybench.SIZES:
        try:
            yield _row(kernel)
        except PolyloomError as error:
            yield {"kernel": kernel, "sizes": RUNS, "equal": f"{error.code}: {error.diagnostics[0].message}"}


def _row(kernel: str) -> Row:
    machine = machine_file.load(MEMBER)
    source = api.load_source(polybench.path(kernel), Options(reassociate=kernel in polybench.REASSOCIATED))
    compiled = api.compile(source, on=f"tcpa:{MEMBER}")
    # Which candidate is best depends on the sizes; polynomials are of one.
    candidate = best_candidate(compiled.data, polybench.SIZES[kernel], PES)
    form = closed_form(compiled.data, polybench.SIZES[kernel], PES, machine, candidate)
    equal = 0
    for n in range(RUNS):
        # Not along the diagonal, where a wrong monomial could pass for another one.
        grown = {name: n * (n + m) for m, name in enumerate(form.order or form.first)}
        sizes = {name: size + form.period * grown[name] for name, size in form.first.items()}
        ran = compiled.instantiate(sizes, pes=PES, candidate=candidate).run()
        detail = ran.execution.detail
        assert isinstance(detail, plan_execution.Execution)
        equal += {k: v for k, v in form.evaluate(sizes).items() if v} == {k: v for k, v in detail.counts.items() if v}
    shown = {name: form.text(name) for name in _SHOWN}
    return {"kernel": kernel, "sizes": RUNS, "equal": equal, "checked": form.checked, "period": form.period, **shown}
