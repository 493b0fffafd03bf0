# SPDX-License-Identifier: Apache-2.0
"""`polyloom float`: a number in the floating-point formats of vector kernels, both ways, and the instructions that load
it (IEEE 754-2008 for FP32 and FP16; the others are the machine's).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request, usage_error
from polyloom.diagnostics import input_error
from polyloom.targets.tensix.source import formats
from polyloom.targets.tensix.source.formats import BITS, FORMS, Encoded, Form, Load, Number

_PATTERN: Final = re.compile(r"0[xX]([0-9a-fA-F]{1,16})")
_MODES: Final = {0: "BF16", 1: "FP16", 2: "16 bits, zeros above", 4: "16 bits, sign above", 8: "high", 10: "low"}
_TABLES: Final[dict[Form, str]] = {"lut8": "SFPLUT", "fp16a": "SFPLUTFP32"}
"""Formats of which two make a register of a table, and whose it is."""


class Converting(Request):
    """The options of `float`."""

    as_form: str | None


def arguments(parser: Parser) -> None:
    help = "a number such as 1.5, 1/3, inf, or bits of a format such as 0x3fc0"
    parser.add_argument("words", metavar="VALUE", nargs="+", help=help)
    help = "the format of bits; of numbers in pairs, how a slope and an offset are packed for a table"
    parser.add_argument("--as", dest="as_form", choices=FORMS, help=help)


def execute(options: Converting) -> Answer:
    form: Form | None = next((known for known in FORMS if known == options.as_form), None)
    numbers = [_read_number(text, form) for text in options.words]
    data: dict[str, object] = {
        "values": [_number_data(text, number) for text, number in zip(options.words, numbers, strict=True)]
    }
    lines = [
        line for text, number in zip(options.words, numbers, strict=True) for line in _number_text(text, number, form)
    ]
    if form in _TABLES and len(numbers) > 1:
        words = _pack_pairs(options.words, numbers, form)
        data["packed"] = [f"{word:#0{2 + BITS[form] // 2}x}" for word in words]
        pairs = zip(options.words[::2], options.words[1::2], words, strict=True)
        lines += [f"{_TABLES[form]}, {a}·|x| + {b}: {word:#0{2 + BITS[form] // 2}x}" for a, b, word in pairs]
    return Answer(data, "\n".join(lines))


def _read_number(text: str, form: Form | None) -> Number:
    """Number from its text, or from bits in a format. Errors: PL0801, PL1292."""
    found = _PATTERN.fullmatch(text)
    if found is None:
        number = formats.parse_number(text)
        if number is None:
            message = f"'{text[:40]}' is no number"
            raise input_error("PL1292", message, help="write 1.5, 1e-3, 1/3, inf, or bits: 0x3fc0 --as fp16b")
        return number
    # Four digits are bits of several formats, eight only of FP32.
    if form is None and len(found[1]) <= 4:
        example = f"write {text} --as fp16b, for instance, or all eight digits of an FP32"
        raise usage_error(f"'{text}' are bits of no known format", example)
    bits, known = int(text, 16), form or "fp32"
    if bits >> BITS[known]:
        message = f"'{text}' has more bits than {known}, which has {BITS[known]}"
        raise input_error("PL1292", message, help=f"write at most {BITS[known] // 4} digits")
    return formats.decode_bits(bits, known)


def _pack_pairs(words: Sequence[str], numbers: Sequence[Number], form: Form) -> list[int]:
    """Pairs of a slope and an offset in one register of a table (SFPLUT)."""
    if len(numbers) % 2:
        raise usage_error(f"{words[-1]} has no offset", "write slopes and offsets in turn: SLOPE OFFSET SLOPE OFFSET")
    made: list[int] = []
    for k in range(0, len(numbers), 2):
        word = formats.table_register(numbers[k], numbers[k + 1], form)
        if word is None:
            raise input_error(
                "PL1292", f"{words[k]} or {words[k + 1]} has no form in {form}", help="give finite numbers"
            )
        made.append(word)
    return made


def _as_single(number: Number) -> Encoded:
    # Every number has a nearest FP32, if only infinity.
    found = formats.encode_number(number, "fp32")
    assert found is not None
    return found


def _number_data(text: str, number: Number) -> dict[str, object]:
    bits = _as_single(number).bits
    return {
        "given": text,
        "value": formats.format_number(number),
        "forms": {form: _form_data(number, form) for form in FORMS},
        "constant": formats.CONSTANTS.get(bits),
        "loadi": [{"mode": load.mode, "immediate": f"{load.immediate:#06x}"} for load in _load_instructions(bits)],
    }


def _form_data(number: Number, form: Form) -> dict[str, object] | None:
    found = formats.encode_number(number, form)
    if found is None:
        return None
    value = formats.format_number(formats.decode_bits(found.bits, form))
    return {"bits": _hex(found.bits, form), "value": value, "exact": found.is_exact}


def _hex(bits: int, form: Form) -> str:
    return f"{bits:#0{2 + BITS[form] // 4}x}"


def _load_instructions(bits: int) -> tuple[Load, ...]:
    """SFPLOADI instructions that make the bits: one where one will do, else two."""
    return tuple(formats.single_loads(bits)) or formats.load_pair(bits)


def _number_text(text: str, number: Number, form: Form | None) -> Iterator[str]:
    is_pattern = _PATTERN.fullmatch(text) is not None
    yield f"{text} as {form or 'fp32'} is {formats.format_number(number)}" if is_pattern else text
    if is_pattern and form == "fp16a" and formats.decode_dst(int(text, 16)) != number:
        yield f"  in Dst the same bits are {formats.format_number(formats.decode_dst(int(text, 16)))}"
    for known in FORMS:
        yield f"  {known:6} {_form_text(number, known)}"
    bits = _as_single(number).bits
    if (register := formats.CONSTANTS.get(bits)) is not None:
        yield f"  {register} holds it"
    loads = _load_instructions(bits)
    joint = " or " if any(formats.single_loads(bits)) else " and "
    yield "  " + joint.join(f"SFPLOADI {load.immediate:#06x}, mode {load.mode} ({_MODES[load.mode]})" for load in loads)


def _form_text(number: Number, form: Form) -> str:
    found = formats.encode_number(number, form)
    if found is None:
        return "has none"
    bits = f"{_hex(found.bits, form):10}"
    if found.is_exact:
        return f"{bits} exact"
    near = formats.decode_bits(found.bits, form)
    if number.value is None or near.value is None:
        return f"{bits} {formats.format_number(near)}"
    off = formats.to_double(abs(near.signed - number.signed))
    return f"{bits} {formats.format_number(near)}, off by {off:.3g}"
