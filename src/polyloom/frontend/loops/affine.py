# SPDX-License-Identifier: Apache-2.0
"""Affine forms of integer expressions over loops and parameters, and comparisons of them as conditions (Feautrier 1991:
static control programs).

Both answer None for an expression that is not affine: what that means depends on where it stands, and `obstacle` says
why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from polyloom.frontend.affine_proofs import floor_quotient, is_infeasible, is_nonnegative, truncated_quotient
from polyloom.frontend.loops.gathers import Gathers
from polyloom.frontend.loops.tree import Node, strip_casts
from polyloom.frontend.loops.types import COUNTING, NARROW, RANGE
from polyloom.ir.nest import Expression, Storage, negate
from polyloom.ir.operations import ElementType
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.normal_form import conjunction, normalize

COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
Monomial = tuple[str, ...]
"""The symbols of a product, sorted."""
Polynomial = Mapping[Monomial, int]
"""A sum of products."""


Gather = Callable[[Node, "Scope"], Affine | None]


@dataclass(frozen=True, slots=True)
class Scope:
    """Symbol table: what names stand for, by the identity of their declarations.

    `symbols`: loops, parameters and names of affine values; `storage`: arrays and scalars; `functions`: what can be
    expanded; `loops`: loop variables, also outside of their loops; `values`: the arguments of a function that is being
    expanded; `outcomes`: affine conditions that surrounding ones have decided; `domain`: where the text at hand
    executes; `named`: the integers of `symbols` by the names that they have at this place of the text, for the extents,
    of which clang gives the text; `defined`: the names of the functions that have a body, also in headers; `products`:
    variables whose values are sums of products, such as `row = i * n`; `around`: the variables of the loops around;
    `parted`: forms of parameters that loops around take apart; `gathers`: scalars that hold indices and bounds that are
    data, where these may be; `gather`: gives such an index a name; `counters`: variables that depend on no data.
    """

    symbols: Mapping[str, Affine]
    storage: Mapping[str, Storage]
    functions: Mapping[str, Node]
    loops: frozenset[str] = frozenset()
    values: Mapping[str, tuple[Expression, ElementType]] = field(
        default_factory=dict[str, tuple[Expression, ElementType]]
    )
    outcomes: Mapping[Condition, bool] = field(default_factory=dict[Condition, bool])
    domain: Condition = field(default_factory=Condition)
    named: Mapping[str, Affine] = field(default_factory=dict[str, Affine])
    defined: frozenset[str] = frozenset()
    products: Mapping[str, Polynomial] = field(default_factory=dict[str, "Polynomial"])
    around: frozenset[str] = frozenset()
    parted: Mapping[str, Affine] = field(default_factory=dict[str, Affine])
    gathers: Gathers | None = None
    gather: Gather | None = None
    counters: frozenset[str] = frozenset()

    def drop_gathers(self) -> Scope:
        """Scope without gathers, in which nothing is computed, so that an index that is data has no form."""
        return replace(self, gathers=None, gather=None)

    def bind_integer(self, name: str, identity: str, value: Affine) -> Scope:
        """Scope with a declaration of an integer called `name`."""
        return replace(self, symbols={**self.symbols, identity: value}, named={**self.named, name: value})

    def bind_storage(self, name: str, identity: str, storage: Storage) -> Scope:
        """Scope with a declaration of data called `name`, which hides an integer."""
        return replace(
            self, storage={**self.storage, identity: storage}, named={n: a for n, a in self.named.items() if n != name}
        )

    def restrict_domain(self, condition: Condition) -> Scope:
        return replace(self, domain=conjunction(self.domain, condition))

    def assume_outcome(self, where: Condition, outcome: bool) -> Scope:
        """Scope where an affine condition holds, or does not."""
        return replace(
            self.restrict_domain(where if outcome else negate(where)), outcomes={**self.outcomes, where: outcome}
        )

    def exclude_function(self, function: str) -> Scope:
        """Scope in which `function` is expanded, and so cannot be expanded again."""
        return replace(self, functions={key: node for key, node in self.functions.items() if node.name != function})


def affine_form(node: Node, scope: Scope) -> Affine | None:
    """Affine form of an integer expression; None where it is none (Feautrier 1991)."""
    match node.kind:
        case "integer" | "character":
            assert isinstance(node.value, int | str)
            return Affine((), int(node.value))
        case "name":
            return scope.symbols.get(node.symbol)
        case "size":
            assert isinstance(node.value, Affine)
            return node.value.substitute(scope.parted)
        # An integer of Python's that is data has its affine reading first, and its data second.
        case "exact":
            return affine_form(node.inner[0], scope)
        case "unary" if node.opcode in ("+", "-"):
            value = affine_form(node.inner[0], scope)
            return value if value is None or node.opcode == "+" else value_in_type(-value, node, scope)
        case "binary" if node.opcode in _ARITHMETIC:
            # The right operand first: that of a sum of n terms is one of them, and each part of the sum is asked for.
            b = affine_form(node.inner[1], scope)
            a = None if b is None else affine_form(node.inner[0], scope)
            value = None if a is None or b is None else _affine_binary(node.opcode, a, b, scope.domain)
            return value if value is None or node.opcode != "-" else value_in_type(value, node, scope)
        case "binary" if node.opcode in ("&", "<<", ">>"):
            return _power_of_two_form(node, scope)
        case "convert" | "cast" if node.opcode == "IntegralCast" and _preserves_value(node):
            value = affine_form(node.inner[0], scope)
            return None if value is None else value_in_type(value, node, scope)
        case "convert" | "cast" if node.opcode == "IntegralCast" and node.ctype in RANGE:
            value = affine_form(node.inner[0], scope)
            least, most = RANGE[node.ctype]
            fits = value is not None and is_nonnegative(value - least, scope.domain)
            return value if fits and value is not None and is_nonnegative(-value + most, scope.domain) else None
        case "choose":
            # A conditional that the loops decide is one of its arms: no branch remains.
            holds = _constant_outcome(node.inner[0], scope)
            return _agreed_arm(node, scope) if holds is None else affine_form(node.inner[1 if holds else 2], scope)
        case "operation" if node.opcode in ("min", "max"):
            a, b = (affine_form(child, scope) for child in node.inner)
            return None if a is None or b is None else _decided_extreme(a, b, node.opcode == "min", scope.domain)
        case _:
            return None


_ARITHMETIC = ("+", "-", "*", "/", "%", "//", "mod")
"""`/` and `%` round towards zero (C17 6.5.5), `//` and `mod` down."""
DIVISIONS = (*_ARITHMETIC[3:], ">>", "&")
"""Quotients and remainders, of powers of two also by shift and mask."""


def _agreed_arm(node: Node, scope: Scope) -> Affine | None:
    """The arm of a conditional that equals the other one wherever that is chosen: `x > 0 ? x : 0` of an x that is not
    negative is x."""
    where = affine_condition(node.inner[0], scope)
    arms = [affine_form(arm, scope) for arm in node.inner[1:]]
    if where is None or arms[0] is None or arms[1] is None:
        return None
    more, less = arms[0] - arms[1] - 1, arms[1] - arms[0] - 1
    for arm, other in ((arms[0], negate(where)), (arms[1], where)):
        differ = [Polyhedron((*p.constraints, form)) for p in other.pieces for form in (more, less)]
        if all(is_infeasible(piece, scope.domain) for piece in differ):
            return arm
    return None


def _constant_outcome(test: Node, scope: Scope) -> bool | None:
    """Whether a test holds everywhere, or nowhere."""
    where = affine_condition(test, scope)
    if where is None:
        return None
    known = scope.outcomes.get(where)
    if known is not None:
        return known
    if all(is_infeasible(piece, scope.domain) for piece in where.pieces):
        return False
    return True if all(is_infeasible(piece, scope.domain) for piece in negate(where).pieces) else None


def _decided_extreme(a: Affine, b: Affine, least: bool, domain: Condition) -> Affine | None:
    """Minimum or maximum of two forms, where that is the same one everywhere."""
    if is_nonnegative(b - a, domain):
        return a if least else b
    return (b if least else a) if is_nonnegative(a - b, domain) else None


def _affine_binary(opcode: str, a: Affine, b: Affine, domain: Condition) -> Affine | None:
    """Affine form of an arithmetic operation; a product needs a constant factor, a quotient one that loops decide."""
    match opcode:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*" if a.is_constant or b.is_constant:
            return b * a.constant if a.is_constant else a * b.constant
        case "/" | "%" if a.is_constant and b.is_constant and b.constant:
            # Towards zero: Python's `//` rounds down (C17, section 6.5.5, paragraph 6).
            found = abs(a.constant) // abs(b.constant) * (1 if (a.constant < 0) == (b.constant < 0) else -1)
            return Affine((), found if opcode == "/" else a.constant - found * b.constant)
        case "//" | "mod" if a.is_constant and b.is_constant and b.constant:
            return Affine((), a.constant // b.constant if opcode == "//" else a.constant % b.constant)
        case "/" | "%" | "//" | "mod" if not b.is_constant or b.constant > 0:
            both = (truncated_quotient if opcode in ("/", "%") else floor_quotient)(a, b, domain)
            return None if both is None else both[opcode in ("%", "mod")]
        case _:
            return None


def _power_of_two_form(node: Node, scope: Scope) -> Affine | None:
    """Shifts and masks of what is not negative: `i & 7`, `i >> 3` and `i << 3` as remainder, quotient and product
    (Hacker's Delight, section 10-1).
    """
    a, b = (affine_form(child, scope) for child in node.inner)
    if a is None or b is None or not b.is_constant or b.constant < 0 or not is_nonnegative(a, scope.domain):
        return None
    if node.opcode == "&":
        # Only a mask of ones from bit 0 is a remainder.
        both = None if b.constant & b.constant + 1 else truncated_quotient(a, Affine((), b.constant + 1), scope.domain)
        return None if both is None else both[1]
    # Beyond `int`: such a shift is undefined in C (C17, section 6.5.7).
    if b.constant > 30:
        return None
    if node.opcode == "<<":
        return a * (1 << b.constant)
    both = truncated_quotient(a, Affine((), 1 << b.constant), scope.domain)
    return None if both is None else both[0]


def _preserves_value(cast: Node) -> bool:
    """Whether a conversion of integers keeps values that are not negative."""
    known = (*COUNTING, *NARROW)
    source = cast.inner[0].ctype
    return source in known and (cast.ctype in COUNTING or (cast.ctype in NARROW and _is_wider(cast.ctype, source)))


def _is_wider(to: str, source: str) -> bool:
    order = {"_Bool": 0, "unsigned char": 1, "char": 1, "signed char": 1, "unsigned short": 2, "short": 2}
    return source in order and (to == source or order[to] > order[source])


def value_in_type(value: Affine, node: Node, scope: Scope) -> Affine | None:
    """Value of an affine form in the type of an expression, None where it may wrap: below 0 an unsigned one does (C17,
    section 6.2.5, paragraph 9).
    """
    return value if not node.ctype.startswith("unsigned") or is_nonnegative(value, scope.domain) else None


def affine_condition(node: Node, scope: Scope) -> Condition | None:
    """Affine condition: where an expression of affine comparisons holds, as a union of polyhedra; None where it is
    none.
    """
    match node.kind:
        case "binary" if node.opcode in COMPARISONS:
            a, b = (affine_form(child, scope) for child in node.inner)
            return None if a is None or b is None else normalize(_relation_pieces(node.opcode, a - b))
        case "binary" if node.opcode in ("&&", "||"):
            left, right = (affine_condition(child, scope) for child in node.inner)
            if left is None or right is None:
                return None
            return (
                conjunction(left, right) if node.opcode == "&&" else normalize(Condition((*left.pieces, *right.pieces)))
            )
        case "unary" if node.opcode == "!":
            inner = affine_condition(node.inner[0], scope)
            return None if inner is None else normalize(negate(inner))
        case "convert" if node.opcode == "IntegralToBoolean":
            return affine_condition(node.inner[0], scope)
        case _:
            value = affine_form(node, scope)
            return None if value is None else normalize(_relation_pieces("!=", value))


def _relation_pieces(opcode: str, difference: Affine) -> Condition:
    """Condition of a comparison: where `difference opcode 0`."""
    # Over the integers a > b is a - b - 1 >= 0: strict comparisons become closed.
    above, below = difference + -1, -difference + -1
    pieces = {
        "<": ((below,),),
        "<=": ((-difference,),),
        ">": ((above,),),
        ">=": ((difference,),),
        "==": ((difference, -difference),),
        "!=": ((above,), (below,)),
    }
    return Condition(tuple(Polyhedron(piece) for piece in pieces[opcode]))


def decide_test(test: Node, scope: Scope) -> bool | None:
    """Static outcome of a test: True or False, or None where that depends on data or on loops."""
    where = affine_condition(test, scope)
    if where is not None:
        return scope.outcomes.get(where, _trivial_outcome(where))
    if test.opcode in ("&&", "||"):
        parts = [decide_test(part, scope) for part in test.inner]
        # One operand may decide alone: True for `||`, False for `&&`.
        absorbing = test.opcode == "||"
        if absorbing in parts:
            return absorbing
        return None if None in parts else not absorbing
    inner = decide_test(test.inner[0], scope) if _negates(test) else None
    return None if inner is None else not inner


def _negates(test: Node) -> bool:
    return test.kind == "unary" and test.opcode == "!"


def _trivial_outcome(where: Condition) -> bool | None:
    """Whether a condition holds always or never, as far as its form shows."""
    if not where.pieces:
        return False
    return True if any(not piece.constraints for piece in where.pieces) else None


def affine_part(test: Node, scope: Scope) -> tuple[Node, Condition] | None:
    """The first affine part of a test whose outcome is not known, as large as possible."""
    if decide_test(test, scope) is not None:
        return None
    where = affine_condition(test, scope)
    if where is not None:
        return test, where
    parts = test.inner if test.opcode in ("&&", "||") or _negates(test) else ()
    return next((found for part in parts if (found := affine_part(part, scope)) is not None), None)


def callee_name(call: Node) -> str:
    """The name of the called function, "" where it is computed."""
    function = strip_casts(call.inner[0])
    return function.name if function.kind == "name" else ""
