// SPDX-License-Identifier: Apache-2.0
// POLYLOOM_MODULE(tcpa, m) { ... } fills the Python module polyloom._native.tcpa. All of them are in one shared object:
// then the package has one copy of nanobind and of the C++ library, and exceptions cross no border between objects.
#pragma once
#include <cstdio>  // libc++ needs it before nanobind
#include <nanobind/nanobind.h>

#define POLYLOOM_MODULE(name, m) void polyloom_module_##name(nanobind::module_& m)
