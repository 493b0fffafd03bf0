# SPDX-License-Identifier: Apache-2.0
"""Python interface, which the command line uses too: compile once, instantiate for any size, run and compare
(docs/api.md).

`compile` -> `Compiled` -> `.instantiate(N=..., pes=(8, 8))` -> `Instance` -> `.run(**arrays)` -> `Result`; where
nothing is to be chosen in between, `compile(...).run(N=..., **arrays)`. What runs is always the bytes of a file, read
back; what comes out is compared with the oracles of the source, bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike, fspath
from os.path import isfile
from time import perf_counter
from typing import Any, Final

from polyloom import files, frontend
from polyloom.diagnostics import INFEASIBLE, INPUT, INTERNAL, Diagnostic, PolyloomError, input_error
from polyloom.frontend.array_source import ArraySource
from polyloom.frontend.python.kernel import Kernel
from polyloom.frontend.source import Options, Source
from polyloom.ir.pla import Program
from polyloom.ir.plan import Plan
from polyloom.ir.signature import Signature
from polyloom.passes import Watch
from polyloom.recursion import with_deep_stack
from polyloom.report.progress import DONE, repeat_progress
from polyloom.run import inputs
from polyloom.run.concurrent_runs import measure_concurrent
from polyloom.run.inputs import Fill
from polyloom.run.instance import File, Instance, Origin, Result, merge_named, options_of_verbs
from polyloom.run.structures import with_fields
from polyloom.sets.normal_form import fixed_symbols
from polyloom.targets import registry
from polyloom.targets.forms.image import ELF
from polyloom.targets.forms.loops import load_source
from polyloom.targets.options import verb_options
from polyloom.targets.subject import Progress, Subject, Written, silent
from polyloom.targets.target import Json, Place, Proof, Target, need

__all__ = [
    "Compiled",
    "Instance",
    "Options",
    "PolyloomError",
    "Result",
    "compile",
    "decode",
    "load",
    "load_source",
    "prove",
    "run_together",
]


_AGAIN: Final = "compile the program again; if the file is as the compiler wrote it, report it with the program"


@dataclass(frozen=True)
class Compiled(File):
    """Compiled program for all sizes, or of a target that compiles for each size, what it will be made of. `subject` is
    None when it was loaded from a file, called `path`: then runs have nothing to be compared with, and `texts` are the
    sources that the user named."""

    on: str | None = None
    place: Place | None = None
    subject: Subject | None = None
    seconds: float | None = None
    options: Any = None
    path: str | None = None
    texts: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    _made: dict[tuple[tuple[str, int], ...], tuple[bytes, float]] = field(
        default_factory=dict[tuple[tuple[str, int], ...], tuple[bytes, float]], compare=False, repr=False
    )

    @property
    def signature(self) -> Signature:
        return self.subject.signature if self.subject is not None else self.target.signature(self.data)

    @property
    def parameters(self) -> tuple[str, ...]:
        return self.signature.sizes

    @property
    def source(self) -> Source | None:
        """Loops that it was compiled of, if it was."""
        return self.subject.source if self.subject is not None and isinstance(self.subject.source, Source) else None

    @property
    def symbolic(self) -> Json:
        """Program as plain values, as `polyloom show --json` prints it."""
        return self._json

    def instantiate(self, values: Mapping[str, int] | None = None, /, **more: Any) -> Instance:
        """Instantiate for parameter values (by keyword, or as a mapping), and options of the target by keyword: on the
        array `pes` = (rows, columns), and `candidate`, the number of a stored one (`{2: 0}`: that of phase 2); without
        it the best is taken. A target without symbolic files compiles for these values, or passes them as arguments.

        Errors: PL0230, PL0505, PL0805 and PL0815 for wrong arguments, PL051x (exit 3) where the region or the machine
        is too small.
        """
        known = {o: v for o, v in more.items() if o in self._own}
        parameters = merge_named(values, {n: v for n, v in more.items() if n not in known}, "PL0230", "N=16")
        make = self.target.instantiate
        if make is None:
            return self.prepare_instance(inputs.read_sizes(self.signature, parameters))
        # What the domain fixes needs no value.
        parameters = {**fixed_symbols(self.signature.assumptions), **parameters}
        options = replace(self._options, **known) if known else self._options
        start = perf_counter()
        try:
            data = make(self.data, parameters, self.place, options)
        except PolyloomError as error:
            fitted = self._refit(error, parameters, options)
            if fitted is None:
                raise error if self.path is None else _blame_file(error, self.path) from None
            return fitted
        seconds = perf_counter() - start
        return Instance(self.target, data, parameters, self.place, options, self._origin, seconds)

    def _refit(self, error: PolyloomError, values: Mapping[str, int], options: Any) -> Instance | None:
        """Instance of another symbolic file, where this one does not fit and the target has one that does."""
        refit, make = self.target.refit, self.target.instantiate
        if self.subject is None or refit is None or make is None or error.exit_code != INFEASIBLE:
            return None
        start = perf_counter()
        found = refit(self.subject, values, self.place, options, error)
        if found is None:
            return None
        made = perf_counter()
        data = make(found.data, values, self.place, found.options)
        seconds = (self.seconds or 0.0) + made - start
        origin = Origin(found.subject, found.data, self.on, seconds, self.texts, (found.warning,))
        return Instance(self.target, data, values, self.place, found.options, origin, perf_counter() - made)

    def run(
        self,
        given: Mapping[str, Any] | None = None,
        /,
        *,
        seed: int = 0,
        trace: bool = False,
        fill: Fill | None = None,
        **more: Any,
    ) -> Result:
        """Run for parameter values and arrays by name; see `Instance.run`. The target compiles or instantiates for
        these values first, if it has to."""
        own = {n: v for n, v in more.items() if n in _names(self.target, "simulate")}
        early = {n: v for n, v in more.items() if n in _names(self.target, "instantiate")}
        rest = {n: v for n, v in more.items() if n not in own and n not in early}
        values, arrays = self._split_values(with_fields(merge_named(given, rest, "PL0230", "N=16"), self.signature))
        return self.prepare_instance(values, early).run(arrays, seed=seed, trace=trace, fill=fill, **own)

    def _split_values(self, together: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Values of parameters that are not arguments of the run, and everything else."""
        sizes = {n for n in self.signature.sizes if self.signature.argument(n) is None}
        return {n: v for n, v in together.items() if n in sizes}, {n: v for n, v in together.items() if n not in sizes}

    def prepare_instance(
        self, values: Mapping[str, Any], options: Mapping[str, Any] | None = None, progress: Progress | None = None
    ) -> Instance:
        """Instance that runs for these values of parameters, instantiated or compiled for them where that is needed."""
        if self.target.instantiate is not None:
            return self.instantiate(values, **(options or {}))
        origin = Origin(self.subject, None, self.on, self.seconds)
        if self.subject is None or not compiles_per_size(self.target, self.subject):
            return Instance(self.target, self.data, dict(values) or None, self.place, self._options, origin)
        sizes, _ = inputs.read_values(self.signature, values)
        # Kept by sizes: who runs one size many times compiles it once.
        key = tuple(sizes.items())
        if key not in self._made:
            start = perf_counter()
            data = with_deep_stack(self.target.compile)(self.subject, self.place, sizes, self._options, progress)
            self._made[key] = data, perf_counter() - start
        data, seconds = self._made[key]
        origin = replace(origin, seconds=(self.seconds or 0.0) + seconds)
        return Instance(self.target, data, sizes, self.place, self._options, origin)

    @cached_property
    def _own(self) -> frozenset[str]:
        """Options that `instantiate` takes by keyword: a parameter of the same name goes first."""
        return _names(self.target, "instantiate").difference(self.parameters)

    @cached_property
    def _origin(self) -> Origin:
        """Provenance of every instance."""
        return Origin(self.subject, self.data, self.on, self.seconds, self.texts)

    @cached_property
    def _options(self) -> Any:
        return self.target.options() if self.options is None else self.options

    def __repr__(self) -> str:
        kind = "symbolic configuration" if self.target.instantiate is not None else f"{self.target.name} program"
        return f"<{kind} of {self.kernel}({', '.join(self.parameters)}): {len(self.data)} bytes>"


