# SPDX-License-Identifier: Apache-2.0
"""Inputs of a run: values of parameters and scalars, arrays; checked against a signature, or made up from a seed.

What is made up depends on the seed and on the argument's name, type and shape alone, so that one seed gives the same
arrays on every target, whatever else a program takes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import prod
from operator import index
from types import MappingProxyType
from typing import Any, Final, Literal, SupportsIndex

import numpy as np
import numpy.typing as npt

from polyloom import memory
from polyloom.diagnostics import PolyloomError, input_error
from polyloom.ir.arguments import PARAMETER_LIMIT, quote, verb
from polyloom.ir.numbers import to_single_precision
from polyloom.ir.pla_text import print_condition
from polyloom.ir.signature import Argument, Dtype, Signature
from polyloom.sets.normal_form import fixed_symbols
from polyloom.targets.entry import entries
from polyloom.targets.options import integer

Array = npt.NDArray[Any]
Fill = Literal["random"]
"""What may be asked for in place of arrays that are missing."""
Hidden = Callable[[Mapping[str, int]], frozenset[str]]
"""For values of the parameters: the arrays whose elements at entry show nowhere, although they are inputs."""
Range = tuple[int, int]
Ranges = Callable[[Mapping[str, int]], Mapping[str, Range]]
"""For values of scalars: the least and the greatest value of inputs that are used as indices."""
_COPIES: Final = 6
"""As many copies of an array are made, for each that a run is compared with."""


def read_values(signature: Signature, given: Mapping[str, Any]) -> tuple[dict[str, int], dict[str, Array]]:
    """Values of the parameters that must be given, in their order, and of the scalars that are; texts are read. Errors:
    PL0230, PL0232, PL0804, PL0819."""
    known = {a.name: a for a in (*signature.inputs, *signature.unread)}
    _check_names(signature, given, {*known, *signature.sizes})
    sizes = {n: _read_size(n, v) for n, v in given.items() if n in signature.sizes}
    return _check_sizes(signature, sizes), read_scalars(signature, {n: v for n, v in given.items() if n in known})


def read_sizes(signature: Signature, given: Mapping[str, Any]) -> dict[str, int]:
    """Values of the parameters alone, in their order. Errors: PL0230, PL0804."""
    _check_names(signature, given, signature.sizes)
    return read_values(signature, given)[0]


def _check_names(signature: Signature, given: Mapping[str, Any], known: Collection[str]) -> None:
    for name, value in given.items():
        if name not in known:
            raise _parameter_error(
                f"`{signature.name}` has no parameter `{name}`", _suggest_place(signature, name, value)
            )


def read_scalars(signature: Signature, given: Mapping[str, Any]) -> dict[str, Array]:
    """Scalars that are given, as arrays of rank 0; texts are read. Errors: PL0231, PL0232, PL0819."""
    known = {a.name: a for a in (*signature.inputs, *signature.unread)}
    for name in given:
        if name not in known:
            raise _unknown_input_error(signature, name)
    return {name: read_scalar(known[name], value) for name, value in given.items()}


def _unknown_input_error(signature: Signature, name: str) -> PolyloomError:
    names = ", ".join(a.name for a in signature.inputs)
    return input_error("PL0231", f"`{signature.name}` has no input `{name}`", help=f"its inputs are {names or 'none'}")


def _suggest_place(signature: Signature, name: str, value: object) -> str:
    """Help for a value that there is no parameter for: places are named otherwise."""
    head = str(value).partition(":")[0]
    return (
        f"write `--on {value}`" if name in ("on", "target", "machine") and head in entries() else f"it is {signature}"
    )


def _read_size(name: str, value: Any) -> int:
    """Size as an integer; PL0230, PL0804."""
    if isinstance(value, str):
        return integer(value, f"the parameter {name}")
    # NumPy's integers are taken as well: all that `operator.index` takes, but bools.
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise _parameter_error(f"`{name}` = {value!r} is not an integer", f"give an integer, as in `{name}=16`")
    return index(value)


def _check_sizes(signature: Signature, sizes: Mapping[str, int]) -> dict[str, int]:
    """Check sizes: nothing missing, out of range or outside the domain; in the signature's order. One that the domain
    fixes may be left out. Error PL0230.
    """
    sizes = {**fixed_symbols(signature.assumptions), **sizes}
    if missing := [name for name in signature.sizes if name not in sizes]:
        has = "has no value" if len(missing) == 1 else "have no values"
        example = f"give every one, as in `{missing[0]}=16`: {signature}"
        raise _parameter_error(f"the {quote('parameter', missing)} {has}", example)
    found = {name: sizes[name] for name in signature.sizes}
    for name, value in found.items():
        if signature.argument(name) is None and not 0 <= value < PARAMETER_LIMIT:
            raise _parameter_error(f"`{name}` = {value} is out of range", "give a value from 0 to 2147483647")
    if not signature.assumptions.contains(found):
        shown = ", ".join(f"{n} = {v}" for n, v in found.items())
        domain = print_condition(signature.assumptions, signature.sizes)
        message = f"{shown} is outside the domain of `{signature.name}`"
        raise _parameter_error(message, f"the parameters must satisfy {domain}")
    return found


def read_scalar(argument: Argument, value: Any) -> Array:
    """Scalar input of a number, or of the text of one, floats rounded to nearest. Errors: PL0232 where its type does
    not hold it, PL0819."""
    if not argument.is_scalar:
        return _as_array(argument, value)
    # A NumPy value has a type of its own, which is compared with the declared one, not converted.
    if hasattr(value, "dtype"):
        return np.asarray(value)
    number = _parse_number(argument, value) if isinstance(value, str) else value
    kind = argument.dtype.kind
    if kind == "f" and isinstance(number, int | float) and not isinstance(number, bool):
        return _nearest_float(argument, number)
    least, most = _type_range(argument.dtype) if kind in "biu" else (0, -1)
    if isinstance(number, int) and (kind == "b" or not isinstance(number, bool)) and least <= number <= most:
        return np.array(number, argument.dtype)
    message = (
        f"the scalar `{argument.name}` has the type {argument.type_name}, which does not hold {_value_text(value)}"
    )
    raise input_error(
        "PL0232", message, help="give a number" if kind == "f" else f"give a number from {least} to {most}"
    )


def _as_array(argument: Argument, value: Any) -> Array:
    if isinstance(value, str):
        name = argument.name
        message = f"{name} is an array, '{value[:40]}' is one value"
        raise input_error("PL0819", message, help=f"give it as a file: --in {name}={name}.npy")
    return np.asarray(value)


def _parse_number(argument: Argument, text: str) -> int | float:
    """Number of a text, in decimal or hexadecimal; PL0819."""
    is_float = argument.dtype.kind == "f"
    try:
        # A base of its own: `int(text, 0)` refuses leading zeros.
        return float(text) if is_float else int(text, 16 if text[:3].lower().lstrip("+-").startswith("0x") else 10)
    except ValueError:
        message = f"the scalar {argument.name} is '{text[:40]}', which is no value of type {argument.type_name}"
        example = f"write for instance {argument.name}={'1.5' if is_float else '3'}"
        raise input_error("PL0819", message, help=example) from None


def _nearest_float(argument: Argument, number: int | float) -> Array:
    """Float rounded once to the argument's type; a finite number beyond the type's range is refused, infinities are
    not."""
    try:
        # From the number itself: by way of a double it would be rounded twice (IEEE 754).
        rounded = to_single_precision(number) if argument.dtype.itemsize == 4 else float(number)
    except OverflowError:
        rounded = None
    if rounded is None:
        message = (
            f"the scalar `{argument.name}` has the type {argument.type_name}, which does not hold {_value_text(number)}"
        )
        raise input_error("PL0232", message, help="give a number that fits the type")
    return np.array(rounded, argument.dtype)


def _value_text(value: object) -> str:
    return (value if isinstance(value, str) else repr(value))[:40]


def _type_range(dtype: Dtype) -> tuple[int, int]:
    return (0, 1) if dtype.kind == "b" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))


def complete_inputs(
    signature: Signature,
    sizes: Mapping[str, int],
    given: Mapping[str, Any],
    *,
    seed: int = 0,
    is_known: bool = True,
    fill: Fill | None = None,
    hidden: Hidden | None = None,
    ranges: Ranges | None = None,
    data: Mapping[str, Array] = MappingProxyType({}),
) -> dict[str, Array]:
    """Complete inputs: those that are given or that the source brings as `data`, checked, and others made up from
    `seed`: scalars always, arrays where none is given or `fill` is "random"; what is used as an index within `ranges`.
    Of a program whose source is not known, nothing is made up unless `fill` asks for it. Errors: PL0230 to PL0232,
    PL0605, PL0804, PL0820."""
    if fill not in (None, "random"):
        raise input_error("PL0820", f"{fill!r} is no way to fill arrays", help='write `fill="random"`, or leave it out')
    if is_known:
        # What a file of unknown source declares is judged by its words, when these are loaded.
        require_room(signature, sizes)
    known = {a.name: a for a in signature.inputs}
    checked = {
        a.name: _check_array(a, sizes, given[a.name], "output") for a in pure_outputs(signature) if a.name in given
    }
    checked |= {a.name: _check_array(a, sizes, given[a.name], "input") for a in signature.unread if a.name in given}
    taken: dict[str, Array] = {}
    for name, value in given.items():
        if name in known:
            taken[name] = _check_array(known[name], sizes, value, "input")
        elif signature.is_open:
            taken[name] = np.asarray(value)
        elif name not in checked:
            raise _unknown_input_error(signature, name)
    taken |= {name: array for name, array in data.items() if name in known and name not in taken}
    # A size that is also an argument of the routine needs no value of its own.
    own = {name: np.array(sizes[name], a.dtype) for name, a in known.items() if name in sizes and name not in taken}
    missing = [a for a in signature.inputs if a.name not in taken and a.name not in own]
    if not is_known and fill is None and missing:
        names = [a.name for a in missing]
        help = f"the inputs are {', '.join(known)}"
        raise input_error("PL0231", f"the {quote('input', names)} {verb(names)} missing", help=help)
    if fill is None:
        passed = (*signature.arguments, *signature.unread)
        arrays = {a.name for a in passed if not a.is_scalar or a.is_output}
        _check_all_given(
            signature.name,
            [n for n in given if n in arrays],
            [a.name for a in missing if a.name in arrays],
            sizes,
            hidden,
        )
    made = dict[str, Array]()
    for few in ([a for a in missing if a.is_scalar], [a for a in missing if not a.is_scalar]):
        # Ranges of arrays may depend on scalars that are made up.
        known_values = {**sizes, **_integer_scalars(taken), **_integer_scalars(made)}
        has_integers = any(a.dtype.kind in "iu" for a in few)
        within = ranges(known_values) if ranges is not None and has_integers else dict[str, Range]()
        made |= {a.name: _generate_array(a, sizes, seed, within.get(a.name)) for a in few}
    return {
        name: next(d[name] for d in (taken, own, made) if name in d)
        for name in (*known, *(taken if signature.is_open else ()))
    }


def _integer_scalars(arrays: Mapping[str, Array]) -> dict[str, int]:
    """Integer scalars among arrays."""
    return {name: int(array) for name, array in arrays.items() if array.shape == () and array.dtype.kind in "iu"}


def pure_outputs(signature: Signature) -> tuple[Argument, ...]:
    """Outputs whose elements at entry show nowhere: each is written before it is read."""
    return tuple(a for a in signature.outputs if not a.is_input)


def _check_all_given(
    name: str, given: Sequence[str], missing: Sequence[str], sizes: Mapping[str, int], hidden: Hidden | None
) -> None:
    """Check that whoever gives some arrays gives all: PL0231 with the names of all that are missing beside `given`."""
    if not given or not missing:
        return
    # Not missed: arrays that this size overwrites before it reads them.
    unseen = hidden(sizes) if hidden is not None else frozenset[str]()
    lacking = [n for n in missing if n not in unseen]
    if lacking:
        it = "it" if len(lacking) == 1 else "them"
        help = f'give {it} as well, or let the rest be made up: `--fill random`, in Python `fill="random"`'
        message = (
            f"`{name}` is given the {quote('array', given)}, but the {quote('array', lacking)} {verb(lacking)} missing"
        )
        raise input_error("PL0231", message, help=help)


def require_room(signature: Signature, sizes: Mapping[str, int]) -> None:
    """Room for all arrays of a run, which the host holds, and the machine's model once more. Errors: PL0605."""
    arrays = [*signature.arguments, *signature.unread]
    needed = sum(prod(_array_shape(a, sizes)) * a.dtype.itemsize for a in arrays)
    what = f"`{signature.name}`, whose arrays the host and the machine hold,"
    memory.require_memory(2 * needed, what, "give smaller sizes, or a smaller model")


