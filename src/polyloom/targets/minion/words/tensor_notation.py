# SPDX-License-Identifier: Apache-2.0
"""Assembly syntax of tensor instructions: `tensor_fma fp32 16x16x16 A=scp[0..15] B=TenB C=f0..f31 mul`.

`text` writes any word of a tensor CSR, `parse` reads it back to the same bits. Bits that belong to no field stand
behind as `bits=0x…`; operands of x31 are left out where x31 is not known. Shapes are rows x columns x depth, in
elements. The operations and their fields are those of the ET Programmer's Reference Manual, chapter 9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from polyloom.targets.minion.words.tensor_tokens import Resolve, Tokens, parse_number, register_span, span
from polyloom.targets.minion.words.tensor_words import (
    BY_NAME,
    DEPTH,
    EVENTS,
    FUNCTIONS,
    QUANT,
    TRANSFORMS,
    TYPES,
    Word,
    decode,
    encode,
    unknown_bits,
)

Fields = Mapping[str, int]
_FUNCTION_NAMES: Final = {value: name for name, value in FUNCTIONS.items()}


def text(word: Word) -> str | None:
    """Printer of a tensor word; None for a CSR of no tensor instruction."""
    decoded = decode(word)
    if decoded is None:
        return None
    name, fields = decoded
    parts = [name, *_WRITERS[name](fields)]
    if rest := unknown_bits(word):
        parts.append(f"bits={rest:#x}")
    return " ".join(part for part in parts if part)


def parse(line: str, resolve: Resolve = parse_number) -> Word:
    """Parser of a tensor instruction, to its words; `resolve` gives addresses their numbers. ValueError says what is
    wrong, and what to write instead.
    """
    name, *words = line.split()
    if name.lower() not in _READERS:
        raise ValueError(f"there is no tensor instruction '{name}': {', '.join(_READERS)}")
    tokens = Tokens(name.lower(), words, resolve)
    # Taken first: readers take what they know, and whatever is left is an error.
    bits = tokens.value("bits", 0)
    made = encode(tokens.operation, **_READERS[tokens.operation](tokens))
    tokens.end()
    return replace(made, value=made.value | bits)


def is_tensor(name: str) -> bool:
    """Whether an assembler's mnemonic is one of these."""
    return name.lower() in _READERS


# --- operands that several have ---


def _flags(fields: Fields, *names: str) -> list[str]:
    return [name for name in names if fields.get(name)]


def _memory(fields: Fields, key: str) -> list[str]:
    """The address, and the stride and id where x31 is known."""
    made = [f"{key}={_hex(fields['address'])}"]
    if "stride" in fields:
        made.append(f"stride={fields['stride']}")
    if "id" in fields:
        made.append(f"id={fields['id']}")
    return made


def _hex(value: int) -> str:
    return f"-{-value:#x}" if value < 0 else f"{value:#x}"


def _read_memory(tokens: Tokens, key: str, *, id: bool = True) -> dict[str, int]:
    made = {"address": tokens.value(key, 0), "stride": tokens.value("stride", 0)}
    return made | ({"id": tokens.value("id", 0)} if id else {})


def _check_count(tokens: Tokens, what: str, found: int, expected: int) -> None:
    """ValueError where an operand names other lines or registers than the shape needs; they are implied by the word,
    and written for the reader.
    """
    if found != expected:
        raise ValueError(f"{tokens.operation}: {what} are {found}, but the shape needs {expected}")


# --- loads ---


def _write_load(f: Fields) -> list[str]:
    transform = TRANSFORMS[f["transform"]] or f"transform={f['transform']}"
    shown = "" if transform == "plain" else transform
    return [span(f["start"], f["rows"]), shown, *_memory(f, "from"), *_flags(f, "masked", "coop")]


def _read_load(tokens: Tokens) -> Fields:
    """Parser of tensor_load; transforms have names, reserved ones numbers (manual, chapter 9)."""
    start, rows = tokens.lines()
    names = "|".join(name for name in TRANSFORMS if name)
    named = tokens.take_optional(names)
    transform = TRANSFORMS.index(named[0].lower()) if named else tokens.value("transform", 0)
    flags = {name: tokens.flag(name) for name in ("masked", "coop")}
    return {"start": start, "rows": rows, "transform": transform, **flags, **_read_memory(tokens, "from")}