def _names(target: Target, verb: str) -> frozenset[str]:
    return frozenset(verb_options(target.options, verb))


def read_subject(
    source: Any, target: Target, place: Place, reading: Options, own: Any, watch: Watch | None = None
) -> Subject:
    """Subject of a source, in the first form that the target takes. Errors: PL0810, and those of reading that form."""
    written = Written(source, reading, watch)
    forms = [form for form in target.takes if form.accepts(written)]
    if not forms:
        what = f"'{written.path}'" if written.path is not None else repr(source)
        takes = ", ".join(form.title for form in target.takes)
        message = f"{what} is nothing that the target {target.name} takes"
        raise _program_error(written) or input_error("PL0810", message, help=f"give {takes}")
    refused: PolyloomError | None = None
    for form in forms:
        try:
            return _with_prints(_with_notes(form.load(written, place, own), written), written)
        except PolyloomError as error:
            # The error of the form that the target lists first, which is the one that it prefers.
            refused = refused or error
    assert refused is not None
    raise refused


def _with_notes(subject: Subject, written: Written) -> Subject:
    """What a C function is read without (`--ignore`), as notes."""
    if not written.options.ignore or written.path is None:
        return subject
    # Imported when used: clang belongs to the extra `c`, which an installation may lack.
    from polyloom.frontend.c.calls.ignore import notes

    return replace(
        subject, warnings=(*subject.warnings, *notes(*frontend.split_function_name(written.path, written.options)))
    )


