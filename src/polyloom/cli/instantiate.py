# SPDX-License-Identifier: Apache-2.0
"""`polyloom instantiate`: a concrete configuration for given sizes from a symbolic one."""

from __future__ import annotations

from polyloom import api, files
from polyloom.cli import arguments as shared
from polyloom.cli import target_flags
from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Request
from polyloom.diagnostics import input_error
from polyloom.targets import registry
from polyloom.targets.target import need


def execute(options: Request) -> Answer:
    files.check_outputs([options.output], [options.file])
    parameters, data = shared.parameter_values(options.words), registry.read_program_file(options.file)
    target, kind = registry.require_owner(options.file, data)
    need(target, "instantiate", registry.target_names(lambda t: t.instantiate is not None))
    # A concrete configuration has no parameters left.
    if not kind.symbolic:
        help = "give the symbolic configuration that it was made from"
        raise input_error("PL0810", f"'{options.file}' is a {kind.title} already", help=help)
    own = target_flags.given_options(options, target, "instantiate")
    compiled = api.decode(options.file, data)
    assert isinstance(compiled, api.Compiled)
    instance = compiled.instantiate(parameters, **own)
    files.write({options.output: instance.data})
    facts = target.facts(instance.program, None)
    rest = {key: value for key, value in facts.items() if key != "region"}
    shown = {"kernel": instance.kernel, "parameters": parameters, **rest, "instantiate_seconds": instance.seconds}
    about = "" if target.brief is None else f", {target.brief(facts)}"
    return Answer(shown, f"{options.output}: {instance.kernel}, {len(instance.data)} bytes{about}")
