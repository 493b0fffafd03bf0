# SPDX-License-Identifier: Apache-2.0
"""Random kernels in C++: expressions of all kinds, nested regions, scalar branches and loops, over three floats, two
integers and an unsigned variable, which Dst gives and takes."""

from __future__ import annotations

from random import Random
from typing import Final

FLOATS: Final = ("x", "y", "z")
INTEGERS: Final = ("i", "j")
UNSIGNED: Final = ("u",)
_LITERALS: Final = ("0.0f", "1.0f", "-1.0f", "0.5f", "3.0f", "0.1f", "-7.25f", "1e-20f", "0.8373f", "70000.0f")
_NUMBERS: Final = ("0", "1", "-1", "7", "-300", "4096", "100000")
_FLOAT: Final = (
    "{f} + {f}", "{f} - {f}", "{f} * {f}", "{f} * {f} + {f}", "{f} - {f} * {f}", "-({f} * {f})", "-{f}", "+{f}",
    "{f} + {l}", "{f} - {l}", "{l} - {f}", "{f} * {l}", "{l} * {f}", "vFloat({l})", "abs({f})", "setexp({f}, {i})",
    "setexp({f}, 126)", "setman({f}, 0)", "setman({f}, {u})", "copyman({f}, {f})", "copyexp({f}, {f})",
    "copysgn({f}, {f})", "setsgn({f}, 1)", "setsgn2({f}, {i})", "addexp({f}, 1)", "min({f}, {f})", "max({f}, {l})",
    "clamp({f}, -2.0f, 2.0f)", "symmetric_clamp({f}, 3.0f)", "convert<vFloat>({i})", "as<vFloat>({i})",
    "vFloat(convert<vFloat16b>({f}))", "vFloat(float_to_fp16a({f}, 0))", "polynomial({f}, 1.0f, {l}, 0.25f)",
    "subvec_shflror1({f})", "ldexp({f}, 2)",
    "lut({f}, vLut8si(0.5f, 0.0f), vLut8si(0.25f, 0.25f), vLut8si(0.0f, 1.0f))",
    "vConstFloatPrgm1 * {f}", "vFloat(s2vFloat16b({l}))",
)  # fmt: skip
_INTEGER: Final = (
    "{i} + {i}", "{i} - {i}", "{i} + {n}", "{n} - {i}", "{i} & {i}", "{i} | {n}", "{i} ^ {i}", "~{i}", "-{i}",
    "vInt({n})", "exexp({f})", "exexp({f}, ExponentMode::Biased)", "vInt(exman({f}))", "as<vInt>({f})", "vInt(lz({u}))",
    "vInt(abs({i}))", "{i} << 3", "vInt({c})", "vInt(convert<vSMag>({i}).get())", "vConstTileId + {i}",
)  # fmt: skip
_UNSIGNED: Final = (
    "{u} >> 5", "{u} << 2", "{u} & {u}", "{u} | 0x8000u", "~{u}", "as<vUInt>({i})", "as<vUInt>({f})", "{u} + 3",
    "shft({u}, {i})", "shft({u}, -4)", "vUInt(exsgn({f}))", "vUInt(float_to_uint16({f}, 0))", "min({u}, 1000u)",
)  # fmt: skip
_CONDITIONS: Final = (
    "{f} < {f}", "{f} <= {l}", "{f} == {f}", "{f} != 0.0f", "{f} >= {l}", "{f} > {f}", "{f} < 0.0f", "{i} < {i}",
    "{i} >= {n}", "{i} == {n}", "{i} > {i}", "{u} < {u}", "{u} >= 40000u", "is_nan({f})", "is_zero({f})", "is_neg({f})",
    "!({c})", "({c}) && ({c})", "({c}) || ({c})", "{i} != 0",
)  # fmt: skip
_KINDS: Final = {"f": (FLOATS, _FLOAT), "i": (INTEGERS, _INTEGER), "u": (UNSIGNED, _UNSIGNED)}


def expression(random: Random, kind: str, depth: int) -> str:
    """Of floats, integers, unsigned ones, a condition, a literal or a number."""
    if kind == "l":
        return random.choice(_LITERALS)
    if kind == "n":
        return random.choice(_NUMBERS)
    if kind == "c":
        choices = _CONDITIONS if depth > 0 else tuple(c for c in _CONDITIONS if "{c}" not in c)
        return _filled(random, random.choice(choices), depth - 1)
    names, templates = _KINDS[kind]
    if depth <= 0 or random.random() < 0.25:
        return random.choice(names)
    made = _filled(random, random.choice(templates), depth - 1)
    return f"({made})"


def _filled(random: Random, template: str, depth: int) -> str:
    made = ""
    while "{" in template:
        before, _, rest = template.partition("{")
        kind, _, template = rest.partition("}")
        made += before + expression(random, kind, depth)
    return made + template


def statements(random: Random, count: int, depth: int) -> list[str]:
    """Lines of a block."""
    return [line for _ in range(count) for line in _statement(random, depth)]


def _statement(random: Random, depth: int) -> list[str]:
    choice = random.random()
    if depth == 0 or choice < 0.6:
        kind = random.choice("fffiiu")
        return [f"{random.choice(_KINDS[kind][0])} = {expression(random, kind, 2)};"]
    condition = expression(random, "c", 2)
    if choice < 0.85:
        lines = [f"v_if ({condition}) {{", *statements(random, random.randint(1, 2), depth - 1), "}"]
        if random.random() < 0.4:
            condition = expression(random, "c", 1)
            lines += [f"v_elseif ({condition}) {{", *statements(random, 1, depth - 1), "}"]
        if random.random() < 0.4:
            lines += ["v_else {", *statements(random, 1, depth - 1), "}"]
        return [*lines, "v_endif;"]
    if choice < 0.9:
        return ["v_block {", f"v_and({condition});", *statements(random, 2, depth - 1), "}", "v_endblock;"]
    if choice < 0.95:
        return ["if (n & 1) {", *statements(random, 1, depth - 1), "} else {", *statements(random, 1, depth - 1), "}"]
    return ["for (int k = 0; k < n; k++) {", *statements(random, 1, depth - 1), "}"]


def kernel(seed: int, name: str, count: int = 5) -> str:
    """A function of an integer."""
    random = Random(seed)
    lines = [f"void {name}(int n) {{"]
    lines += [f"    vFloat {v} = dst_reg[{2 * k}];" for k, v in enumerate(FLOATS)]
    lines += [f"    vInt {v} = dst_reg[{2 * k + 6}].mode<DataLayout::I32>();" for k, v in enumerate(INTEGERS)]
    lines += ["    vUInt u = dst_reg[10];"]
    lines += [f"    {line}" for line in statements(random, count, 2)]
    lines += [f"    dst_reg[{2 * k}] = {v};" for k, v in enumerate(FLOATS)]
    lines += [f"    dst_reg[{2 * k + 6}].mode<DataLayout::I32>() = {v};" for k, v in enumerate(INTEGERS)]
    return "\n".join([*lines, "    dst_reg[10] = u;", "}", ""])