def _array_shape(argument: Argument, sizes: Mapping[str, int]) -> tuple[int, ...]:
    shape = argument.extents(sizes)
    if min(shape, default=0) < 0:
        raise _parameter_error(f"the array `{argument.name}` has the shape {shape}", "give sizes from 0 on")
    return shape


def _check_array(argument: Argument, sizes: Mapping[str, int], value: object, what: str) -> Array:
    """Array of an argument, with the declared type and shape; PL0232."""
    shape, found = _array_shape(argument, sizes), np.asarray(value)
    # Never converted: a float array for an integer argument is a mistake more often than an intention.
    if found.dtype != argument.dtype:
        kind = f"numpy.{argument.dtype.name}"
        help = f"convert it: `.astype({kind})`"
        if what == "output":
            help = f"make it of this type, `numpy.zeros({shape}, {kind})`, or leave it out"
        message = f"the {what} `{argument.name}` has the type {found.dtype}, not {argument.type_name}"
        raise input_error("PL0232", message, help=help)
    if found.shape != shape:
        declared = ", ".join(map(str, argument.shape))
        message = f"the {what} `{argument.name}` has the shape {found.shape}, not {shape}"
        raise input_error("PL0232", message, help=f"it is declared as `{argument.name}[{declared}]`")
    return found


