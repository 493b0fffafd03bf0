# SPDX-License-Identifier: Apache-2.0
"""Target record: functions over sources, text and bytes; the floors above ask the record, never which target it is.

A program is bytes that users hold in a file: what runs has been written down and read back. A *symbolic* target
compiles once for all parameter values, and its file is instantiated; another one compiles for all values at once
(`instantiate` is None), or for each (`per_size`). What a target lacks is None, and `need` refuses it by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NoReturn, TypeVar

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError
from polyloom.frontend.source import Arrays, Source
from polyloom.ir.signature import Signature
from polyloom.targets.account import Account
from polyloom.targets.costs import Costs
from polyloom.targets.entry import record
from polyloom.targets.options import NoOptions
from polyloom.targets.prediction import Prediction
from polyloom.targets.report import LoopInterval, Report
from polyloom.targets.stepper import Stepper
from polyloom.targets.subject import Form, Progress, Subject
from polyloom.targets.trace import Trace

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Place = Any
"""A target's own value: what follows its name in `--on`. `str` of it is what is printed there."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Kind:
    """Kind of file that users hold; `symbolic` ones can be instantiated."""

    suffix: str
    title: str
    symbolic: bool = False


@dataclass(frozen=True, slots=True)
class Execution:
    """Execution, what a model observed. `cycles` is None where no time is modelled. `facts` are the target's own keys
    of `run --json` that only a run tells; `trace` is empty unless it was asked for; `detail` is for the target's own
    report.
    """

    # By the names of the signature's outputs, so that oracles are compared without knowing the target.
    outputs: Arrays
    cycles: int | None
    operations: int
    facts: Mapping[str, Json] = field(default_factory=dict[str, Json])
    trace: Trace = field(default_factory=Trace)
    detail: Any = None
    # None where the account was not asked for, and the target does not count for it anyhow.
    counted: Any = None
    """What the model counted for the account of cycles, for the target's own `account`."""
    hot_lines: frozenset[int] = frozenset()
    """Lines of the source's hottest loop by the account (`Account.hot_lines`), for the target's own `report` and
    `costs`, which show the machine's code of it; empty where there is no account."""

    def locate(self, account: Account | None) -> Execution:
        """Execution with the lines of the hottest loop of its account."""
        return self if account is None else replace(self, hot_lines=account.hot_lines)


@dataclass(frozen=True, slots=True)
class Job:
    """Request for a run: every input, which is read-only (a machine copies what it changes), the place (None: that of
    the file), the target's options, the values of parameters, the names of further outputs, whether there is to be a
    trace, and whether the account of cycles is asked for.
    """

    inputs: Arrays
    place: Place | None
    options: Any
    values: Mapping[str, int] = field(default_factory=dict[str, int])
    wanted: Sequence[str] = ()
    trace: bool = False
    account: bool = False
    # Called now and then during a run, so that an interrupt is heeded in native code.
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """Foreign file, which no target wrote, for a target that is named: its path, the place, and the target's
    options.
    """

    name: str
    data: bytes
    place: Place
    options: Any


@dataclass(frozen=True, slots=True)
class Loaded:
    """File of `simulate`, and where the user places it."""

    path: str
    data: bytes
    address: int | None


@dataclass(frozen=True, slots=True)
class Simulation:
    """Request to a machine that has places instead of arguments: `inputs` and `outputs` are texts of `--in` and
    `--out`, place to file; `written` are files that the caller writes, such as a trace.
    """

    files: tuple[Loaded, ...]
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    place: Place
    options: Any
    written: tuple[str, ...] = ()
    trace: bool = False


