# SPDX-License-Identifier: Apache-2.0
"""`polyloom cosim`: a concrete configuration on the circuit of its machine, compared with the model (docs/rtl.md)."""

from __future__ import annotations

from polyloom import files
from polyloom.cli import arguments as shared
from polyloom.cli import target_flags
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request, usage_error
from polyloom.cli.named_arrays import read_arrays
from polyloom.diagnostics import MISMATCH, Diagnostic

_TARGET = "tcpa"


def arguments(parser: Parser) -> None:
    shared.file_operand(parser, "a concrete configuration (.plcc)")
    target_flags.on_option(parser)
    shared.input_options(parser)


def execute(options: Request) -> Answer:
    # Loaded here: `--help` needs nothing of them.
    from polyloom.run.inputs import complete_inputs
    from polyloom.targets import registry
    from polyloom.targets.tcpa.cosimulation_steps import check_concrete, cosimulate

    target, place = registry.split_place(options.on or _TARGET)
    if target.name != _TARGET:
        raise usage_error(f"the target {target.name} has no circuit", "write --on tcpa:MACHINE.toml")
    data = files.read(options.file)
    check_concrete(data)
    given = read_arrays(shared.file_bindings(options.inputs, "--in"))
    fill = "random" if not given or options.fill else None
    inputs = complete_inputs(target.signature(data), {}, given, seed=options.seed, fill=fill)
    found = cosimulate(data, place.member if options.on else None, inputs)
    facts = {"cycles": found.cycles, "operations": found.operations, "bank_writes": found.bank_writes}
    facts["configuration_words"] = found.configuration
    facts |= {"steps": found.steps} if found.steps > 1 else {}
    shown = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in facts.items())
    if found.fault is not None:
        shown = f"fault PL06{found.fault.cause} in cycle {found.fault.cycle}"
    if found.difference is None:
        return Answer({**facts, "equal": True}, f"{options.file}: the circuit equals the model: {shown}")
    message = f"the circuit differs from the model: {found.difference}"
    differs = Diagnostic("PL0662", message, MISMATCH, help="please report it with the command")
    return Answer({**facts, "equal": False}, f"{options.file}: {shown}", (differs,))
