// SPDX-License-Identifier: Apache-2.0
// The Python module polyloom._native.tensix; src/polyloom/_native/tensix.pyi documents it.
#include <nanobind/nanobind.h>

#include "tensix/state.hpp"
#include "tensix/unit.hpp"

namespace nb = nanobind;

void bind_vector(nb::module_&);

NB_MODULE(tensix, m) {
    bind_vector(m);
    m.attr("L1_BYTES") = polyloom::tensix::L1_BYTES;
}
