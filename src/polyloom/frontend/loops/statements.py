# SPDX-License-Identifier: Apache-2.0
"""Lowering of statements to the nodes of a nest.

Affine conditions become `If`, also those of conditional operators within an assignment, which is then written once for
each side: what only one side accesses is accessed nowhere else. Data-dependent conditions become selections
(`frontend.if_convert`; Allen, Kennedy, Porterfield and Warren 1983).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.affine_proofs import is_nonnegative, turn_count
from polyloom.frontend.convert import convert_value
from polyloom.frontend.if_convert import is_condition_inlined, merge_branches
from polyloom.frontend.loops import refusals
from polyloom.frontend.loops.affine import Scope, affine_condition, affine_form, affine_part, decide_test
from polyloom.frontend.loops.counters import (
    Course,
    assigned_product,
    assigned_symbol,
    assigned_value,
    changed_counters,
    count_uses,
    counted_while_header,
    find_course,
    is_dead_variable,
    known_value,
    propagate,
    propagate_loop,
    scope_after_loop,
    with_values,
)
from polyloom.frontend.loops.elements import array_reference, polynomial
from polyloom.frontend.loops.extent_text import affine_text, extent_texts
from polyloom.frontend.loops.final_values import final_values
from polyloom.frontend.loops.gathers import Gathers, nonzero_condition
from polyloom.frontend.loops.headers import Header, loop_header
from polyloom.frontend.loops.remainders import strip_size, undecided_parts
from polyloom.frontend.loops.roles import Roles
from polyloom.frontend.loops.substatements import flatten_blocks
from polyloom.frontend.loops.tree import Node, refusal
from polyloom.frontend.loops.types import COUNTING, SHORT, TYPES, element_type, is_pointer
from polyloom.frontend.loops.values import lower_binary, lower_truth, value
from polyloom.frontend.strip_mining import COPIES, Body, Interval, Parted, make_strips
from polyloom.ir.nest import Apply, Assign, Expression, If, Index, Loop, Storage, depends_on_symbols
from polyloom.ir.nest import Node as NestNode
from polyloom.ir.operations import INTEGERS, ElementType
from polyloom.ir.pla import Constant, Reference
from polyloom.names import fresh_name
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.normal_form import conjunction

Nodes = tuple[NestNode, ...]
Part = Callable[[Scope], Nodes]
"""Statements that are still to be compiled, in the scope where they stand."""


_ACTING = ("call", "update", "statements")


class Statements:
    """Lowering of one function's body. `storage` grows by the local variables as they are declared."""

    def __init__(
        self, roles: Roles, storage: Iterable[Storage], names: Iterable[str], *, indirect: bool = False
    ) -> None:
        self.roles = roles
        self.storage = {s.name: s for s in storage}
        self.parameters = frozenset(names)
        self.taken = {*self.parameters, *self.storage}
        self.temporaries, self.counted = set[str](), set[str]()
        self.uses = Counter[str]()
        self.gathers = Gathers(self.scalar) if indirect else None

    def block(self, nodes: Iterable[Node], scope: Scope) -> Nodes:
        """Lowering of a sequence of statements; declarations hold until the end of the block."""
        result, waiting = list[NestNode](), tuple(nodes)
        while waiting:
            node, waiting = waiting[0], waiting[1:]
            if node.kind == "declare":
                for n, declaration in enumerate(node.inner):
                    if declaration.symbol in self.roles.counters and declaration.initial:
                        others = replace(node, inner=node.inner[n + 1 :])
                        # What follows is lowered inside: it may be written once for each value of the counter.
                        return (*result, *self.counter(declaration, (others, *waiting), scope))
                    initial, scope = self.declare(declaration, scope)
                    result.extend(initial)
            elif self.changed_counters(node):
                if node.kind == "block" or self.is_single_turn(node, scope):
                    waiting = (*(node.inner if node.kind == "block" else node.inner[:1]), *waiting)
                elif assigned_symbol(node) or (
                    node.kind == "if" and affine_condition(node.inner[0], scope) is not None
                ):
                    return (*result, *self.split_paths(node, waiting, scope))
                elif (parted := self.parted_count(node, waiting, scope)) is not None:
                    return (*result, *parted)
                else:
                    found, behind = self.lower_counter_change(node, scope)
                    result.extend(found)
                    scope = final_values(node, scope, behind)
            else:
                result.extend(self.statement(node, scope))
                scope = final_values(node, scope, scope)
        return tuple(result)

    def changed_counters(self, node: Node) -> frozenset[str]:
        """The counters that a statement changes."""
        return changed_counters(node, self.roles.counters) if self.roles.counters else frozenset()

    def split_paths(self, node: Node, rest: tuple[Node, ...], scope: Scope) -> Nodes:
        """A statement after which counters have values that depend on affine conditions, and what follows it."""
        if assigned_symbol(node):
            return self.counter(node, rest, scope)
        body, *orelse = node.inner[1:]
        return self.branch(
            node.inner[0],
            lambda s: self.block((body, *rest), s),
            lambda s: self.block((*orelse, *rest), s),
            scope,
        )

    def counter(self, node: Node, rest: tuple[Node, ...], scope: Scope) -> Nodes:
        """A counter's declaration with its value, or its assignment, and what follows it."""
        declares = node.kind == "variable"
        name = node.symbol if declares else assigned_symbol(node)
        if declares and node.ctype in TYPES:
            scope = scope.bind_storage(node.name, name, self.local(node, scope))
            self.counted.add(scope.storage[name].name)

        def part(inside: Scope) -> Nodes:
            value = affine_form(node.inner[-1], inside) if declares else assigned_value(node, inside)
            stored = self.store_counter(node, name, value, inside)
            behind = with_values(inside, {name: value})
            # `row = i * n` is not affine, but `A[row + j]` is a subscript once the product is substituted.
            product = polynomial(node.inner[-1], inside) if declares else assigned_product(node, inside)
            if value is None and product is not None:
                behind = replace(behind, products={**behind.products, name: product})
            return (*stored, *self.block(rest, behind))

        return self.choose(node.inner[-1] if declares else node, part, scope)

    def parted_count(self, node: Node, rest: tuple[Node, ...], scope: Scope) -> Nodes | None:
        """A loop of whose number of turns a case decides, and what follows it, for every case: whether it has any, and
        if it counts by more than one, what is left of a parameter. None where that is known, or nothing uses it.
        """
        kinds = ("for", "while", "do")
        if (
            node.kind not in kinds
            or not self.changed_counters(node) & count_uses(rest).keys()
            or self.is_single_turn(node, scope)
        ):
            return None
        try:
            still = scope.drop_gathers()
            found = (
                loop_header(node, still)
                if node.kind == "for"
                else counted_while_header(_turns_loop(node), still, self.roles.counters)
            )
        except PolyloomError:
            return None
        if found is None or len(found.lengths()) != 1:
            return None
        (length,), size = found.lengths(), abs(found.step)
        # Not those of the loops around: a turn of theirs would be another branch.
        known = found.count(scope) is not None
        runs = node.kind != "do" or any(is_nonnegative(form, scope.domain) for form in (length - 1, -length))
        if (known and runs) or not length.symbols <= self.parameters.union(*self.symbol_groups(scope)):
            return None
        names = sorted(name for name, c in length.terms if c % size)
        if names and size <= COPIES and names[0] in self.parameters:
            parted = Parted(names[0], size, self.fresh(names[0]), self.fresh(names[0]), True)
            return parted.loops(self.with_rest((node, *rest), names[0], scope), node.span)
        if names:
            return None
        some = Condition((Polyhedron((length - 1,)),))
        return self.sides(some, node, lambda s: self.block((node, *rest), s), scope)

    @staticmethod
    def symbol_groups(scope: Scope) -> Iterable[frozenset[str]]:
        """The symbols that parameters are taken apart into."""
        return (form.symbols for form in scope.parted.values())

    def with_rest(self, nodes: tuple[Node, ...], parameter: str, scope: Scope) -> Body:
        """Lowering of statements where a parameter is a form."""
        return lambda form, where: self.block(nodes, with_parts(scope, parameter, form).restrict_domain(where))

    def store_counter(self, node: Node, name: str, form: Affine | None, scope: Scope) -> Nodes:
        """Store of a counter's value as data, for those who read it where its value is not known."""
        storage = scope.storage.get(name)
        if storage is None:
            return ()
        to = Reference(storage.name, (), node.span)
        if form is not None:
            return self.store(to, Index(form, storage.dtype, node.span), node)
        if node.kind == "variable":
            return self.store(to, value(node.inner[-1], storage.dtype, scope), node)
        return self.store(to, self.stored_value(node, array_reference(node.inner[0], scope), scope), node)

    def lower_counter_change(self, node: Node, scope: Scope) -> tuple[Nodes, Scope]:
        """A statement that changes counters, and what is known of them behind it."""
        if node.kind == "for":
            return self.loop(node, scope), propagate_loop(node, scope, self.roles.counters)
        if node.kind in ("while", "do"):
            return self.lower_while_loop(node, scope)
        return self.statement(node, scope), propagate((node,), scope, self.roles.counters)

    def lower_while_loop(self, node: Node, scope: Scope) -> tuple[Nodes, Scope]:
        """`while (i < n) { ... i++; }`: a loop over the counter that its condition compares. A `do` loop is one, too,
        where its first turn would pass the test; else that turn comes before it.
        """
        loop = _turns_loop(node)
        test, body = loop.inner
        found = counted_while_header(loop, scope, self.roles.counters)
        if found is None:
            raise refusals.refuse_statement(node)
        if node.kind == "do" and not all(is_nonnegative(length - 1, scope.domain) for length in found.lengths()):
            first, behind = self.lower_counter_change(body, scope)
            rest, behind = self.lower_while_loop(loop, behind)
            return (*first, *rest), behind
        return self.turns(found, body, loop, scope, test)

    def statement(self, node: Node, scope: Scope) -> Nodes:
        """Lowering of one statement; raises PL0156 for those that are neither loops nor branches nor assignments."""
        if (
            self.changed_counters(node)
            and (node.kind in ("while", "do") or assigned_symbol(node))
            and not self.is_single_turn(node, scope)
        ):
            return self.block((node,), scope)
        match node.kind:
            case "block":
                return self.block(node.inner, scope)
            case "for":
                return self.loop(node, scope)
            case "if":
                orelse = node.inner[2:]
                return self.branch(
                    node.inner[0],
                    lambda s: self.statement(node.inner[1], s),
                    lambda s: self.block(orelse, s),
                    scope,
                    private_variables(node, self.uses),
                )
            case "attributed":
                return self.statement(node.inner[-1], scope)
            case "declare":
                return self.block((node,), scope)
            case "nothing":
                return ()
            case "parentheses":
                return self.statement(node.inner[0], scope)
            # `do { ... } while (0)` is executed once, whatever is in it.
            case "do" if self.is_single_turn(node, scope):  # how macros enclose statements
                return self.statement(node.inner[0], scope)
            case "cast" if node.ctype == "void" and not any(
                n.kind in _ACTING or n.opcode in ("=", "++", "--") for n in node
            ):
                return ()
            case "binary" | "update" | "unary" if node.opcode in ("=", "++", "--") or node.kind == "update":
                return self.assignment(node, scope)
            case _:
                raise refusals.refuse_statement(node)

    @staticmethod
    def is_single_turn(node: Node, scope: Scope) -> bool:
        """Whether a statement is `do ... while (0)`."""
        return node.kind == "do" and affine_form(node.inner[1], scope) == Affine()

    def declare(self, declaration: Node, scope: Scope) -> tuple[Nodes, Scope]:
        """Declaration of a local variable: its initial value, and the scope in which its name has a meaning. Raises
        PL0153, PL0155, PL0161, PL0165.
        """
        if declaration.kind != "variable":
            return (), scope
        if declaration.storage in ("static", "extern"):
            raise refusal(
                "PL0165",
                f"`{declaration.name}` keeps its value between calls",
                declaration,
                f"make `{declaration.name}` a parameter",
            )
        # Loop variables are symbols, not storage: their `for` names them.
        if declaration.symbol in self.roles.loops:
            return (), scope
        initial = declaration.inner[-1] if declaration.initial else None
        form = (
            affine_form(initial, scope)
            if initial is not None
            and declaration.ctype in (*COUNTING, *SHORT)
            and declaration.symbol not in self.roles.assigned
            else None
        )
        if form is not None:
            return (), scope.bind_integer(declaration.name, declaration.symbol, form)
        product = polynomial(initial, scope) if initial is not None and declaration.ctype in COUNTING else None
        known = product is not None and declaration.symbol not in self.roles.assigned
        if known and declaration.ctype not in TYPES:
            # An offset of 64 bits, which is for subscripts alone.
            return (), replace(scope, products={**scope.products, declaration.symbol: product})
        storage = self.local(declaration, scope)
        if declaration.symbol in self.roles.counters:
            self.counted.add(storage.name)
        scope = scope.bind_storage(declaration.name, declaration.symbol, storage)
        if known:
            scope = replace(scope, products={**scope.products, declaration.symbol: product})
        if initial is None:
            return (), scope
        target = Reference(storage.name, (), declaration.span)
        return self.choose(
            initial, lambda s: self.store(target, value(initial, storage.dtype, s), declaration), scope
        ), scope

    def local(self, declaration: Node, scope: Scope) -> Storage:
        dtype = element_type(declaration)
        if is_pointer(declaration):
            raise refusal(
                "PL0161",
                f"`{declaration.name}` is a pointer, which may be another name of an array",
                declaration,
                "name the array itself",
            )
        parameters = {name for identity in self.roles.parameters for name in scope.symbols[identity].symbols}
        known = {name: form for name, form in scope.named.items() if form.symbols <= parameters}
        shape = [affine_text(text, known) for text in extent_texts(declaration.ctype)]
        if None in shape:
            raise refusal(
                "PL0155",
                f"an extent of `{declaration.name}` is not affine in the parameters",
                declaration,
                "use parameters and constants",
            )
        return self.keep(
            Storage(self.fresh(declaration.name), dtype, tuple(filter(None, shape)), "local", True, declaration.span)
        )

    def scalar(self, name: str, dtype: ElementType) -> str:
        """The name of a scalar that the text does not have."""
        return self.keep(Storage(self.fresh(name), dtype, (), "local")).name

    def take_gathered(self) -> Nodes:
        """Gathered nodes: what must be computed before what was read since the last call."""
        return () if self.gathers is None else self.gathers.take_nodes()

    def keep(self, storage: Storage) -> Storage:
        self.storage[storage.name] = storage
        return storage

    def fresh(self, name: str) -> str:
        """`name`, or `name_n` with the least n from 2 that is free."""
        return fresh_name(name, self.taken)

    def loop(self, node: Node, scope: Scope) -> Nodes:
        """Lowering of a `for`; raises PL0158, PL0159, PL0165."""
        found = loop_header(node, scope)
        if found.identity in scope.around:
            raise refusal(
                "PL0165",
                f"`{found.name}` counts two loops, one within the other",
                node.inner[0],
                "give the inner loop a variable of its own",
            )
        if found.identity in self.changed_counters(node.inner[4]):
            raise _refuse_loop_assignment(node.inner[4], found)
        return (*self.take_gathered(), *self.turns(found, node.inner[4], node, scope)[0])

    def turns(
        self, found: Header, body: Node, node: Node, scope: Scope, test: Node | None = None
    ) -> tuple[Nodes, Scope]:
        """Loop of a header, and what is known behind it; where divisions in its body ask for that, strip mined (Wolfe
        1996).
        """
        name = self.fresh(found.name)
        symbol, size = Affine.symbol(name), abs(found.step)
        if size > 1 and len(found.first) != 1:
            raise refusal("PL0158", f"a loop that counts by {size} begins at one of several values", node.inner[0])
        # A loop that counts by more than one counts its turns.
        value = symbol if size == 1 else found.first[0] + symbol * found.step
        lengths = found.lengths()
        counts = [turn_count(length, size) for length in lengths]
        upper = tuple(length if count is None else count for length, count in zip(lengths, counts, strict=True))
        counter = Interval(found.lower, found.upper, 1 if found.step > 0 else -1)
        counter = counter if size == 1 else Interval((Affine(),), upper, 1)
        inside = _loop_scope(scope, found, value).restrict_domain(
            conjunction(found.domain(value), counter.holds(symbol))
        )
        run = find_course((body,), found.count(scope), inside, self.roles.counters, test, found)
        turn = symbol if size > 1 else (symbol - found.first[0]) * found.step if len(found.first) == 1 else None

        parts = strip_size(body, name, inside)
        cut = None if parts is None else make_strips(counter, parts.size, scope.domain)
        if len(found.first) != 1 or cut is not None:
            # Strips have no first turns that could be peeled.
            run = replace(run, carried={}, depth=0)

        def turn_scope(form: Affine, where: Condition, around: Scope) -> Scope:
            """The scope in the body where the loop's counter is a form."""
            here = value.substitute({name: form})
            return _loop_scope(around, found, here).restrict_domain(conjunction(found.domain(here), where))

        def lower_form(form: Affine, inside: Scope) -> Nodes:
            made = self.block((body,), inside)
            # Whether a turn is left may depend on a remainder of a size: the turns beyond are empty.
            is_exact = size == 1 or None not in counts or not made
            return made if is_exact else (If(found.domain(value.substitute({name: form})), made, (), node.span),)

        def lower_turn(form: Affine, where: Condition) -> Nodes:
            """The body where the loop's counter is a form."""
            here = value.substitute({name: form})
            known = run.values_at_start(None if turn is None else turn.substitute({name: form}), here, scope)
            own = {n: v for n, v in known.items() if n != found.identity}
            return lower_form(form, with_values(turn_scope(form, where, scope), own))

        behind = scope_after_loop(found, run, scope)
        open_ = sorted(parts.open & self.parameters) if parts is not None and node.kind == "for" else []
        if parts is not None and open_:
            parted = Parted(open_[0], parts.parts, self.fresh(open_[0]), self.fresh(open_[0]))
            return parted.loops(self.with_rest((node,), open_[0], scope), node.span), behind
        if parts is not None and cut is not None:
            return cut.loops(self.fresh(found.name), None if parts.unrolls else name, lower_turn, node.span), behind
        peeled, counter = self.peel_turns(
            found, run, counter, scope, (lambda f, w, s: lower_form(f, turn_scope(f, w, s))), body
        )
        made = lower_turn(symbol, counter.holds(symbol))
        loop = Loop(name, counter.lower, counter.upper, made, counter.direction, node.span)
        return (*peeled, *((loop,) if made else ())), behind

    def peel_turns(
        self,
        found: Header,
        run: Course,
        counter: Interval,
        scope: Scope,
        lower_form: Callable[[Affine, Condition, Scope], Nodes],
        body: Node,
    ) -> tuple[Nodes, Interval]:
        """Loop peeling for wrap-around variables (Wolfe 1996): the first turns, in which these are not yet what later
        ones make them, and the interval of the others.
        """
        if not run.depth:
            return (), counter
        first = Affine() if abs(found.step) > 1 else found.first[0]
        start = run.values_at_start(Affine(), found.first[0], scope)
        if all(value is not None and value == known_value(scope, name) for name, value in start.items()):
            return (), counter
        made, current = list[NestNode](), scope
        for n in range(run.depth):
            form = first + n * counter.direction
            where = counter.holds(form)
            here = _loop_scope(current, found, found.first[0] + n * found.step).restrict_domain(where)
            made.append(If(where, lower_form(form, where, current), (), body.span))
            behind = propagate((body,), here, self.roles.counters)
            current = with_values(scope, {name: known_value(behind, name) for name in run.steps})
        rest = first + run.depth * counter.direction
        if counter.direction == 1:
            return tuple(made), replace(counter, lower=(rest,))
        return tuple(made), replace(counter, upper=(rest + 1,))

    def branch(self, test: Node, body: Part, orelse: Part, scope: Scope, own: frozenset[str] = frozenset()) -> Nodes:
        """Branch: `body` where `test` holds, else `orelse`; affine parts of the test become `If`, data-dependent ones
        selections.
        """
        outcome = decide_test(test, scope)
        if outcome is not None:
            return (body if outcome else orelse)(scope)
        part = affine_part(test, scope)
        if part is not None:
            return self.sides(part[1], part[0], lambda s: self.branch(test, body, orelse, s, own), scope)
        for decided, where in undecided_parts(test, scope):
            return self.sides(where, decided, lambda s: self.branch(test, body, orelse, s, own), scope)
        return self.selection(test, body, orelse, scope, own)

    def selection(self, test: Node, body: Part, orelse: Part, scope: Scope, own: frozenset[str]) -> Nodes:
        """If-conversion of a branch on data (Allen et al. 1983): both sides execute, and their results are selected."""
        found = lower_truth(test, scope)
        first_of_all = self.take_gathered()
        if isinstance(found, Constant):
            return (*first_of_all, *(body if found.value else orelse)(scope))
        before = set(self.storage)
        first, second = body(scope), orelse(scope)
        # What is used inside alone is not seen outside: it may be computed on both sides without a select.
        free = {*(set(self.storage) - before), *self.temporaries}
        free |= {scope.storage[name].name for name in own if name in scope.storage}
        indices = [s.name for s in self.storage.values() if s.role == "local"] if self.gathers is not None else ()
        # Where a side reads at an index that is data, it must not execute speculatively: a true branch remains.
        if indices and depends_on_symbols((*first, *second), indices):
            flag = Reference(self.scalar("test", "i32"), (), test.span)
            return (
                *first_of_all,
                *self.store(flag, found, test),
                If(nonzero_condition(flag), first, second, test.span),
            )
        if is_condition_inlined(first, second):
            return (*first_of_all, *merge_branches(found, first, second, self.dtype, free))
        name = self.fresh("test")
        self.keep(Storage(name, "i32", (), "local", True, test.span))
        self.temporaries.add(name)
        flag = Reference(name, (), test.span)
        return (*first_of_all, *self.store(flag, found, test), *merge_branches(flag, first, second, self.dtype, free))

    def dtype(self, name: str) -> ElementType:
        return self.storage[name].dtype

    def assignment(self, node: Node, scope: Scope) -> Nodes:
        """`=`, `op=`, `++` and `--` of an element or a scalar; raises PL0165 for loop variables and parameters."""
        left = node.inner[0]
        if left.kind == "name" and (left.symbol in scope.symbols or left.symbol in self.roles.loops):
            name = left.name
            kind = (
                "loop variable" if left.symbol in self.roles.loops else "parameter that bounds or subscripts depend on"
            )
            raise refusal("PL0165", f"`{name}` is a {kind} and is assigned", node, "use another variable")
        return self.choose(node, lambda s: self.lower_store(node, left, s), scope)

    def lower_store(self, node: Node, left: Node, scope: Scope) -> Nodes:
        """An assignment to an element or a scalar."""
        to = array_reference(left, scope)
        return self.store(to, self.stored_value(node, to, scope), node)

    def stored_value(self, node: Node, target: Reference, scope: Scope) -> Expression:
        """Value that an assignment stores, `op=` computed in the promoted type and converted back (C17, section
        6.5.16.2).
        """
        dtype = self.dtype(target.name)
        if node.opcode == "=":
            return value(node.inner[1], dtype, scope)
        if node.opcode in ("++", "--"):
            # `x++` as a statement: its value is not used, so that the order of reading and writing does not show.
            one = Constant(1 if dtype in INTEGERS else 1.0, dtype, node.span)
            if dtype != "bool":
                return Apply("add" if node.opcode == "++" else "sub", dtype, (target, one), node.span)
            # An addition in int, whose result becomes true where it is not 0 (C17 6.3.1.2).
            number, one = convert_value(target, dtype, "i32"), Constant(1, "i32")
            changed = Apply("add" if node.opcode == "++" else "sub", "i32", (number, one), node.span)
            return convert_value(changed, "i32", dtype, node.span)
        # C computes `a op= b` in the promoted type, and converts the result back (C17 6.5.16.2).
        types = node.types
        if types[0] not in TYPES or types[1] not in TYPES:
            raise refusals.refuse_width(replace(node, ctype=types[0] if types[0] not in TYPES else types[1]))
        before = convert_value(target, dtype, TYPES[types[0]], node.span)
        whole = replace(node, ctype=types[1], opcode=node.opcode.removesuffix("="))
        found, of = lower_binary(whole, (before, TYPES[types[0]]), node.inner[1], scope)
        return convert_value(found, of, dtype, node.span)

    def choose(self, expression: Node, part: Part, scope: Scope) -> Nodes:
        """`part`, once for each outcome of the affine conditions in `expression`: those of conditional operators, and
        those that decide a division."""
        for decided, where in undecided_parts(expression, scope):
            return self.sides(where, decided, lambda s: self.choose(expression, part, s), scope)
        return part(scope)

    def sides(self, where: Condition, decided: Node, part: Part, scope: Scope) -> Nodes:
        """`part` once where a condition holds and once where it does not."""
        body, orelse = part(scope.assume_outcome(where, True)), part(scope.assume_outcome(where, False))
        return (If(where, body, orelse, decided.span),) if body or orelse else ()

    def store(self, target: Reference, stored: Expression, node: Node) -> Nodes:
        # Gathered indices first: the assignment uses their scalars.
        return (*self.take_gathered(), Assign("", target, stored, node.span))