def _with_prints(subject: Subject, written: Written) -> Subject:
    """Subject with the prints of its source. Errors: PL1510, and those of what is printed; a function that is no loop
    nest keeps a warning.
    """
    try:
        found = frontend.read_observed(written.value, written.options)
    except PolyloomError as error:
        if error.code == "PL1510" or subject.nest() is not None:
            raise
        message = "what the function prints is not shown: it is no loop nest"
        return replace(subject, warnings=(*subject.warnings, Diagnostic("PL1510", message, 0)))
    return replace(subject, observed=found)


def _program_error(written: Written) -> PolyloomError | None:
    """Error PL0810 for a file that already is a program: it is simulated, and not compiled."""
    path = written.path
    if path is None or not isfile(path):  # of a name that is too long, Path's own raises
        return None
    data = files.read(path)
    owner = registry.owner_of_file(data)
    if owner is None and not data.startswith(ELF):
        return None
    what = f"a {owner[1].title}" if owner else "an executable"
    verb = "instantiate" if owner and owner[1].symbolic else "simulate"
    help = f"write `polyloom {verb} {path}`" + ("" if owner else ", with the machine behind --on")
    return input_error("PL0810", f"'{path}' is {what}, which is no source", help=help)


def compile(
    source: Source | Kernel | ArraySource | Plan | Program | str | PathLike[str] | Any,
    on: str | None = None,
    *,
    function: str | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
    **own: Any,
) -> Compiled:
    """Compile a program (or the file of one, or a kernel) for `on`, such as "tcpa:unit"; errors PL01xx to PL04xx.

    `function` names one of a file's, as `FILE:NAME` does; `options` say how a file is read; `own` are options of the
    target, for the array `mapping`, the file of a mapping of your own (`{2: path}`: that of phase 2)."""
    target, place = registry.split_place(on)
    chosen, reading = target.options(**options_of_verbs(target, own, "compile")), options or Options()
    # The keyword wins over the same option in `options`.
    reading = reading if function is None else replace(reading, function=function)
    with repeat_progress(progress) as told:
        (told or silent)("reading", 0.0)
        subject = read_subject(source, target, place, reading, chosen)
        made = compile_subject(subject, target, place, chosen, told)
        (told or silent)(DONE, 1.0)
    return made


def compiles_per_size(target: Target, subject: Subject) -> bool:
    """Whether there is a program for each size, and not one for all."""
    return target.per_size and bool(subject.signature.sizes)


def compile_subject(
    subject: Subject, target: Target, place: Place, options: Any, progress: Progress | None = None
) -> Compiled:
    """Compile a subject that has been read."""
    start = perf_counter()
    # A program per size is compiled once its size is known; until then there is none.
    data = (
        b""
        if compiles_per_size(target, subject)
        else with_deep_stack(target.compile)(subject, place, {}, options, progress)
    )
    seconds = subject.seconds + perf_counter() - start
    return Compiled(target, data, registry.place_text(target, place), place, subject, seconds, options)


def run_together(
    instances: Sequence[Instance],
    given: Sequence[Mapping[str, Any]] = (),
    *,
    at: Sequence[Any] = (),
    seed: int = 0,
    trace: bool = False,
    fill: Fill | None = None,
    **own: Any,
) -> list[Result]:
    """Run programs side by side on one machine: `at[n]` is where the n-th one is, on the array (row, column) of its
    first element; `given[n]` are its arrays and scalars, without any made up as `Instance.run` does. `own` are options
    of the target, on the array `array`, its (rows, columns).

    A difference from an oracle raises PL0812; errors are those of runs, PL0604 and PL0629 for places, and PL0801."""
    arrays, places = list(given) or [{} for _ in instances], list(at) or [None] * len(instances)
    if not len(instances) == len(arrays) == len(places):
        message = (
            f"{len(instances)} programs, {len(places)} positions and inputs of {len(arrays)} do not belong together"
        )
        raise input_error("PL0231", message, help="give a position, and inputs, for each program")
    options = [{**own} if place is None else {**own, "at": place} for place in places]
    for instance, chosen in zip(instances, options, strict=True):
        options_of_verbs(instance.target, chosen, "simulate")
    results = measure_concurrent(instances, arrays, options, seed=seed, trace=trace, fill=fill)
    differences = [d for result in results for d in result.differences]
    if differences:
        raise PolyloomError(*differences)
    return results


