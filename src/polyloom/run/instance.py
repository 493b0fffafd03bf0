# SPDX-License-Identifier: Apache-2.0
"""Instances and results: a program that is ready to run, and what a run of it gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from os import PathLike, fspath
from typing import Any, Final, TypeVar, cast

import numpy as np
import numpy.typing as npt

from polyloom import files
from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, input_error, nearest
from polyloom.frontend.source import Arrays
from polyloom.ir.signature import Signature
from polyloom.report import account_text, notebook, run_page, run_text
from polyloom.report import verdict as words
from polyloom.run import inputs as made
from polyloom.run import source_loops
from polyloom.run.compare import describe_array
from polyloom.run.execute import Outcome, execute
from polyloom.run.inputs import Fill
from polyloom.run.overlaps import check_overlaps
from polyloom.run.structures import with_fields
from polyloom.run.verdict import Verdict, decisive, verdict_keys
from polyloom.stepping.open import Prints, run_prints
from polyloom.stepping.prints import print_line
from polyloom.targets import registry
from polyloom.targets.account import Account
from polyloom.targets.account_advice import binding_loss
from polyloom.targets.activity import Activity
from polyloom.targets.costs import Costs
from polyloom.targets.options import verb_options
from polyloom.targets.provenance import Provenance, match_texts, with_statement
from polyloom.targets.report import Report
from polyloom.targets.subject import Progress, Subject
from polyloom.targets.target import Execution, Job, Json, Place, Program, Target
from polyloom.targets.trace import Span, Trace, add_statements, trace_activity

T = TypeVar("T")
_PRINTED: Final = 1_000
"""Prints that texts and data show."""
_DRAWN: Final = 2_000_000
"""Operations of a run that is repeated with a trace only to be drawn."""


@dataclass(frozen=True)
class File:
    """File of a target, of any kind, by its bytes."""

    target: Target
    data: bytes

    @property
    def kernel(self) -> str:
        return self.signature.name

    @property
    def signature(self) -> Signature:
        """Signature: what the program takes and gives."""
        return self.target.signature(self.data)

    @property
    def listing(self) -> str:
        """Listing, as `polyloom show` prints it."""
        return self.target.show(self.data, self.target.options())

    @property
    def _json(self) -> Json:
        return self.listing if self.target.as_json is None else self.target.as_json(self.data)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file, whole or not at all. Errors: PL0808."""
        files.write({fspath(path): self.data})

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return notebook.bundle(repr(self), notebook.listing(self.listing), include, exclude)


@dataclass(frozen=True)
class Origin:
    """Provenance of a program: its source, the symbolic file that it was instantiated from, `--on`, and the seconds
    that compiling took. `texts` are sources that the user named for a program that was loaded: paths and contents.
    `warnings` say what was chosen for the user."""

    subject: Subject | None = None
    symbolic: bytes | None = None
    on: str | None = None
    seconds: float | None = None
    texts: tuple[tuple[str, str], ...] = ()
    warnings: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True)