def _turns_loop(node: Node) -> Node:
    """A `do` as the loop of its later turns."""
    return node if node.kind == "while" else replace(node, kind="while", inner=node.inner[::-1])


def with_parts(scope: Scope, parameter: str, form: Affine) -> Scope:
    """The scope in which a parameter is a form of others."""
    to = {parameter: form}
    symbols = {name: form.substitute(to) for name, form in scope.symbols.items()}
    named = {name: form.substitute(to) for name, form in scope.named.items()}
    return replace(scope, symbols=symbols, named=named, parted={**scope.parted, **to})


def _loop_scope(scope: Scope, found: Header, value: Affine) -> Scope:
    """The scope in a loop whose variable has a value."""
    inside = scope.bind_integer(found.name, found.identity, value)
    return replace(inside, around=inside.around | {found.identity})


def _refuse_loop_assignment(body: Node, found: Header) -> PolyloomError:
    """The loop's variable is assigned within the loop."""
    where = next(part for part in body if assigned_symbol(part) == found.identity)
    return refusal("PL0165", f"`{found.name}` is a loop variable and is assigned", where, "use another variable")


def private_variables(node: Node, everywhere: Mapping[str, int]) -> frozenset[str]:
    """Privatizable variables of the branches of an `if`: those of the branches alone that are assigned before they are
    read.
    """
    sides = [flatten_blocks(side) for side in node.inner[1:]]
    inside = count_uses(part for side in sides for part in side)
    whole = {name for name, count in inside.items() if count == everywhere.get(name)}
    return frozenset(name for name in whole if all(is_dead_variable(name, side) for side in sides))
