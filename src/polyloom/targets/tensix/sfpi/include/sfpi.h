// SPDX-License-Identifier: Apache-2.0
// The vector language of a Tensix tile: types, constants, operators, conditions, registers and library, in the spelling
// of the SFPI page and in that of 2026. Every operation is a call of a function that sfpi_operations.h declares.
#ifndef POLYLOOM_SFPI_H
#define POLYLOOM_SFPI_H

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "sfpi_operations.h"
#include "sfpi_names.h"
#include "sfpi_vectors.h"
#include "sfpi_registers.h"
#include "sfpi_operators.h"
#include "sfpi_conditions.h"
#include "sfpi_fields.h"
#include "sfpi_library.h"
#include "sfpi_convert.h"
#include "sfpi_tables.h"
#include "sfpi_print.h"
#include "sfpi_builtins.h"

#endif