def _write_load_b(f: Fields) -> list[str]:
    return [f"TenB[0..{f['rows'] - 1}]", *_memory(f, "from"), *_flags(f, "coop")]


def _read_load_b(tokens: Tokens) -> Fields:
    rows = int(tokens.take(r"TenB\[0\.\.(\d+)\]", "TenB[0..last]")[1]) + 1
    return {"rows": rows, "coop": tokens.flag("coop"), **_read_memory(tokens, "from")}


def _write_load_l2(f: Fields) -> list[str]:
    """tensor_load_l2 names lines of the shire's scratchpad, not of L1Scp (manual, chapter 9)."""
    lines = f"l2scp[{f['line']}..{f['line'] + f['rows'] - 1}]"
    return [lines, *_memory(f, "from"), *_flags(f, "masked")]


def _read_load_l2(tokens: Tokens) -> Fields:
    """Parser of tensor_load_l2."""
    found = tokens.take(r"l2scp\[(\d+)\.\.(\d+)\]", "l2scp[first..last]")
    first, last = int(found[1]), int(found[2])
    return {
        "line": first,
        "rows": last - first + 1,
        "masked": tokens.flag("masked"),
        **_read_memory(tokens, "from"),
    }


# --- tensor_fma ---


def _c_registers(first: int, rows: int, columns: int) -> str:
    """Registers of C: row i is f[2i] and f[2i+1], only f[2i] up to 8 columns (manual, chapter 9), so the last one of a
    narrow block is left out.
    """
    return register_span(first, 2 * rows - (columns <= 8))


def _write_fma(f: Fields) -> list[str]:
    """tensor_fma: type, shape in elements, A, B, C and flags (manual, chapter 9)."""
    kind = TYPES[f["type"]]
    depth = f["words"] * DEPTH.get(kind, 1)
    offset = f"+{f['offset']}" if f["offset"] else ""
    # TenB ignores where B would start in L1Scp; those bits are kept all the same.
    b = "TenB" if f["tenb"] else span(f["b"], f["words"])
    # int8 accumulates in TenC until the last step along the depth copies it to f registers.
    to_tenc = kind == "int8" and not f["to_registers"]
    registers = _c_registers(0, f["rows"], f["columns"])
    return [
        kind or f"type={f['type']}",
        f"{f['rows']}x{f['columns']}x{depth}",
        f"A={span(f['a'], f['rows'])}{offset}",
        f"B={b}",
        f"C={'TenC' if to_tenc else registers}",
        "mul" if f["first"] else "",
        *(f"{name}" for name in ("masked", "a_unsigned", "b_unsigned") if f[name]),
        "to_registers" if f["to_registers"] and kind != "int8" else "",
        f"b={f['b']}" if f["tenb"] and f["b"] else "",
    ]


def _read_fma(tokens: Tokens) -> Fields:
    """Parser of tensor_fma. ValueError where operands do not fit the shape."""
    named = tokens.take_optional("fp32|fp16|int8")
    kind = named[0].lower() if named else ""
    type = TYPES.index(kind) if kind else tokens.value("type")
    rows, columns, depth = tokens.shape(3, "a shape, rows x columns x depth, such as 16x16x16")
    if depth % DEPTH.get(kind, 1):
        raise ValueError(f"tensor_fma {kind} has a depth in steps of {DEPTH[kind]}, not {depth}")
    words = depth // DEPTH.get(kind, 1)
    found = tokens.take(r"A=scp\[(\d+)(?:\.\.(\d+))?\](?:\+(\d+))?", "A=scp[first..last]")
    # Lines wrap at 48, so the last one may have a smaller number than the first.
    a = int(found[1])
    _check_count(tokens, "lines of A", (int(found[2] or found[1]) - a) % 48 + 1, rows)
    # Bits of BSTART are kept although TenB ignores them: what is read has the same bits as what was written.
    tenb = tokens.flag("B=TenB")
    if tenb:
        b = tokens.value(r"b(?!=TenB)", 0)
    else:
        b, count = tokens.lines("B=")
        _check_count(tokens, "lines of B", count, words)
    return {
        "type": type,
        "rows": rows,
        "columns": columns,
        "words": words,
        "a": a,
        "offset": int(found[3] or 0),
        "b": b,
        "tenb": tenb,
        "to_registers": _read_c_operand(tokens, kind, rows, columns),
        "first": tokens.flag("mul"),
        **{name: tokens.flag(name) for name in ("masked", "a_unsigned", "b_unsigned")},
    }