def _generate_array(argument: Argument, sizes: Mapping[str, int], seed: int, within: Range | None = None) -> Array:
    """Random array from the seed and the argument's name, `within` the range of what is used as an index. Errors:
    PL0804 for a bad seed, PL0230 for what memory cannot hold."""
    try:
        # The name seeds too, so that an array is the same whatever other inputs there are (PCG64, O'Neill 2014).
        generator = np.random.default_rng([index(seed), *argument.name.encode()])
    except (TypeError, ValueError):
        raise input_error("PL0804", f"the seed is {seed!r}", help="give an integer from 0 on") from None
    shape = _array_shape(argument, sizes)
    # At least 8 bytes per element: random numbers are drawn as such before they are converted.
    needed = prod(shape) * max(argument.dtype.itemsize, 8) * _COPIES
    memory.require_memory(needed, f"the array `{argument.name}` with the shape {shape}", "give smaller sizes")
    return _random_array(generator, argument.dtype, shape, within)


def _random_array(
    generator: np.random.Generator, dtype: Dtype, shape: tuple[int, ...], within: Range | None = None
) -> Array:
    """Random elements: integers from -4 to 4, or from 0 to 8 without a sign, unless they must be `within` others;
    floats uniform in [-1, 1)."""
    if dtype.fields is not None:
        made = np.zeros(shape, dtype)
        for name, (inner, *_) in dtype.fields.items():
            # A field may be an array of numbers, whose extents NumPy keeps apart from its type.
            base, extents = inner.subdtype or (inner, ())
            made[name] = _random_array(generator, base, (*shape, *extents))
        return made
    if dtype.kind == "f":
        return np.asarray(generator.uniform(-1, 1, shape)).astype(dtype)
    # Small, so that sums of products stay exact and do not overflow the narrow types at once.
    low, high = (0, 2) if dtype.kind == "b" else (0, 9) if dtype.kind == "u" else (-4, 5)
    if within is not None and dtype.kind in "iu" and not within[0] <= low < high <= within[1] + 1:
        least, most = _type_range(dtype)
        inner = max(within[0], least), min(within[1], most) + 1
        low, high = inner if inner[0] < inner[1] else (low, high)
    return np.asarray(generator.integers(low, high, shape)).astype(dtype)


def _parameter_error(message: str, help: str) -> PolyloomError:
    return input_error("PL0230", message, help=help)
