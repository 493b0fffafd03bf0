# SPDX-License-Identifier: Apache-2.0
"""Generator of the C header of the operations, include/sfpi_operations.h, from their table: a declaration per
operation.

A vector and a mask are pointers to incomplete types in address spaces of their own, so that clang keeps them in SSA
form and refuses to mix them. No function has an attribute that lets a compiler merge or move its calls; `nomerge` keeps
the stores of two branches two stores.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from polyloom.ir.ssa_types import PTR, Type
from polyloom.targets.tensix.source.operations import MASK, PREFIX, VECTOR, Operation, operations

TRANSPOSED: Final = "transposed"
PART: Final = "part"
"""C returns at most two values in registers: four come as one, which `part` takes apart."""
_HEAD: Final = """\
// SPDX-License-Identifier: Apache-2.0
// The operations of the vector unit as functions, made of the table of operations: do not edit.
#ifndef POLYLOOM_SFPI_OPERATIONS_H
#define POLYLOOM_SFPI_OPERATIONS_H

#define sfpi_inline __attribute__((always_inline)) inline

struct __sfpi_vector;
struct __sfpi_mask;
typedef struct __sfpi_vector __attribute__((address_space(1))) *__sfpi_v;
typedef struct __sfpi_mask __attribute__((address_space(2))) *__sfpi_m;
typedef struct {
    __sfpi_v first, second;
} __sfpi_v2;

extern "C" {
#define SFPI_OPERATION(result, name, ...) __attribute__((nomerge)) result name(__VA_ARGS__)
"""
_TAIL: Final = """\
#undef SFPI_OPERATION
}

#endif
"""
_MOST_RESULTS: Final = 2


def operations_header() -> str:
    """Text of include/sfpi_operations.h."""
    return "\n".join([_HEAD, *(line for row in operations().values() for line in _declarations(row)), "", _TAIL])


def _declarations(row: Operation) -> Iterator[str]:
    parameters = ", ".join(_c_type(operand.type) for operand in row.operands) or "void"
    # The results of SFPTRANSP come as a token, of which the import makes one call with four results again.
    if len(row.results) > _MOST_RESULTS:
        yield _declaration("__sfpi_v", TRANSPOSED, parameters)
        yield _declaration("__sfpi_v", PART, "__sfpi_v, int")
    else:
        yield _declaration(_result(row), row.name, parameters)


def _declaration(result: str, name: str, parameters: str) -> str:
    return f"SFPI_OPERATION({result}, {PREFIX}{name}, {parameters});"


def _result(row: Operation) -> str:
    found = row.external.results
    return "void" if not found else _c_type(found[0]) if len(found) == 1 else "__sfpi_v2"


def _c_type(type: Type) -> str:
    return {VECTOR: "__sfpi_v", MASK: "__sfpi_m", PTR: "const char *"}.get(type, "int")