def _read_c_operand(tokens: Tokens, kind: str, rows: int, columns: int) -> int:
    """Whether the result goes to registers, as the word has it."""
    if kind == "int8" and tokens.flag("C=TenC"):
        return 0
    first, count = tokens.registers("C=")
    if first:
        raise ValueError(f"tensor_fma has its result from f0 on, not from f{first}")
    _check_count(tokens, "registers of C", count, 2 * rows - (columns <= 8))
    return 1 if kind == "int8" else tokens.flag("to_registers")


# --- tensor_quant, stores ---


def _write_quant(f: Fields) -> list[str]:
    """tensor_quant: shape, registers, the first line of its vectors, and transforms in order (manual, chapter 9).
    Trailing zeros end the list and are not written.
    """
    steps = [f[f"transform{k}"] for k in range(10)]
    while steps and steps[-1] == 0:
        steps.pop()
    lines = sum(4 <= step <= 7 for step in steps)
    return [
        f"{f['rows']}x{f['columns']}",
        _c_registers(f["freg"], f["rows"], f["columns"]),
        span(f["start"], max(lines, 1)) if lines or f["start"] else "",
        *(QUANT[step] if step < len(QUANT) else f"transform={step}" for step in steps),
    ]


def _read_quant(tokens: Tokens) -> Fields:
    """Parser of tensor_quant. ValueError for more than ten transforms, as many as the word has fields."""
    rows, columns = tokens.shape(2, "a shape, rows x columns, such as 16x16")
    freg, count = tokens.registers()
    _check_count(tokens, "registers", count, 2 * rows - (columns <= 8))
    start = tokens.lines()[0] if any(word.lower().startswith("scp[") for word in tokens.left) else 0
    steps: list[int] = []
    while found := tokens.take_optional("|".join(QUANT) + r"|transform=(\d+)"):
        steps.append(int(found[1]) if found[1] else QUANT.index(found[0].lower()))
    if len(steps) > 10:
        raise ValueError(f"tensor_quant has at most 10 transforms, not {len(steps)}")
    made = {"rows": rows, "columns": columns, "freg": freg, "start": start}
    return made | {f"transform{k}": step for k, step in enumerate(steps)}


def _write_store(f: Fields) -> list[str]:
    step = f"step={f['step']}" if f["step"] > 1 else ""
    coop = f"coop={f['coop']}" if f["coop"] > 1 else ""
    return [f"{f['rows']}x{f['bytes']}B", f"f{f['freg']}", step, *_memory(f, "to"), coop]


def _read_store(tokens: Tokens) -> Fields:
    """Parser of tensor_store from f registers."""
    rows, size = tokens.shape(2, "rows x bytes, such as 16x64B", "B")
    return {
        "rows": rows,
        "bytes": size,
        "freg": tokens.registers()[0],
        "step": tokens.value("step", 1),
        "coop": tokens.value("coop", 1),
        **_read_memory(tokens, "to", id=False),
    }


def _write_store_scp(f: Fields) -> list[str]:
    step = f"step={f['step']}" if f["step"] > 1 else ""
    return [f"{f['rows']}x64B", f"scp[{f['start']}]", step, *_memory(f, "to")]


def _read_store_scp(tokens: Tokens) -> Fields:
    """Parser of tensor_store from L1Scp, whose rows are lines of 64 bytes (manual, chapter 9)."""
    rows, size = tokens.shape(2, "rows x bytes, such as 16x64B", "B")
    _check_count(tokens, "bytes of a row", size, 64)
    return {
        "rows": rows,
        "start": tokens.lines()[0],
        "step": tokens.value("step", 1),
        **_read_memory(tokens, "to", id=False),
    }