@dataclass(frozen=True, slots=True)
class Simulated:
    """Result of a simulation: `data` for `--json`, `text` for people, `files` that are written even where `diagnostics`
    tell of a fault.
    """

    data: Mapping[str, Json]
    text: str
    files: Mapping[str, bytes]
    trace: Trace
    # Values rather than an exception: a run that fails still has outputs and a trace worth writing.
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """Program that runs, with the file it was instantiated from in `symbolic`, where that is known; `place` and
    `options` are what was asked for.
    """

    data: bytes
    symbolic: bytes | None
    place: Place | None
    options: Any


@dataclass(frozen=True, slots=True)
class Proof:
    """Translation validation of a file against a source for all data (Pnueli, Siegel and Singerman 1998): the parameter
    values, how many elements of outputs were compared, and how many different terms both sides made. Without
    `diagnostics` they are equal; `notes` decide nothing.
    """

    values: Mapping[str, int]
    elements: int
    terms: int
    diagnostics: tuple[Diagnostic, ...] = ()
    # Such as that sums were compared without their order, which is of interest and no verdict.
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return not self.diagnostics


@dataclass(frozen=True, slots=True)
class Refit:
    """Other symbolic file of a subject, which fits sizes that the usual one does not: with the options of which the
    user gets the same, a warning that says so, and the subject with the oracles of this file.
    """

    data: bytes
    options: Any
    warning: Diagnostic
    subject: Subject


def _empty_facts(*of: Any) -> Mapping[str, Json]:
    """No facts."""
    del of
    return {}


@dataclass(frozen=True, slots=True)
class Target:
    """Target record. Every function raises `PolyloomError` for whatever the user can get wrong."""

    name: str
    title: str
    """What the machine is, in a few words."""
    takes: tuple[Form, ...]
    """The forms of sources, the preferred one first."""
    kinds: tuple[Kind, ...]
    """The kinds of its files."""
    owns: Callable[[bytes], Kind | None]
    """The kind of a file that this target wrote, told by its first bytes or its note. It does not raise."""
    place: Callable[[str], Place]
    """Reads what follows the name in `--on`; it may be empty."""
    signature: Callable[[bytes], Signature]
    """Of a file."""
    compile: Callable[[Subject, Place, Mapping[str, int], Any, Progress | None], bytes]
    """Subject, place, parameter values (empty unless `per_size` and the subject has sizes), options."""
    run: Callable[[bytes, Job], Execution]
    show: Callable[[bytes, Any], str]
    """The listing of a file, by options of the verb `show`."""
    # From here on members are optional: a new target begins with those above.
    options: type[Any] = NoOptions
    run_together: Callable[[Sequence[tuple[bytes, Job]]], Sequence[Execution]] | None = None
    """Several programs side by side on one machine, each where its options say."""
    # Compiled anew for each size; the program then has numbers instead of parameters.
    per_size: bool = False
    instantiate: Callable[[bytes, Mapping[str, int], Place | None, Any], bytes] | None = None
    """Symbolic file, parameter values, place, options: the concrete file."""
    refit: Callable[[Subject, Mapping[str, int], Place | None, Any, PolyloomError], Refit | None] | None = None
    """Subject, parameter values, place, options, and why the symbolic file does not fit these: another symbolic file
    that does, or None."""
    predict: Callable[[bytes, Mapping[str, int], Place | None, Any], Prediction] | None = None
    """What `instantiate` would make, and the time that it would take, without running it. It refuses what `instantiate`
    refuses."""
    members: Callable[[], tuple[str, ...]] | None = None
    describe: Callable[[str], str] | None = None
    """The resolved description of a member, in TOML."""
    machine_of: Callable[[Place], str] | None = None
    """The resolved description of a place's machine, in TOML."""
    with_machine: Callable[[Place, str], Place] | None = None
    """The place with the machine of another description, a path that ends in `.toml`."""
    facts: Callable[[Program, Execution | None], Mapping[str, Json]] = _empty_facts
    """The target's own keys of `run --json`; without an execution, of `instantiate --json`."""
    made: Callable[[bytes], Mapping[str, Json]] = _empty_facts
    """The target's own keys of `compile --json`, of what was compiled."""
    brief: Callable[[Mapping[str, Json]], str] | None = None
    """Of `facts`: what `instantiate` says in a line."""
    summary: Callable[[Mapping[str, Json]], Sequence[tuple[str, str]]] | None = None
    """Of the data of a run: the rows that a reader wants first, (what, value)."""
    report: Callable[[Program, Execution], Sequence[Report]] | None = None
    costs: Callable[[Program, Execution], Costs] | None = None
    """What a run cost, for `polyloom compare`; without it, a row has what the execution tells."""
    account: Callable[[Program, Execution], Account | None] | None = None
    """Where the unit-cycles of a run went; None of an execution that did not count for it."""
    intervals: Callable[[bytes], Sequence[LoopInterval]] | None = None
    """The intervals of the loops of a compiled file."""
    as_json: Callable[[bytes], Json] | None = None
    """`show --json`; without it, the listing."""
    assemble: Callable[[str, str, Place, Any], bytes] | None = None
    """Text in the target's notation, what messages call it, place, options: a program."""
    verify: Callable[[bytes, Place | None], Sequence[Diagnostic]] | None = None
    """The findings in a file, without running it."""
    stepper: Callable[[bytes, Job], Stepper] | None = None
    """A run that stops between cycles, for debuggers."""
    show_given: Callable[[Given], tuple[str, Json]] | None = None
    """The listing of a file that no target wrote, as text and for `show --json`."""
    against: Callable[[bytes, Place | None, Any, Source, Mapping[str, int]], Proof] | None = None
    """A file, place, options of the verb `verify`, a loaded source and values of parameters: whether the file computes
    what the source does, for all data. The file has been verified."""
    verify_given: Callable[[Given], Sequence[Diagnostic]] | None = None
    """The findings in such a file."""
    simulate_given: Callable[[Simulation], Simulated] | None = None
    """Runs files that no target wrote, on a machine that has places instead of arguments."""
    include: Callable[[], str] | None = None
    """The folder of headers and linker scripts for programs of the target."""
    lists: tuple[str, ...] = ()
    """The names of forms of which `show` lists what they are compiled to, instead of what was read."""
    # For options that print after a pass, so that a misspelt name is refused before anything is compiled.
    passes: tuple[str, ...] = ()
    """The names of all passes between a source and a file, in their order."""

    def __reduce__(self) -> tuple[Callable[[str], Any], tuple[str]]:
        """Pickled by name, so that programs go to other processes."""
        return record, (self.name,)


