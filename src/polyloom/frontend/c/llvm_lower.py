# SPDX-License-Identifier: Apache-2.0
"""Lowering of one instruction of LLVM's text to instructions of `ir.ssa` (LLVM Language Reference Manual, "Instruction
Reference").

Address arithmetic becomes bytes; flags that only make more undefined (`inbounds`, `nneg`, `disjoint`, `samesign`,
fast-math flags) are left out, save `nsw`, `nuw` and `exact` of arithmetic. What is not supported raises `Unsupported`
with its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from polyloom.frontend.c import llvm_atomics, llvm_expand, llvm_overflow, llvm_widths
from polyloom.frontend.c.llvm_data import index_layout, legal_operand, operand, read_flags, ssa_name, typed_operand
from polyloom.frontend.c.llvm_text import (
    Layout,
    Model,
    Scalar,
    Sequence,
    Structure,
    Unsupported,
    Words,
    allocation_size,
)
from polyloom.frontend.c.preconditions import FAILED
from polyloom.ir.ssa import (
    ARITHMETIC,
    CASTS,
    EFFECTS,
    FLOATING,
    INDIRECT,
    INTRINSICS,
    NOWHERE,
    ORDERS,
    Access,
    Constant,
    Function,
    Instruction,
    Operand,
    Order,
    Place,
    Value,
    integer_constant,
)
from polyloom.ir.ssa_externals import External
from polyloom.ir.ssa_text import print_external
from polyloom.ir.ssa_types import I1, I32, I64, INTEGERS, PTR, Type

_NO_EFFECT: Final = ("lifetime.start", "lifetime.end", "assume", "experimental.noalias.scope.decl", "donothing")
# C's fmin and fmax are IEEE 754-2008's minNum and maxNum: a number wins against a NaN.
_LIBRARY: Final = {
    "fmin": "minnum",
    "fminf": "minnum",
    "fmax": "maxnum",
    "fmaxf": "maxnum",
    "fma": "fma",
    "fmaf": "fma",
    **llvm_expand.LIBRARY,
}
ASSERTION: Final = "this `assert`"
_IN_C: Final = {
    "stacksave": "an array whose size is known at run time only",
    "address": "a thread-local variable",
    "trap": "`__builtin_trap`",
    FAILED: ASSERTION,
}
"""What C has of instructions, and of intrinsics by their names or by what follows the first point in these."""
_SUFFIX = re.compile(r"(\.(?:[if]\d+|p\d+))+$")


@dataclass(slots=True)
class Lowering:
    """Lowering of a block. Mutable: the instructions of the block so far. `fresh` makes names that no value of the
    function has, `prototype` is that of a function of the file.

    `parts` are the results of external functions by the names of the integers as which C has them, for the whole
    function. At the places of `asserted`, `assert` says what is checked before a run.
    """

    model: Model
    fresh: Callable[[], str]
    prototype: Callable[[str], Function | None]
    externals: Mapping[str, External]
    parts: dict[str, Value]
    asserted: frozenset[Place] = frozenset()
    place: Place = NOWHERE
    made: list[Instruction] = field(default_factory=list[Instruction])

    @property
    def address(self) -> Type:
        return self.model.address

    def instruction(self, text: str) -> None:
        """Lowering of an instruction: `text` without metadata, no phi and no terminator."""
        words = Words(text, self.model)
        name = ssa_name(words.pop()) if words.peek().startswith("%") else ""
        if name:
            words.expect("=")
        # How a call is made says nothing about what it does.
        words.take("tail", "musttail", "notail")
        opcode = words.pop()
        match opcode:
            case _ if opcode in ARITHMETIC or opcode in FLOATING or opcode == "fneg":
                self._arithmetic(opcode, name, words)
            case "icmp" | "fcmp":
                self._compare(opcode, name, words)
            case _ if opcode in CASTS:
                self._cast(opcode, name, words)
            case _ if opcode in _OTHERS:
                _OTHERS[opcode](self, name, words)
            case _:
                raise Unsupported(_IN_C.get(opcode, f"LLVM's instruction `{opcode}`"))

    def emit(
        self,
        operation: str,
        operands: tuple[Operand, ...],
        name: str,
        type: Type,
        flags: tuple[str, ...] = (),
        access: Access | None = None,
        callee: str = "",
    ) -> Value:
        """Appends an instruction; gives its result, with a new name where it has none."""
        # A name for each intermediate step: SSA form has no nested expressions.
        result = Value(name or self.fresh(), type)
        self.made.append(Instruction(operation, operands, (result,), flags, access, callee, self.place))
        return result

    def effect(
        self, operation: str, operands: tuple[Operand, ...], access: Access | None = None, callee: str = ""
    ) -> None:
        """Appends an instruction without a result."""
        self.made.append(Instruction(operation, operands, (), (), access, callee, self.place))

    def _arithmetic(self, opcode: str, name: str, words: Words) -> None:
        kept = read_flags(words)
        type, width = words.legal_type()
        operands = _read_operands(words, type, 1 if opcode == "fneg" else 2, width)
        if width:
            llvm_widths.legalize_arithmetic(self, opcode, operands, name, width)
        else:
            self.emit(opcode, operands, name, type, kept if opcode in ARITHMETIC else ())

    def _compare(self, opcode: str, name: str, words: Words) -> None:
        read_flags(words)
        predicate = words.pop()
        type, width = words.legal_type()
        if type.lanes:
            raise Unsupported("a comparison of vectors")
        operands = _read_operands(words, type, 2, width)
        # Zeros stand above an odd width: equality and unsigned order need no change, signed order needs the sign.
        if width and predicate.startswith("s"):
            operands = tuple(llvm_widths.sign_extend(self, o, width) for o in operands)
        self.emit("f" * (opcode == "fcmp") + predicate, operands, name, I1)

    def _cast(self, opcode: str, name: str, words: Words) -> None:
        """Conversion instruction (LLVM Language Reference Manual, "Conversion Operations"), with pointers as the
        integer of their width, and odd widths left to `llvm_widths`.
        """
        is_positive = words.peek() == "nneg"
        read_flags(words)
        value, source = legal_operand(words)
        words.expect("to")
        target, width = words.legal_type()
        if is_positive and opcode == "zext" and (value.type, target) == (I32, I64) and not source:
            opcode = "sext"  # the same, and nothing to do where registers of 64 bits hold what is extended by its sign
        if source or width:
            llvm_widths.legalize_cast(self, opcode, value, source, target, width, name)
            return
        # A vector of an external function comes through an integer of C's, which is the vector again here.
        if (part := self._named_part(value)) is not None and opcode == "inttoptr":
            if part.type != target:
                raise Unsupported(f"{target} from a result of type {part.type}")
            self.emit("copy", (part,), name, target)
        elif opcode in ("ptrtoint", "inttoptr", "bitcast") and (value.type.lanes or target.lanes):
            raise Unsupported(f"`{opcode}` of a vector")
        elif opcode == "ptrtoint":
            self._resize(
                "zext",
                # Through the integer that is as wide as a pointer: SSA form has no other conversion of addresses.
                self.emit("ptrtoint", (value,), name if target == self.address else "", self.address),
                name,
                target,
            )
        elif opcode == "inttoptr":
            wide = value if value.type == self.address else self._resize("zext", value, "", self.address)
            self.emit("inttoptr", (wide,), name, target)
        # A bitcast of a pointer, or a resize that changes nothing.
        elif value.type == target:
            self.emit("copy", (value,), name, target)
        else:
            self.emit(opcode, (value,), name, target)

    def _resize(self, extension: str, value: Operand, name: str, target: Type) -> Operand:
        """An integer as one of another width; nothing is done where it has that width."""
        if value.type == target:
            return value
        # LLVM indexes with any width, and takes indices as signed.
        return self.emit("trunc" if target.bits < value.type.bits else extension, (value,), name, target)

    def _named_part(self, value: Operand) -> Value | None:
        return self.parts.get(value.name) if isinstance(value, Value) else None

    def select(self, name: str, words: Words) -> None:
        read_flags(words)
        condition = typed_operand(words)
        words.expect(",")
        then, _ = legal_operand(words)
        words.expect(",")
        self.emit("select", (condition, then, legal_operand(words)[0]), name, then.type)

    def freeze(self, name: str, words: Words) -> None:
        # An undefined value of this SSA form has one value in a run already: nothing is left to freeze.
        value, _ = legal_operand(words)
        self.emit("copy", (value,), name, value.type)

    def load(self, name: str, words: Words) -> None:
        atomic, volatile = bool(words.take("atomic")), bool(words.take("volatile"))
        type, width = words.legal_type()
        words.expect(",")
        address = _check_pointer(typed_operand(words))
        access = _read_access(words, atomic, volatile)
        if width:
            llvm_widths.load_odd_width(self, address, name, type, width, access)
        else:
            self.emit("load", (address,), name, type, access=access)

    def store(self, _: str, words: Words) -> None:
        atomic, volatile = bool(words.take("atomic")), bool(words.take("volatile"))
        value, width = legal_operand(words)
        words.expect(",")
        address = _check_pointer(typed_operand(words))
        access = _read_access(words, atomic, volatile)
        if width:
            llvm_widths.store_odd_width(self, value, address, width, access)
        else:
            self.effect("store", (value, address), access)

    def fence(self, _: str, words: Words) -> None:
        scope = words.take("syncscope")
        if scope:
            words.group()
        self.effect("fence", (), Access(order=_order(words.pop(), "fence")))

    def alloca(self, name: str, words: Words) -> None:
        layout = words.layout()
        size: Operand = integer_constant(self.address, allocation_size(layout))
        if words.take(",") and words.peek() != "align":
            count = self._resize("zext", typed_operand(words), "", self.address)
            # A variable length array: elements times their size, unsigned.
            size = self.emit("mul", (count, size), "", self.address)
            words.take(",")
        align = int(words.pop()) if words.take("align") else 1
        self.emit("alloca", (size,), name, PTR, access=Access(align))

    def getelementptr(self, name: str, words: Words) -> None:
        """Address arithmetic (LLVM Language Reference Manual, `getelementptr`): constant indices become one byte
        offset, each other index a scaled `offset`.
        """
        read_flags(words)
        layout: Layout = Sequence(1, words.layout())
        words.expect(",")
        address, constant = _check_pointer(typed_operand(words)), 0
        parts: list[Operand] = []
        while words.take(","):
            index = typed_operand(words)
            # The index 1 stands for an unknown one: the distance is then the element's size.
            layout, distance = index_layout(layout, index.value if isinstance(index, Constant) else 1)
            if isinstance(index, Constant):
                constant += distance
            else:
                parts.append(self._scale_index(index, distance))
        if constant or not parts:
            parts.append(integer_constant(self.address, constant))
        # Variable parts first: the constant last can become the displacement of a load.
        for part in parts[:-1]:
            address = self.emit("offset", (address, part), "", address.type)
        self.emit("offset", (address, parts[-1]), name, address.type)

    def _scale_index(self, index: Operand, scale: int) -> Operand:
        """index * scale in bytes, as wide as an address."""
        type = self.address
        index = self._resize("sext", index, "", type)
        if scale == 1:
            return index
        if scale & (scale - 1) == 0 and scale:
            return self.emit("shl", (index, integer_constant(type, scale.bit_length() - 1)), "", type)
        return self.emit("mul", (index, integer_constant(type, scale)), "", type)

    def modification(self, name: str, words: Words) -> None:
        llvm_atomics.read_modify_write(self, name, words)

    def exchange(self, name: str, words: Words) -> None:
        """Compare and swap, whose two results are kept as those of an external function are."""
        found, equal = llvm_atomics.compare_exchange(self, words)
        self.parts |= {f"{name}.0": found, f"{name}.1": equal}

    def extractvalue(self, name: str, words: Words) -> None:
        """Result of a function that has several: what C returns is a structure of them, or integers in their place."""
        words.layout()
        whole = ssa_name(words.pop())
        words.expect(",")
        part = self.parts.get(f"{whole}.{words.pop()}")
        if part is None:
            raise Unsupported("LLVM's instruction `extractvalue`")
        self.parts[name] = part
        if not part.type.lanes:
            self.emit("copy", (part,), name, part.type)

    def call(self, name: str, words: Words) -> None:
        """Call: of an intrinsic, a function of the file, an external function, C's library, or through a pointer.
        Raises `Unsupported`.
        """
        read_flags(words)
        returned = _result_layout(words)
        start = words.next
        while not words.peek().startswith(("@", "%", "asm")) and words.peek():
            words.skip()
        is_variadic = "..." in words.words[start : words.next]
        if (callee := words.pop()).startswith("%"):
            if is_variadic:
                raise Unsupported("a variable number of arguments")
            self._indirect_call(Value(ssa_name(callee), PTR), name, returned, words)
            return
        if not callee.startswith("@"):
            raise Unsupported("assembler" if callee == "asm" else f"a call of `{callee}`")
        known = (
            _SUFFIX.sub("", callee.removeprefix("@llvm."))
            if callee.startswith("@llvm.")
            else _LIBRARY.get(callee[1:], "")
        )
        # Hints to an optimizer, which has run already.
        if known in _NO_EFFECT:
            return
        if known in llvm_overflow.NAMES:
            found, overflows = llvm_overflow.overflow_arithmetic(self, known, _read_arguments(words))
            self.parts |= {f"{name}.0": found, f"{name}.1": self.emit("copy", (overflows,), "", I1)}
            return
        if known in ("scmp", "ucmp"):
            self._three_way_comparison(callee, name, _read_arguments(words))
            return
        # The file's own functions before C's library: a definition wins over a name (C17, section 7.1.3).
        if (function := self.prototype(callee[1:])) is not None:
            self._direct_call(function, name, _read_arguments(words))
            return
        if (external := self.externals.get(callee[1:])) is not None:
            self._external_call(external, name, returned, _read_arguments(words))
            return
        if known in llvm_expand.EXPANDED and isinstance(returned, Scalar):
            llvm_expand.expand_intrinsic(known, self.emit, _read_arguments(words), name, returned.type)
            return
        # A precondition is checked by the host before the run: no code is made for it.
        if callee[1:] == FAILED and self._is_precondition(_read_arguments(words)):
            return
        if known not in INTRINSICS and known not in EFFECTS:
            unknown = f"the intrinsic `{callee[1:]}`" if callee.startswith("@llvm.") else f"a call of `{callee[1:]}`"
            raise Unsupported(_IN_C.get(known.partition(".")[2] or known or callee[1:], unknown))
        self._intrinsic_call(known, name, _read_arguments(words))

    def _is_precondition(self, operands: list[Operand]) -> bool:
        """Whether an assertion that fails here is one of the function's own; what is inlined has the place of its call,
        but names its own line."""
        line = operands[2] if len(operands) == 4 else None
        return self.place in self.asserted and isinstance(line, Constant) and line.value == self.place.line

    def _indirect_call(self, pointer: Value, name: str, returned: Layout | None, words: Words) -> None:
        """A call through a pointer: what it gives, and the types of what it gets, are the function's."""
        if name and not isinstance(returned, Scalar):
            raise Unsupported("a structure or an array as a result")
        operands = (pointer, *_read_arguments(words))
        if isinstance(returned, Scalar):
            self.emit("call", operands, name, returned.type, callee=INDIRECT)
        else:
            self.effect("call", operands, callee=INDIRECT)

    def _direct_call(self, function: Function, name: str, operands: list[Operand]) -> None:
        # C without prototypes allows it, with undefined behaviour (C17, section 6.5.2.2, paragraph 9).
        if [o.type for o in operands] != [p.type for p in function.parameters] or (name == "") != (
            function.result is None
        ):
            raise Unsupported(f"a call of `{function.name}` with other types than it is defined with")
        if function.result is None:
            self.effect("call", tuple(operands), callee=f"@{function.name}")
        else:
            self.emit("call", tuple(operands), name, function.result, callee=f"@{function.name}")

    def _external_call(self, external: External, name: str, returned: Layout | None, operands: list[Operand]) -> None:
        """Call of an external function, whose several results come as one structure, or array, of as many."""
        given = (returned.type,) if isinstance(returned, Scalar) else ()
        count = (
            returned.count
            if isinstance(returned, Sequence)
            else len(returned.fields)
            if isinstance(returned, Structure)
            else len(given)
        )
        if (
            tuple(o.type for o in operands) != external.parameters
            or count != len(external.results)
            or given not in ((), external.results)
        ):
            declared = print_external(external).removeprefix("external ")
            raise Unsupported(
                f"a call of `{external.name}` with other types than the table of external functions has, `{declared}`,"
            )
        names = [name] if count == 1 else [f"{name}.{k}" for k in range(count)]
        results = tuple(Value(*pair) for pair in zip(names, external.results, strict=True))
        if count > 1:
            self.parts |= {value.name: value for value in results}
        self.made.append(Instruction("call", tuple(operands), results, callee=f"@{external.name}", place=self.place))

    def _three_way_comparison(self, callee: str, name: str, operands: list[Operand]) -> None:
        """Three-way comparison, `scmp` and `ucmp`: 1, 0 or -1, as the difference of two comparisons (Hacker's Delight,
        section 2-9).
        """
        _, kind, result, *_ = callee.split(".")
        type: Type | None = next((type for type in INTEGERS if str(type) == result), None)
        if type is None:
            raise Unsupported(f"the intrinsic `{callee[1:]}`")
        greater, less = (
            self.emit("zext", (self.emit(kind[0] + relation, tuple(operands), "", I1),), "", type)
            for relation in ("gt", "lt")
        )
        self.emit("sub", (greater, less), name, type)

    def _intrinsic_call(self, known: str, name: str, operands: list[Operand]) -> None:
        if known in EFFECTS:
            if operands.pop() != Constant(I1, 0):
                raise Unsupported(f"a volatile {known}")
            size = self._resize("zext", operands[2], "", self.address)
            self.effect("call", (_check_pointer(operands[0]), operands[1], size), callee=known)
            return
        # Further operands are immediate flags (`is_int_min_poison` of `abs`), which become a flag or nothing.
        count = INTRINSICS[known][0]
        kept = ("nsw",) if known == "abs" and operands[count:] == [Constant(I1, 1)] else ()
        self.emit("call", tuple(operands[:count]), name, operands[0].type, kept, callee=known)