# --- messages ---


def _write_count(f: Fields) -> str:
    return f"f{f['freg']}*{f['count']}"


def _read_count(tokens: Tokens) -> dict[str, int]:
    found = tokens.take(r"f(\d+)\*(\d+)", "registers, first and how many, such as f0*32")
    return {"freg": int(found[1]), "count": int(found[2])}


def _write_function(f: Fields) -> str:
    return _FUNCTION_NAMES.get(f["funct"], f"funct={f['funct']}")


def _read_function(tokens: Tokens) -> dict[str, int]:
    named = tokens.take_optional("|".join(FUNCTIONS))
    return {"funct": FUNCTIONS[named[0].lower()] if named else tokens.value("funct")}


def _write_send(f: Fields) -> list[str]:
    return [_write_count(f), f"to={f['peer']}"]


def _read_send(tokens: Tokens) -> Fields:
    return {**_read_count(tokens), "peer": tokens.value("to")}


def _write_recv(f: Fields) -> list[str]:
    return [_write_count(f), f"from={f['peer']}", _write_function(f)]


def _read_recv(tokens: Tokens) -> Fields:
    return {**_read_count(tokens), "peer": tokens.value("from"), **_read_function(tokens)}


def _write_tree(f: Fields) -> list[str]:
    """tensor_reduce and tensor_broadcast name the height of the step in the tree instead of a peer (manual, chapter
    9).
    """
    return [_write_count(f), f"height={f['height']}", _write_function(f)]


def _read_tree(tokens: Tokens) -> Fields:
    return {**_read_count(tokens), "height": tokens.value("height"), **_read_function(tokens)}


# --- the others ---


def _write_wait(f: Fields) -> list[str]:
    """tensor_wait; events beyond the table are no-ops of the machine, and written as numbers."""
    return [EVENTS[f["event"]] if f["event"] < len(EVENTS) else str(f["event"])]


def _read_wait(tokens: Tokens) -> Fields:
    found = tokens.take("|".join(EVENTS) + r"|\d+", f"an event: {', '.join(EVENTS)}")
    name = found[0].lower()
    return {"event": EVENTS.index(name) if name in EVENTS else int(name)}


def _write_number(f: Fields) -> list[str]:
    return [_hex(value) for value in f.values()]


def _read_number(tokens: Tokens) -> Fields:
    (field,) = BY_NAME[tokens.operation].fields
    return {field.name: tokens.resolve(tokens.take(r"-?\w+", "a number")[0])}


def _write_named(f: Fields) -> list[str]:
    return [f"{name}={value}" for name, value in f.items()]


def _read_named(tokens: Tokens) -> Fields:
    return {field.name: tokens.value(field.name, 0) for field in BY_NAME[tokens.operation].fields}


Writer = Callable[[Fields], list[str]]
Reader = Callable[[Tokens], Fields]
_FORMS: Final[Mapping[str, tuple[Writer, Reader]]] = {
    "tensor_load": (_write_load, _read_load),
    "tensor_load_b": (_write_load_b, _read_load_b),
    "tensor_load_l2": (_write_load_l2, _read_load_l2),
    "tensor_fma": (_write_fma, _read_fma),
    "tensor_quant": (_write_quant, _read_quant),
    "tensor_store": (_write_store, _read_store),
    "tensor_store_scp": (_write_store_scp, _read_store_scp),
    "tensor_send": (_write_send, _read_send),
    "tensor_recv": (_write_recv, _read_recv),
    "tensor_reduce": (_write_tree, _read_tree),
    "tensor_broadcast": (_write_tree, _read_tree),
    "tensor_wait": (_write_wait, _read_wait),
    "tensor_mask": (_write_number, _read_number),
    "tensor_error": (_write_number, _read_number),
    "tensor_coop": (_write_named, _read_named),
    "tensor_conv_size": (_write_named, _read_named),
    "tensor_conv_ctrl": (_write_named, _read_named),
}
_WRITERS: Final[Mapping[str, Writer]] = {name: writer for name, (writer, _) in _FORMS.items()}
_READERS: Final[Mapping[str, Reader]] = {name: reader for name, (_, reader) in _FORMS.items()}
