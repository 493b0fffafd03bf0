# SPDX-License-Identifier: Apache-2.0
"""`polyloom machines`: the shipped machines, or the resolved description of one, or of a file."""

from __future__ import annotations

import tomllib

from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Request
from polyloom.targets import registry
from polyloom.targets.entry import entries
from polyloom.targets.target import Target, need


def execute(options: Request) -> Answer:
    if options.name is None:
        return _list_machines([target for target in registry.load_targets() if target.members is not None])
    target, colon, member = options.name.partition(":")
    # A bare name may be a target's or a machine's: targets first, as `--on` reads it.
    if not colon and target in entries():
        return _list_machines([registry.find_target(target)])
    chosen = registry.find_target(target) if colon else registry.default_target()
    resolved = need(chosen, "describe", registry.target_names(lambda t: t.describe is not None))(
        member if colon else target
    )
    return Answer(tomllib.loads(resolved), resolved.rstrip("\n"))


def _list_machines(targets: list[Target]) -> Answer:
    """Answer with the machines of some targets; of one target also the folder of its headers."""
    having = registry.target_names(lambda t: t.members is not None)
    names = [f"{target.name}:{member}" for target in targets for member in need(target, "members", having)()]
    include = targets[0].include() if len(targets) == 1 and targets[0].include is not None else None
    if include is None:
        return Answer({"machines": names}, "\n".join(names))
    return Answer({"machines": names, "include": include}, "\n".join([*names, f"headers in {include}"]))
