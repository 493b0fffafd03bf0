// SPDX-License-Identifier: Apache-2.0
// Instantiation for Python; src/polyloom/_core.pyi documents it. Scratch and output grow until they suffice, up to a limit.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <tuple>
#include <vector>

#include "instantiate/polyloom_instantiate.h"

namespace nb = nanobind;

namespace {

constexpr size_t most = size_t{1} << 31;

// Not cleared, unlike a vector.
struct Buffer {
    size_t size;
    std::unique_ptr<uint8_t[]> data{new uint8_t[size]};
};

std::tuple<uint32_t, uint32_t, nb::bytes, size_t> instantiate(nb::bytes symbolic, const std::vector<int64_t>& values, uint32_t rows, uint32_t columns) {
    Buffer scratch{size_t{1} << 20}, output{size_t{1} << 20};
    polyloom_result result{};
    polyloom_request request{};
    request.symbolic = static_cast<const uint8_t*>(symbolic.data());
    request.symbolic_size = symbolic.size();
    request.values = values.data();
    request.value_count = static_cast<uint32_t>(values.size());
    request.rows = rows;
    request.columns = columns;
    {
        nb::gil_scoped_release release;
        for (;;) {
            request.output = output.data.get();
            request.output_size = output.size;
            request.scratch = scratch.data.get();
            request.scratch_size = scratch.size;
            const uint32_t status = polyloom_instantiate(&request, &result);
            Buffer* full = status == POLYLOOM_SCRATCH ? &scratch : status == POLYLOOM_OUTPUT ? &output : nullptr;
            if (!full || full->size >= most) break;
            *full = Buffer{full->size * 4};
        }
    }
    return {result.status, result.position, nb::bytes(output.data.get(), result.output_size), result.scratch_used};
}

}  // namespace

void bind_instantiate(nb::module_& m) {
    m.def("instantiate", &instantiate, nb::arg("symbolic"), nb::arg("values"), nb::arg("rows"), nb::arg("columns"));
}
