# SPDX-License-Identifier: Apache-2.0
"""isl bridge: `Condition` to and from isl sets, for questions about all integer points at once.

isl decides emptiness, coverage and bounds for all parameter values (Presburger arithmetic: Verdoolaege, "isl: An
integer set library for the polyhedral model", ICMS 2010). It is slow and stays off the run-time path. Dimensions and
parameters keep their names on both sides; a set that needs existentially quantified variables (a stride) has no
`Condition`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import islpy as isl

from polyloom.diagnostics import input_error
from polyloom.names import hidden_dims, hidden_name
from polyloom.sets.affine import Affine, Condition, Polyhedron


def space(dims: Sequence[str], params: Sequence[str]) -> isl.Space:
    """Space of the integer points named by `dims`, with `params` as parameters."""
    return isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=list(dims), params=list(params))


def to_set(condition: Condition, dims: Sequence[str], params: Sequence[str]) -> isl.Set:
    """Integer set of a condition; its symbols must be among `dims` and `params`."""
    result = isl.Set.empty(space(dims, params))
    for piece in condition.pieces:
        result = result.union(polyhedron_to_set(piece, dims, params))
    return result


def polyhedron_to_set(polyhedron: Polyhedron, dims: Sequence[str], params: Sequence[str]) -> isl.Set:
    """Integer set of a polyhedron: the points where every constraint is >= 0."""
    return _polyhedron_points(polyhedron, tuple(dims), tuple(params))


# Sets are values: passes ask for the same conditions again and again, and rewrites keep most of them.
@lru_cache(maxsize=2048)
def _polyhedron_points(polyhedron: Polyhedron, dims: tuple[str, ...], params: tuple[str, ...]) -> isl.Set:
    positions = {name: (isl.dim_type.param, n) for n, name in enumerate(params)} | {
        name: (isl.dim_type.set, n) for n, name in enumerate(dims)
    }
    points = isl.BasicSet.universe(space(dims, params))
    local = isl.LocalSpace.from_space(points.get_space())
    for affine in polyhedron.constraints:
        # By text, because isl's integers have any size and its C interface for Python's has 64 bits.
        constraint = isl.Constraint.alloc_inequality(local).set_constant_val(isl.Val(str(affine.constant)))
        for name, value in affine.terms:
            kind, position = positions[name]
            constraint = constraint.set_coefficient_val(kind, position, isl.Val(str(value)))
        points = points.add_constraint(constraint)
    return isl.Set.from_basic_set(points)


def from_set(points: isl.Set, context: isl.Set | None = None) -> Condition:
    """Condition that holds exactly on `points` (within `context`, if given), with few pieces, in a fixed order.

    Raises PL0201 when the set has a stride, which affine inequalities cannot express.
    """
    if context is not None:
        # Gist drops what the context implies, so that conditions do not repeat the iteration space.
        points = points.gist(context)
    # isl's own order of basic sets depends on how a set came about; sorted pieces make equal sets equal values.
    pieces = {Polyhedron(tuple(_inequalities(piece))) for piece in points.coalesce().get_basic_sets()}
    return Condition(tuple(sorted(pieces, key=lambda p: tuple((c.terms, c.constant) for c in p.constraints))))


def translate(points: isl.Set, distance: Sequence[int]) -> isl.Set:
    """Translate a set: the points I such that I - distance is in `points`."""
    identity = isl.MultiAff.identity(points.get_space().map_from_set())
    shift = identity
    for m, d in enumerate(distance):
        # A preimage: I is in the result where I - d is in `points`.
        shift = shift.set_aff(m, identity.get_aff(m).add_constant_val(isl.Val(-d)))
    return points.preimage_multi_aff(shift)


def affine_map(values: Sequence[Affine], dims: Sequence[str], params: Sequence[str]) -> isl.MultiAff:
    """Affine map from the point named by `dims` to `values`."""
    # isl wants names of all dimensions; no parameter has such a name.
    target = list(hidden_dims(len(values)))
    made = isl.MultiAff.zero(
        isl.Space.create_from_names(isl.DEFAULT_CONTEXT, in_=list(dims), out=target, params=list(params))
    )
    local = isl.LocalSpace.from_space(space(dims, params))
    positions = {name: (isl.dim_type.param, n) for n, name in enumerate(params)} | {
        name: (isl.dim_type.in_, n) for n, name in enumerate(dims)
    }
    for row, value in enumerate(values):
        aff = isl.Aff.zero_on_domain(local).set_constant_val(isl.Val(str(value.constant)))
        for name, factor in value.terms:
            aff = aff.set_coefficient_val(*positions[name], isl.Val(str(factor)))
        made = made.set_aff(row, aff)
    return made


def affines(values: isl.MultiAff, dims: Sequence[str]) -> tuple[Affine, ...] | None:
    """Affine forms of a map, its domain named by `dims`; None if a value needs a quotient."""
    found = [values.get_aff(n) for n in range(values.dim(isl.dim_type.out))]
    if any(not a.get_denominator_val().is_one() or any(_divisions(a)) for a in found):
        return None
    return tuple(
        linear_form(a)
        + Affine.from_terms({d: integer(a.get_coefficient_val(isl.dim_type.in_, n)) for n, d in enumerate(dims)})
        for a in found
    )


def _divisions(aff: isl.Aff) -> list[int]:
    return [integer(aff.get_coefficient_val(isl.dim_type.div, n)) for n in range(aff.dim(isl.dim_type.div))]


def is_empty(points: isl.Set) -> bool:
    """Emptiness: whether there is no point for any parameter value."""
    return points.is_empty()


def parameter_set(assumptions: Condition, params: Sequence[str]) -> isl.Set:
    """Parameter values that satisfy `assumptions`, as a set of parameters without dimensions."""
    return to_set(assumptions, (), params).params()


def sample(points: isl.Set) -> dict[str, int] | None:
    """Sample point, parameters first minimized where they are bounded below, or None when the set is empty."""
    flat = _flatten_parameters(points)
    for position in range(flat.dim(isl.dim_type.set)):
        # isl's minimum can be too small in the presence of an empty piece; minimizing only makes the point nicer
        least = flat.dim_min_val(position)
        fixed = flat.fix_val(isl.dim_type.set, position, least) if least.is_int() else flat
        flat = flat if fixed.is_empty() else fixed
    return _point(flat)


def sample_point(points: isl.Set) -> dict[str, int] | None:
    """Sample point, parameters and coordinates, of no particular choice; None when the set is empty."""
    return _point(_flatten_parameters(points))


def _flatten_parameters(points: isl.Set) -> isl.Set:
    """Parameters as dimensions before the others, so that the counterexample in a message has the least sizes, then the
    least iteration."""
    params = points.dim(isl.dim_type.param)
    flat = isl.Set.from_params(points) if points.is_params() else points
    return flat.move_dims(isl.dim_type.set, 0, isl.dim_type.param, 0, params)


def _point(flat: isl.Set) -> dict[str, int] | None:
    point = flat.sample_point()
    names = [flat.get_dim_name(isl.dim_type.set, n) or hidden_name(n) for n in range(flat.dim(isl.dim_type.set))]
    return (
        None
        if point.is_void()
        else {name: integer(point.get_coordinate_val(isl.dim_type.set, n)) for n, name in enumerate(names)}
    )


def linear_form(aff: isl.Aff) -> Affine:
    """Linear form: the parameters and the constant of `aff`, whose coefficients are integers."""
    names = [aff.get_dim_name(isl.dim_type.param, n) or "" for n in range(aff.dim(isl.dim_type.param))]
    values = {name: integer(aff.get_coefficient_val(isl.dim_type.param, n)) for n, name in enumerate(names)}
    return Affine.from_terms(values, integer(aff.get_constant_val()))


def _inequalities(piece: isl.BasicSet) -> list[Affine]:
    """Inequalities of a basic set, sorted; an equality gives two. Error PL0201 for a stride."""
    if piece.dim(isl.dim_type.div):
        # Divisions that equalities determine go away here; what is left over is a real stride.
        piece = piece.detect_equalities().remove_redundancies()
    if piece.dim(isl.dim_type.div):
        raise stride_error(str(piece))
    found: set[Affine] = set()
    for constraint in piece.get_constraints():
        affine = _constraint(constraint)
        found.add(affine)
        if constraint.is_equality():
            found.add(-affine)
    return sorted(found, key=lambda a: (a.terms, a.constant))


def _constraint(constraint: isl.Constraint) -> Affine:
    values: dict[str, int] = {}
    for kind in (isl.dim_type.param, isl.dim_type.set):
        for n in range(constraint.dim(kind)):
            values[constraint.get_dim_name(kind, n) or ""] = integer(constraint.get_coefficient_val(kind, n))
    return Affine.from_terms(values, integer(constraint.get_constant_val()))


def integer(value: isl.Val) -> int:
    """Integer of an isl value, of any size."""
    if value.is_int() and value.cmp_si(small := value.get_num_si()) == 0:
        return small
    return int(str(value))


def stride_error(text: str) -> Exception:
    """Error PL0201, for a set or a function that affine inequalities cannot express."""
    return input_error(
        "PL0201",
        f"the set {text} needs a quotient or a remainder that affine inequalities cannot express",
        help="write conditions with unit coefficients, or split the loop so that no dimension is strided",
    )
