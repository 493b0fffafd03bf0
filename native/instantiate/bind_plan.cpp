// SPDX-License-Identifier: Apache-2.0
// Walks over plans, for Python: what every call of polyloom_plan.h told. Scratch and output are as large as the query
// says, and no larger.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "instantiate/polyloom_plan.h"

namespace nb = nanobind;

namespace {

constexpr size_t least = size_t{1} << 18, most_scratch = size_t{1} << 31;

using Bank = std::array<uint32_t, 3>;

struct Walked {
    polyloom_walked result{};
    nb::list steps, transfers, scalars;
};

uint32_t on_scalar(void* context, uint32_t array, int64_t value) {
    auto& made = *static_cast<Walked*>(context);
    made.scalars.append(std::tuple{made.steps.size(), array, value});
    return 0;
}

nb::tuple as_tuple(const polyloom_bank& bank) { return nb::make_tuple(bank.side, bank.position, bank.channel); }

uint32_t on_transfer(void* context, const polyloom_transfer* t) {
    auto& made = *static_cast<Walked*>(context);
    made.transfers.append(nb::make_tuple(made.steps.size(), t->array, t->element, as_tuple(t->from), as_tuple(t->to)));
    return 0;
}

uint32_t on_step(void* context, const polyloom_step* s) {
    auto& made = *static_cast<Walked*>(context);
    nb::list counters;
    for (uint32_t i = 0; i < s->counter_count; ++i) counters.append(s->counters[i]);
    const nb::bytes words{reinterpret_cast<const char*>(s->words), s->size};
    made.steps.append(nb::make_tuple(s->phase, nb::tuple(counters), words, s->transfers, s->transfer_cycles));
    return 0;
}

using Layout = std::tuple<std::vector<int64_t>, int64_t, uint32_t>;

Walked walk(const nb::bytes& symbolic, const std::vector<int64_t>& values, uint32_t rows, uint32_t columns,
            const std::optional<std::vector<uint32_t>>& candidates, uint32_t closed,
            const std::optional<std::vector<Layout>>& layouts) {
    std::vector<polyloom_layout> lying;
    if (layouts)
        for (const auto& [strides, base, bank] : *layouts) lying.push_back({strides.data(), base, bank});
    polyloom_walk_request request{};
    request.symbolic = static_cast<const uint8_t*>(symbolic.data());
    request.symbolic_size = symbolic.size();
    request.values = values.data();
    request.value_count = static_cast<uint32_t>(values.size());
    request.rows = rows;
    request.columns = columns;
    request.closed = closed;
    request.layouts = layouts ? lying.data() : nullptr;
    request.candidates = candidates ? candidates->data() : nullptr;
    Walked made;
    for (size_t size = least;; size *= 4) {
        const std::unique_ptr<uint8_t[]> scratch{new uint8_t[size]};
        request.scratch = scratch.get();
        request.scratch_size = size;
        const uint32_t status = polyloom_walk_query(&request, &made.result);
        if (status == POLYLOOM_SCRATCH && size < most_scratch) continue;
        if (status) return made;
        break;
    }
    const size_t sizes[] = {made.result.output_size, made.result.scratch_size};
    const std::unique_ptr<uint8_t[]> output{new uint8_t[sizes[0]]}, scratch{new uint8_t[sizes[1]]};
    request.output = output.get();
    request.output_size = sizes[0];
    request.scratch = scratch.get();
    request.scratch_size = sizes[1];
    const polyloom_calls calls{&made, on_scalar, on_transfer, on_step};
    polyloom_walk(&request, &calls, &made.result);
    return made;
}

}  // namespace

void bind_plan(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Walked>(m, "Walked")
        .def_ro("steps", &Walked::steps)
        .def_ro("transfers", &Walked::transfers)
        .def_ro("scalars", &Walked::scalars)
        .def_prop_ro("status", [](const Walked& w) { return w.result.status; })
        .def_prop_ro("position", [](const Walked& w) { return w.result.position; })
        .def_prop_ro("phase", [](const Walked& w) { return w.result.phase; })
        .def_prop_ro("cycles", [](const Walked& w) { return w.result.cycles; })
        .def_prop_ro("output", [](const Walked& w) { return w.result.output_size; })
        .def_prop_ro("scratch", [](const Walked& w) { return w.result.scratch_size; });
    m.def("walk", &walk, "symbolic"_a, "values"_a, "rows"_a, "columns"_a, "candidates"_a = nb::none(), "closed"_a = 0,
          "layouts"_a = nb::none());
}
