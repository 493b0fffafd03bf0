// SPDX-License-Identifier: Apache-2.0
// Seconds of CPU time of warm instantiations for `polyloom bench`, measured here so that no Python is; instantiate.pyi
// documents it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <ctime>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "instantiate/polyloom_instantiate.h"

extern "C" uint64_t fletcher64(const uint8_t* data, size_t size);  // read.c

namespace nb = nanobind;

namespace {

constexpr size_t most_bytes = size_t{1} << 31;
constexpr double limit = 3;  // seconds, after which no further run begins

// program instantiation alone, all but emission
using Programs = std::tuple<double, double>;

// all but emission, emission, its checksum alone, a memcpy of the same bytes
using Seconds = std::tuple<double, double, double, double>;

double now() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// The time that the library spends in the steps that are program instantiation, where it is measured.
struct Clock {
    bool runs = false, inside = false;
    double entered = 0, spent = 0;
};

thread_local Clock clock_;

// All but emission; `merge` makes the classes.
uint32_t prepare(const polyloom_request& request, polyloom_result& result) {
    uint32_t status = polyloom_plan(&request, &result);
    while (!status && (status = polyloom_merge(&request, &result)) == POLYLOOM_AGAIN) status = POLYLOOM_OK;
    return status;
}

class Bench {
  public:
    Bench(nb::bytes symbolic, std::vector<int64_t> values, uint32_t rows, uint32_t columns, uint32_t candidate)
        : symbolic_{std::move(symbolic)}, values_{std::move(values)} {
        request_.symbolic = static_cast<const uint8_t*>(symbolic_.data());
        request_.symbolic_size = symbolic_.size();
        request_.values = values_.data();
        request_.value_count = static_cast<uint32_t>(values_.size());
        request_.rows = rows;
        request_.columns = columns;
        request_.candidate = candidate;
    }

    // Grows scratch, and output for the whole configuration, until they suffice.
    void warm(bool whole) {
        uint32_t status = 0;
        do {
            give();
            status = prepare(request_, result_);
            if (!status && whole) status = polyloom_emit(&request_, &result_);
        } while ((status == POLYLOOM_SCRATCH && grow(scratch_)) || (status == POLYLOOM_OUTPUT && grow(output_)));
        if (status)
            throw std::runtime_error("a request that is measured is refused with status " + std::to_string(status));
        size_ = result_.output_size;
    }

    std::vector<Programs> program_seconds(size_t times) {
        std::vector<Programs> found;
        for (const double begun = now(); found.size() < times && now() - begun < limit;) {
            clock_ = {.runs = true};
            const double start = now();
            prepare(request_, result_);
            found.emplace_back(clock_.spent, now() - start);
        }
        clock_.runs = false;
        return found;
    }

    std::vector<Seconds> configuration_seconds(size_t times) {
        std::vector<Seconds> found;
        std::vector<uint8_t> copy(size_);
        for (const double begun = now(); found.size() < times && now() - begun < limit;) {
            const double start = now();
            prepare(request_, result_);
            const double made = now();
            polyloom_emit(&request_, &result_);
            const double emitted = now();
            sum_ = fletcher64(output_.data() + header, result_.output_size - header);
            const double summed = now();
            std::memcpy(copy.data(), output_.data(), copy.size());
            const double copied = now();
            sum_ = copy[sum_ % copy.size()];  // or nothing would be copied
            found.emplace_back(made - start, emitted - made, summed - emitted, copied - summed);
        }
        return found;
    }

    size_t size() const { return size_; }

  private:
    static constexpr size_t header = 16;

    void give() {
        request_.scratch = scratch_.data();
        request_.scratch_size = scratch_.size();
        request_.output = output_.data();
        request_.output_size = output_.size();
    }

    static bool grow(std::vector<uint8_t>& buffer) {
        if (buffer.size() >= most_bytes) return false;
        buffer.resize(buffer.size() * 4);
        return true;
    }

    nb::bytes symbolic_;
    std::vector<int64_t> values_;
    std::vector<uint8_t> scratch_ = std::vector<uint8_t>(size_t{1} << 16),
                         output_ = std::vector<uint8_t>(size_t{1} << 16);
    polyloom_request request_{};
    polyloom_result result_{};
    size_t size_ = 0;            // of the whole configuration, if it is asked for
    volatile uint64_t sum_ = 0;  // or the checksum would not be computed
};

std::tuple<std::vector<Programs>, std::vector<Seconds>, size_t> instantiation_seconds(nb::bytes symbolic,
                                                                                      std::vector<int64_t> values,
                                                                                      uint32_t rows, uint32_t columns,
                                                                                      uint32_t candidate, size_t times,
                                                                                      size_t whole) {
    Bench bench{std::move(symbolic), std::move(values), rows, columns, candidate};
    nb::gil_scoped_release release;
    bench.warm(whole > 0);
    auto programs = bench.program_seconds(times);
    auto configurations = bench.configuration_seconds(whole);
    return {std::move(programs), std::move(configurations), bench.size()};
}

}  // namespace

// Called where a step begins: concretization to programs lie between reading and the periphery
// (native/instantiate/internal.h).
extern "C" void polyloom_begins(int step) {
    const bool inside = step > 0 && step < 5;
    if (!clock_.runs || inside == clock_.inside) return;
    const double time = now();
    if (!inside) clock_.spent += time - clock_.entered;
    clock_.entered = time;
    clock_.inside = inside;
}

void bind_bench(nb::module_& m) {
    m.def("seconds", &instantiation_seconds, nb::arg("symbolic"), nb::arg("values"), nb::arg("rows"),
          nb::arg("columns"), nb::arg("candidate"), nb::arg("times"), nb::arg("whole"));
}