class Instance(File):
    """Program that runs. `parameters` are the values that it was made for, or gets as arguments; None where it runs for
    any. `origin` is empty of what was loaded from a file."""

    parameters: Mapping[str, int] | None = None
    place: Place | None = None
    options: Any = None
    origin: Origin = field(default_factory=Origin)
    seconds: float | None = None

    @property
    def signature(self) -> Signature:
        return self.origin.subject.signature if self.origin.subject is not None else self.target.signature(self.data)

    @property
    def concrete(self) -> Json:
        """Program as plain values, as `polyloom show --json` prints it."""
        return self._json

    def run(
        self,
        arrays: Mapping[str, Any] | None = None,
        /,
        *,
        seed: int = 0,
        trace: bool = False,
        fill: Fill | None = None,
        **more: Any,
    ) -> Result:
        """Run on the model; a scalar may be a plain number. Without any array, all are made up from `seed`. Who gives
        some gives all that are read: `fill="random"` makes up the rest. An array that is only written may be given too,
        and is then filled in place; arrays that are read do not change. `more` are arrays, scalars and options of the
        target by name. A difference from an oracle raises PL0812 (exit 4); wrong inputs raise PL0230 to PL0232, or,
        like faults, PL06xx."""
        given, own = self._split_options(arrays, more)
        # Before the run: an array that cannot be written to is refused at once.
        filled = self._output_arrays(given)
        result = self.measure(given, seed=seed, trace=trace, fill=fill, **own)
        if result.differences:
            raise PolyloomError(*result.differences)
        for name, array in filled.items():
            # Only now: what a run that failed or differs would have filled stays as it was.
            np.copyto(array, result.outputs[name])
        return result

    def measure(
        self,
        given: Mapping[str, Any],
        *,
        seed: int = 0,
        trace: bool = False,
        account: bool = False,
        fill: Fill | None = None,
        wanted: tuple[str, ...] = (),
        progress: Progress | None = None,
        **own: Any,
    ) -> Result:
        """Run and compare like `run`, but differences are in the result, and no given array changes. `given` are
        arrays, and numbers or texts of scalars; `wanted` are further outputs of an open program; `own` are options of
        the target."""
        return self.finish_job(
            self.job(given, seed=seed, trace=trace, account=account, fill=fill, wanted=wanted, progress=progress, **own)
        )

    def job(
        self,
        given: Mapping[str, Any],
        *,
        seed: int = 0,
        trace: bool = False,
        account: bool = False,
        fill: Fill | None = None,
        wanted: tuple[str, ...] = (),
        progress: Progress | None = None,
        **own: Any,
    ) -> Job:
        """Job that `measure` gives to the target. Errors: PL0234."""
        subject = self.origin.subject
        check_overlaps(self.signature, given, None if subject is None else subject.in_place)
        values, inputs = self._inputs(given, seed, fill)
        options = replace(self.options or self.target.options(), **own)
        return Job(inputs, self.place, options, values, wanted, trace, account, progress)

    def finish_job(self, job: Job, execution: Execution | None = None) -> Result:
        """Result of a job, compared with the oracles; an `execution` is what the target made of it already."""
        # One path for both: a target whose `run` returns what was executed already.
        target = self.target if execution is None else replace(self.target, run=partial(_return_execution, execution))
        outcome = execute(target, self.data, job, self.origin.subject, job.values)
        return Result(self, outcome, job.values, replace(job, trace=True, progress=None))

    def _inputs(
        self, given: Mapping[str, Any], seed: int, fill: Fill | None
    ) -> tuple[Mapping[str, int], dict[str, Any]]:
        """Values of the parameters, and every input; for a loaded file nothing is made up without `fill`."""
        signature, subject = self.signature, self.origin.subject
        numbers = {n: v for n, v in given.items() if _is_number(signature, n, v)}
        rest = {n: v for n, v in given.items() if n not in numbers}
        # A program for certain sizes has their values: only scalars are left to give. One that takes them as arguments
        # gets those that the instance has.
        if self.parameters is None or any(signature.argument(n) for n in self.parameters):
            fixed, scalars = made.read_values(signature, {**(self.parameters or {}), **numbers})
        else:
            fixed, scalars = self.parameters, made.read_scalars(signature, numbers)
        hidden, ranges = (subject.hidden, subject.ranges) if subject is not None else (None, None)
        return fixed, made.complete_inputs(
            signature,
            fixed,
            {**scalars, **rest},
            seed=seed,
            is_known=subject is not None,
            fill=fill,
            hidden=hidden,
            ranges=ranges,
            data={} if subject is None else subject.data,
        )

    def _split_options(self, arrays: object, more: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Inputs, and options of the target; an argument of an option's name is given in the mapping."""
        own = {n: v for n, v in more.items() if n in verb_options(self.target.options, "simulate")}
        rest = {n: v for n, v in more.items() if n not in own}
        return with_fields(merge_named(arrays, rest, "PL0231", "x=numpy.ones(16)"), self.signature), own

    def _output_arrays(self, given: Mapping[str, object]) -> dict[str, npt.NDArray[Any]]:
        """Output arrays that are given, to be filled. Errors: PL0232."""
        found = {a.name: given[a.name] for a in made.pure_outputs(self.signature) if a.name in given}
        for name, array in found.items():
            if not isinstance(array, np.ndarray) or not array.flags.writeable:
                what = "read-only" if isinstance(array, np.ndarray) else "not a NumPy array"
                message = f"`{self.kernel}` fills the array `{name}`, and what is given for it is {what}"
                help = (
                    f'give an array that can be written to, or leave it out: the result has it as `outputs["{name}"]`'
                )
                raise input_error("PL0232", message, help=help)
        return cast("dict[str, npt.NDArray[Any]]", found)

    @property
    def program(self) -> Program:
        """Program as the target's functions get it."""
        return Program(self.data, self.origin.symbolic, self.place, self.options or self.target.options())

    def __repr__(self) -> str:
        values = ", ".join(f"{n}={v}" for n, v in (self.parameters or {}).items())
        return f"<{self.target.name} program of {self.kernel}({values}): {len(self.data)} bytes>"


@dataclass(frozen=True)
class Result:
    """Result of a run. `verified` and `verdict` are None when there was nothing to compare with."""

    instance: Instance
    outcome: Outcome
    values: Mapping[str, int] = field(repr=False)
    traced: Job = field(repr=False)
    """What was asked for, with a trace."""

    @property
    def execution(self) -> Execution:
        return self.outcome.execution

    @property
    def outputs(self) -> Arrays:
        return self.execution.outputs

    @property
    def cycles(self) -> int | None:
        """Cycles of the run; None where the target models no time."""
        return self.execution.cycles

    @property
    def seconds(self) -> float:
        return self.outcome.seconds

    @property
    def verified(self) -> bool | None:
        return self.outcome.verified

    @property
    def verdict(self) -> Verdict | None:
        """Verdict of the comparisons together."""
        found = decisive(self.outcome.comparisons)
        return None if found is None else found.verdict

    @property
    def error(self) -> float | None:
        """Greatest error of an element; None where outputs differ, or were not compared."""
        found = decisive(self.outcome.comparisons)
        return None if found is None or found.verdict == "differs" else found.error

    @property
    def bound(self) -> float | None:
        """Greatest error that is allowed; None where bits are equal by right."""
        found = decisive(self.outcome.comparisons)
        return None if found is None else found.bound

    @property
    def differences(self) -> tuple[Diagnostic, ...]:
        return self.outcome.differences

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """Warnings of what was chosen for the user, and of what the trace that was asked for lacks."""
        return (*self.instance.origin.warnings, *trace_warning(self.execution.trace))

    @cached_property
    def views(self) -> tuple[Report, ...]:
        """Views of the run, phase by phase, as data."""
        return tuple(_with_sources(view, self._texts) for view in self._made)

    @cached_property
    def trace(self) -> Trace:
        """Trace of the run. A run without one is repeated with it, unless it is long: then nothing but a notice."""
        if not _is_empty(self.execution.trace):
            return add_statements(self.execution.trace, self._texts)
        if self.execution.operations > _DRAWN:
            ran = f"{self.execution.operations} operations are more than the {_DRAWN} of a run that is repeated for it"
            return Trace(notice=f"not recorded: {ran}; run with a trace")
        # The model is deterministic: the second run is the first one, recorded.
        return add_statements(self.instance.target.run(self.instance.data, self.traced).trace, self._texts)

    @cached_property
    def account(self) -> Account | None:
        """Account of every unit-cycle, with loops of the source; None where the target has none."""
        return self._with_loops(self._counted[1])

    def _with_loops(self, account: Account | None) -> Account | None:
        return None if account is None else account.with_loops(source_loops.find_loops(self._texts, account.file))

    @cached_property
    def _first_account(self) -> Account | None:
        """Account of the execution as it is; None where its model did not count for it."""
        account = self.instance.target.account
        return None if account is None else account(self.instance.program, self.execution)

    @cached_property
    def _counted(self) -> tuple[Execution, Account | None]:
        """Execution that was counted, and its account. A run whose model did not count for it, or not over time, is
        repeated, unless it is long."""
        target, program = self.instance.target, self.instance.program
        if target.account is None:
            return self.execution, None
        found = self._first_account
        if found is not None and (found.timeline is not None or not found.cycles):
            return self.execution, found
        if self.execution.operations > _DRAWN:
            return self.execution, found
        # The model is deterministic: the second run is the first one, counted.
        again = target.run(self.instance.data, replace(self.traced, trace=False, account=True))
        return again, target.account(program, again)

    @cached_property
    def prints(self) -> Prints:
        """What the source prints (`print` of kernels, `printf` of C), by cycle, with iterations; values that the
        machine has not made are computed again, and marked. The run is stepped for it."""
        subject, target = self.instance.origin.subject, self.instance.target
        return Prints() if subject is None else run_prints(target.stepper, self.instance.data, self.traced, subject)

    @cached_property
    def _texts(self) -> dict[str, str]:
        """Texts of the files that were compiled; of a program that was loaded, those that the user named, and no other:
        a file may be a stranger's. Errors: PL0822."""
        origin = self.instance.origin
        if origin.subject is not None:
            return dict(origin.subject.texts)
        # The views without an account, whose loops are found in these texts.
        return match_texts(_provenances(self._reports(self.execution)), origin.texts)

    @property
    def _without_source(self) -> str:
        """Notice why the page does not show the source of a program that was loaded."""
        if self.instance.origin.subject is not None:
            return ""
        # Only names that the program itself tells; none of these files is opened.
        missing = sorted({p.file for p in _provenances(self._made) if p.line and p.file not in self._texts})
        if not missing:
            return "" if self._texts else "The source is not shown: the program does not tell where it comes from."
        return f"The source is not shown: name it with --source ({', '.join(missing)})."

    @cached_property
    def _made(self) -> tuple[Report, ...]:
        """Views of the target, without texts of sources, of the hottest loop where cycles are counted."""
        return self._reports(self.execution.locate(self._with_loops(self._first_account)))

    def _reports(self, execution: Execution) -> tuple[Report, ...]:
        report = self.instance.target.report
        return () if report is None else tuple(report(self.instance.program, execution))

    @property
    def events(self) -> Sequence[Span]:
        """Spans of the trace."""
        return self.trace.spans

    @cached_property
    def activity(self) -> Activity | None:
        """Activity: what was busy when; None where there is no trace."""
        return trace_activity(self.trace)

    @cached_property
    def data(self) -> dict[str, Json]:
        """JSON object that `polyloom run --json` prints."""
        instance, origin = self.instance, self.instance.origin
        target = instance.target
        own = target.facts(instance.program, self.execution)
        timed = {"instantiate_seconds": instance.seconds} if target.instantiate is not None else {}
        return {
            "verified": self.verified,
            "kernel": instance.kernel,
            "on": origin.on,
            "parameters": self._parameters,
            "cycles": self.cycles,
            "operations": self.execution.operations,
            "compile_seconds": origin.seconds,
            "run_seconds": self.seconds,
            "outputs": {name: describe_array(array) for name, array in self.outputs.items()},
            **verdict_keys(self.outcome.comparisons),
            **self.execution.facts,
            **self.outcome.facts,
            **own,
            **timed,
            **self._print_data,
            **self._account_data,
        }

    @property
    def _print_data(self) -> dict[str, Json]:
        """Prints as plain values, where the source has any."""
        found = self.prints
        told: dict[str, Json] = {"prints": [each.as_json() for each in found.rows[:_PRINTED]]} if found.rows else {}
        return {**told, **({"prints_notice": found.notice} if found.notice else {})}

    @property
    def _account_data(self) -> dict[str, Json]:
        """The account as plain values, where it was asked for."""
        found = self.account if self.traced.account else None
        return {} if found is None else {"bound_by": binding_loss(found), "account": account_text.as_json(found)}

    @property
    def _parameters(self) -> Json:
        signature = self.instance.signature
        if self.instance.parameters is not None:
            return {**self.instance.parameters}
        if self.instance.target.instantiate is not None:
            return None
        return {
            n: self.values[n] if n in self.values else _json_scalar(self.traced.inputs[n]) for n in signature.parameters
        }

    @property
    def _summary(self) -> list[tuple[str, str]]:
        """Summary rows, those that a reader wants first."""
        summary = self.instance.target.summary
        return [
            *([] if summary is None else summary(self.data)),
            *words.distances(self.data),
            *run_text.times(self.data),
        ]

    @property
    def _drawn(self) -> list[tuple[str, str]]:
        """Summary rows of pages, which say what the trace lacks, and why there is no activity of a long run."""
        if not _is_empty(self.execution.trace) or self.execution.operations <= _DRAWN:
            return [*self._summary, *_notice_row(self.trace)]
        why = f"not drawn, since {self.execution.operations:,} operations are too many to repeat: add --trace FILE"
        return [*self._summary, ("activity", why)]

    @property
    def _listing(self) -> str:
        """Part of the text where there is no schedule: the listing or, beside tables and where the account was asked
        for, the hottest loop."""
        if not self.views:
            return self.instance.listing
        return run_text.loop(self._costs.loop) if self.traced.account else ""

    def report(self) -> str:
        """Text that `polyloom run` prints, with the account where it was asked for."""
        found = self.account if self.traced.account else None
        told = "" if found is None else account_text.text(found, self._statements(found))
        return run_text.page(
            self.data, self._summary, self._scalars, self.views, self._listing, told, self._printed_lines
        )

    @property
    def _printed_lines(self) -> str:
        """Section of what the source prints."""
        found = self.prints
        lines = [f"  {print_line(each)}" for each in found.rows[:_PRINTED]]
        more = [f"  and {len(found.rows) - _PRINTED} more"] if len(found.rows) > _PRINTED else []
        notice = [f"  {found.notice}"] if found.notice else []
        return "\n".join(["Prints of the source", *lines, *more, *notice]) if lines or notice else ""

    def _statements(self, account: Account) -> dict[int, str]:
        """Lines of the source that an account is of."""
        texts = self._texts
        chosen = texts.get(account.file) or (next(iter(texts.values())) if len(texts) == 1 else "")
        return {n: " ".join(line.split()) for n, line in enumerate(chosen.split("\n"), 1)}

    @property
    def _scalars(self) -> dict[str, str]:
        """Outputs that are one number."""
        return {
            name: str(array[()])
            for name, array in self.outputs.items()
            if array.shape == () and self.instance.target.instantiate is None
        }

    def page(self, passes: Sequence[tuple[str, str]] = ()) -> str:
        """HTML page that `polyloom run --report` writes; `passes` are forms between passes: name and text."""
        costs = self._costs
        return run_page.page(
            run_page.Shown(
                self.data,
                self._drawn,
                self.views,
                self.activity,
                self.instance.listing,
                passes,
                costs.loop,
                self._source,
                self._without_source,
                self.trace.notice,
                self.account,
                costs.tables,
            )
        )

    @property
    def _costs(self) -> Costs:
        """Costs that are shown: the hottest loop where there is no schedule, and tables where there is no view."""
        costs = self.instance.target.costs
        if costs is None or any(view.operations for view in self.views):
            return Costs()
        return costs(self.instance.program, self._counted[0].locate(self.account))

    @property
    def _source(self) -> tuple[str, str] | None:
        """Source file that was compiled, where it is one, and its text."""
        subject = self.instance.origin.subject
        return subject.texts[0] if subject is not None and len(subject.texts) == 1 else None

    def show(self) -> notebook.Embedded:
        """HTML page as notebooks embed it: the last expression of a cell shows it."""
        return notebook.Embedded(self.page(), run_text.titled_kernel(self.data))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        run_page = notebook.result(self.data, self._drawn, self.views, self.activity)
        return notebook.bundle(repr(self), run_page, include, exclude)

    def __repr__(self) -> str:
        values = ", ".join(f"{n}={v}" for n, v in self.values.items())
        took = "" if self.cycles is None else f"{self.cycles} cycles, "
        said = words.verdict([each.data for each in self.outcome.comparisons])
        return f"<run of {self.instance.kernel}({values}): {took}{said}>"


def trace_warning(trace: Trace) -> tuple[Diagnostic, ...]:
    """Warning of a trace that has not all of a run."""
    help = "the outputs and figures are those of the whole run; a smaller size has a whole trace"
    return (Diagnostic("PL0823", trace.notice, 0, help=help),) if trace.notice else ()


def _notice_row(trace: Trace) -> list[tuple[str, str]]:
    """Row of what the trace lacks."""
    return [("trace", trace.notice)] if trace.notice else []


def _is_empty(trace: Trace) -> bool:
    return not (trace.spans or trace.instants or trace.arrows)


def _provenances(views: Sequence[Report]) -> list[Provenance]:
    return [o.provenance for view in views for o in view.operations if o.provenance is not None]


def _with_sources(view: Report, texts: Mapping[str, str]) -> Report:
    """View with the texts of the files that its operations come from, and their lines as statements."""
    # A target that shows texts of its own keeps them.
    if not texts or view.sources:
        return view
    files = {o.provenance.file for o in view.operations if o.provenance is not None}
    known = (
        o if o.provenance is None else replace(o, provenance=with_statement(o.provenance, texts))
        for o in view.operations
    )
    return replace(view, sources=tuple(p for p in texts.items() if p[0] in files), operations=tuple(known))


def _return_execution(execution: Execution, data: bytes, job: Job) -> Execution:
    """Stand-in for a target's `run`."""
    del data, job
    return execution


def _is_number(signature: Signature, name: str, value: object) -> bool:
    """Whether a value is a parameter or a scalar, or has what may be the wrong name of one."""
    argument = signature.argument(name) or next((a for a in signature.unread if a.name == name), None)
    if argument is None:
        return isinstance(value, int | float | str)
    return (argument.is_input or argument in signature.unread) and (argument.is_scalar or isinstance(value, str))


def _json_scalar(scalar: npt.NDArray[Any]) -> Json:
    """Scalar as JSON, which has no NaN and no infinity (RFC 8259, section 6)."""
    number: Any = scalar[()].item()
    return number if np.isfinite(number) else str(number)


def merge_named(given: object, more: Mapping[str, T], code: str, example: str) -> dict[str, T]:
    """Arguments by name: in a mapping, and by keyword."""
    if given is not None and not isinstance(given, Mapping):
        raise input_error(code, f"{given!r} has no name", help=f"give everything by name, as in {example}")
    return {**cast("Mapping[str, T]", given or {}), **more}


def options_of_verbs(target: Target, given: Mapping[str, Any], *verbs: str) -> dict[str, Any]:
    """Options of a target that one of these verbs takes by keyword. Errors: PL0801 for one that it does not have."""
    known = {name for verb in verbs for name in verb_options(target.options, verb)}
    for name in given:
        if name not in known:
            # Which other target has it: a user of several machines mixes up their options.
            others = [
                t.name for t in registry.load_targets() if any(name in verb_options(t.options, verb) for verb in verbs)
            ]
            who = (
                f"{' and '.join(others)} {'have' if len(others) > 1 else 'has'} it"
                if others
                else nearest(name, known, "option")
            )
            registry.check_place_keyword(given)
            message = f"the target {target.name} has no option `{name}`"
            raise PolyloomError(Diagnostic("PL0801", message, USAGE, help=who))
    return dict(given)
