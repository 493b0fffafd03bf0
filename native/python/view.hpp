// SPDX-License-Identifier: Apache-2.0
// A NumPy array on memory of a native object, which it keeps alive. Strides count elements.
#pragma once
#include <cstdio>  // libc++ needs it before nanobind
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <initializer_list>

namespace polyloom {

template <class T>
nanobind::object view_of(nanobind::handle self, T* data, std::initializer_list<size_t> shape,
                         std::initializer_list<int64_t> strides = {}) {
    nanobind::ndarray<nanobind::numpy, T> array(data, shape, self, strides);
    return nanobind::cast(array, nanobind::rv_policy::reference);
}

}  // namespace polyloom