def load(
    path: str | PathLike[str],
    *,
    source: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    on: str | None = None,
) -> Compiled | Instance:
    """Load a saved file; of which kind, its first bytes tell. A module of MLIR (`x.mlir`, or `x.mlir:NAME`) or a model
    (`x.onnx`) is compiled for `on`, as by `compile`. Its page shows the lines of the `source` (a file or several) that
    it was compiled from; no source is opened that is not given. Errors: PL0104, PL0807, PL0810 and PL07xx."""
    if frontend.source_file(str(path)).endswith((".mlir", *frontend.ARRAY_FILES)):
        return compile(path, on)
    data = registry.read_program_file(path)
    named = (source,) if isinstance(source, str | PathLike) else source
    return decode(fspath(path), data, texts([fspath(each) for each in named]))


def model(path: str | PathLike[str], options: Options | None = None) -> ArraySource:
    """Model in a file (.onnx), which is called on arrays and compiled like a kernel; `options` say how it is read.
    Errors: PL0180 to PL0188."""
    return frontend.array_source(str(path), options or Options())


def decode(name: str, data: bytes, texts: tuple[tuple[str, str], ...] = ()) -> Compiled | Instance:
    """Decode the bytes of a saved file; errors PL0810 and PL07xx, in which the file is called `name`."""
    target, kind = registry.require_owner(name, data)
    # Read at once: a malformed file is refused here, not at its first run.
    target.signature(data)
    if kind.symbolic:
        return Compiled(target, data, path=name, texts=texts)
    return Instance(target, data, origin=Origin(texts=texts))


def texts(paths: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Texts of sources that the user names beside a file: paths with what they hold. Errors: PL0104."""
    return tuple((path, files.read_source(path, "source").decode("utf-8", "replace")) for path in paths)


def _blame_file(error: PolyloomError, path: str) -> PolyloomError:
    """Error with the blame on a file: what would be a defect of the compiler's own mapping is the fault of the file
    where the mapping comes from one, as is whatever is malformed."""
    return PolyloomError(*(_file_diagnostic(d, path) for d in error.diagnostics))


def _file_diagnostic(diagnostic: Diagnostic, path: str) -> Diagnostic:
    if diagnostic.exit_code != INTERNAL and not diagnostic.code.startswith("PL07"):
        return diagnostic
    exit_code, help = (INPUT, _AGAIN) if diagnostic.exit_code == INTERNAL else (diagnostic.exit_code, diagnostic.help)
    return replace(diagnostic, exit_code=exit_code, notes=(*diagnostic.notes, f"in the file '{path}'"), help=help)


def prove(
    file: Compiled | Instance | str | PathLike[str],
    source: Source | Kernel | ArraySource | Plan | Program | str | PathLike[str] | Any,
    values: Mapping[str, int] | None = None,
    /,
    *,
    options: Options | None = None,
    **more: Any,
) -> Proof:
    """Translation validation (Pnueli, Siegel and Singerman 1998): whether a file computes what a source does, for all
    data at the sizes of `values` (or by keyword): its words run on terms instead of numbers. A file for all sizes is
    instantiated first (`pes`, `candidate`). What differs stands in the proof's `diagnostics`.

    Errors: those of reading both, of `verify`, which goes first, PL0230 for values, and PL0653 for other arrays.
    """
    made = file if isinstance(file, Compiled | Instance) else load(file)
    found = need(made.target, "verify", registry.target_names(lambda t: t.verify is not None))(made.data, made.place)
    # Terms follow what the words say: of words that break a rule that would prove nothing.
    if found:
        raise PolyloomError(*found)
    own = {n: v for n, v in more.items() if n in _names(made.target, "verify")}
    # An instance has its sizes already; those of a file for all sizes are given.
    known = (made.parameters or {}) if isinstance(made, Instance) else {}
    given = {**known, **merge_named(values, {n: v for n, v in more.items() if n not in own}, "PL0230", "N=16")}
    compare = need(made.target, "against", registry.target_names(lambda t: t.against is not None))
    chosen = made.target.options(**own)
    return with_deep_stack(compare)(made.data, made.place, chosen, load_source(source, options), given)
