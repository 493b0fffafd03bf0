// SPDX-License-Identifier: Apache-2.0
// The shared object polyloom._native._all: loading it makes polyloom._native.NAME for each folder NAME with a bind.cpp.
#include <string>

#include "python/bind.hpp"

namespace nb = nanobind;

// The build writes modules.inc, a line MODULE(NAME) for each folder.
#define MODULE(name) POLYLOOM_MODULE(name, m);
#include "modules.inc"
#undef MODULE

namespace {

void add(const char* name, void (*fill)(nb::module_&)) {
    const std::string whole = std::string("polyloom._native.") + name;
    PyObject* made = PyImport_AddModule(whole.c_str());
    if (made == nullptr) throw nb::python_error();
    nb::module_ m = nb::borrow<nb::module_>(made);
    fill(m);
    nb::module_::import_("polyloom._native").attr(name) = m;
}

}  // namespace

NB_MODULE(_all, all) {
    all.doc() = "All native modules.";
#define MODULE(name) add(#name, polyloom_module_##name);
#include "modules.inc"
#undef MODULE
}