_TYPED = re.compile(r"void|ptr|i\d+|half|bfloat|float|double|fp128|x86_fp80|[\[{<%].*")


def skip_to_type(words: Words) -> Words:
    """The words with attributes and a calling convention skipped, in front of a type."""
    while words.peek() and _TYPED.fullmatch(words.peek()) is None and not words.peek().startswith(("@", "asm")):
        words.skip()
    return words


def _result_layout(words: Words) -> Layout | None:
    """Result layout of a call, behind attributes and convention; None for nothing, and for what is no scalar."""
    start = skip_to_type(words).next
    try:
        return None if words.take("void") else words.layout()
    except Unsupported:
        words.next = start
        return None


def _check_pointer(operand: Operand) -> Operand:
    """An address, into whatever space."""
    if operand.type.element != "ptr" or operand.type.lanes:
        raise Unsupported(f"an access through a pointer that stands for {operand.type}")
    return operand


def _read_operands(words: Words, type: Type, count: int, width: int = 0) -> tuple[Operand, ...]:
    operands = [operand(words, type, width)]
    for _ in range(count - 1):
        words.expect(",")
        operands.append(operand(words, type, width))
    return tuple(operands)


def _read_arguments(words: Words) -> list[Operand]:
    """Arguments of a call: types, attributes and values."""
    words.expect("(")
    found: list[Operand] = []
    while not words.take(")"):
        type = words.scalar()
        while re.match(r"[a-z]", words.peek()) and words.peek() not in (
            "true",
            "false",
            "null",
            "undef",
            "poison",
            "getelementptr",
            "zeroinitializer",
        ):
            words.skip()
        found.append(operand(words, type))
        words.take(",")
    return found


def _read_access(words: Words, atomic: bool, volatile: bool) -> Access:
    if words.take("syncscope"):
        words.group()
    order = _order(words.pop(), "load", "store") if atomic else ""
    align = int(words.pop()) if words.take(",") and words.take("align") else 1
    return Access(align, volatile, order)


def _order(word: str, *operations: str) -> Order:
    found: Order | None = next(
        (order for operation in operations for order in ORDERS[operation] if order == word), None
    )
    if found is None:
        raise Unsupported(f"the order `{word}`")
    return found


_OTHERS: Final[dict[str, Callable[[Lowering, str, Words], None]]] = {
    "select": Lowering.select,
    "freeze": Lowering.freeze,
    "load": Lowering.load,
    "store": Lowering.store,
    "fence": Lowering.fence,
    "atomicrmw": Lowering.modification,
    "cmpxchg": Lowering.exchange,
    "alloca": Lowering.alloca,
    "getelementptr": Lowering.getelementptr,
    "call": Lowering.call,
    "extractvalue": Lowering.extractvalue,
}