_WORDS: Final = {
    "instantiate": "has no symbolic files, which could be instantiated",
    "members": "has no members",
    "describe": "has no descriptions of members",
    "predict": "predicts nothing: its programs have to run",
    "machine_of": "has no machine whose keys could be set",
    "with_machine": "has no machine whose keys could be set",
    "report": "draws no report",
    "assemble": "has no notation that is assembled",
    "as_json": "gives no listing as JSON",
    "verify": "has nothing that verifies a file",
    "stepper": "has no model that stops between cycles",
    "run_together": "runs one program at a time",
    "against": "has nothing that compares a file with a source for all data",
}


def need(target: Target, what: str, having: Sequence[str] = ()) -> Any:
    """Function `what` of a target. Errors: PL0801 where it has none; `having` are the targets that do."""
    # By name, so that one message serves every optional member.
    found = getattr(target, what)
    if found is None:
        raise_unsupported(f"the target {target.name} {_WORDS.get(what, f'has no {what}')}", having)
    return found


def raise_unsupported(message: str, having: Sequence[str]) -> NoReturn:
    """Raises PL0801 for what a target does not have."""
    named = " and ".join(filter(None, (", ".join(having[:-1]), *having[-1:])))
    help = f"{named} {'do' if len(having) > 1 else 'does'}" if having else "leave it out"
    raise PolyloomError(Diagnostic("PL0801", message, USAGE, help=help))
