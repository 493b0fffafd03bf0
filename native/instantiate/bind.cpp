// SPDX-License-Identifier: Apache-2.0
// The Python module polyloom._native.instantiate; src/polyloom/_native/instantiate.pyi documents it. Scratch and output
// grow until they suffice, up to a limit.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "python/bind.hpp"
#include "instantiate/polyloom_instantiate.h"

namespace nb = nanobind;

extern "C" uint64_t fletcher64(const uint8_t* data, size_t size);  // read.c

namespace {

constexpr size_t most = size_t{1} << 31, usual = size_t{1} << 20;

// Not cleared, unlike a vector.
struct Buffer {
    size_t size;
    std::unique_ptr<uint8_t[]> data{new uint8_t[size]};
};

// A buffer of the usual size, which the thread keeps for its next request: the system clears the pages of a new one,
// which takes as long as a small instantiation. `kept` is the thread's place for it.
struct Reused {
    std::optional<Buffer>& kept;
    Buffer buffer{kept ? std::move(*std::exchange(kept, std::nullopt)) : Buffer{usual}};

    explicit Reused(std::optional<Buffer>& place) : kept{place} {}
    Reused(const Reused&) = delete;
    Reused& operator=(const Reused&) = delete;
    ~Reused() {
        if (buffer.size == usual) kept = std::move(buffer);
    }
};

thread_local std::optional<Buffer> kept_scratch, kept_output;

using Layout = std::tuple<std::vector<int64_t>, int64_t, uint32_t>;

// A request with what it points to.
struct Request {
    nb::bytes symbolic;
    std::vector<int64_t> values, sizes;
    std::vector<std::vector<int64_t>> strides;
    std::vector<polyloom_layout> layouts;
    Reused reused_scratch{kept_scratch}, reused_output{kept_output};
    Buffer &scratch = reused_scratch.buffer, &output = reused_output.buffer;
    polyloom_request request{};

    Request(nb::bytes symbolic, std::vector<int64_t> values, uint32_t rows, uint32_t columns,
            std::optional<uint32_t> candidate, std::optional<std::vector<int64_t>> sizes,
            std::optional<std::vector<Layout>> layouts, uint32_t closed = 0)
        : symbolic{std::move(symbolic)}, values{std::move(values)}, sizes{sizes.value_or(std::vector<int64_t>{})} {
        request.symbolic = static_cast<const uint8_t*>(this->symbolic.data());
        request.symbolic_size = this->symbolic.size();
        request.values = this->values.data();
        request.value_count = static_cast<uint32_t>(this->values.size());
        request.rows = rows;
        request.columns = columns;
        request.closed = closed;
        request.candidate = candidate.value_or(POLYLOOM_ALL);
        request.sizes = sizes ? this->sizes.data() : nullptr;
        request.size_count = static_cast<uint32_t>(this->sizes.size());
        if (sizes && !request.sizes) request.sizes = &none;
        if (!layouts) return;
        for (const auto& [words, base, bank] : *layouts) strides.push_back(words);
        for (size_t i = 0; i < strides.size(); ++i) {
            const auto& [words, base, bank] = (*layouts)[i];
            this->layouts.push_back({words.empty() ? nullptr : strides[i].data(), base, bank});
        }
        request.layouts = this->layouts.data();
    }

    template <typename Calls>
    polyloom_result run(Calls calls) {
        polyloom_result result{};
        for (;;) {
            request.output = output.data.get();
            request.output_size = output.size;
            request.scratch = scratch.data.get();
            request.scratch_size = scratch.size;
            calls(result);
            Buffer* full = result.status == POLYLOOM_SCRATCH  ? &scratch
                           : result.status == POLYLOOM_OUTPUT ? &output
                                                              : nullptr;
            if (!full || full->size >= most) return result;
            *full = Buffer{full->size * 4};
        }
    }

  private:
    static constexpr int64_t none = 0;
};

struct Instantiation {
    polyloom_result result;
    nb::bytes file;
    std::vector<int64_t> asked;
};

// The classes of one plan in scratch of their own, which lives until the output is written.
void in_threads(const polyloom_request& request, uint32_t classes, uint32_t threads, std::vector<Buffer>& own) {
    const size_t first = own.size();
    for (uint32_t i = 0; i < classes; ++i) own.push_back(Buffer{size_t{1} << 16});
    std::atomic<uint32_t> next{0};
    std::vector<std::thread> running;
    for (uint32_t t = 0; t < threads; ++t)
        running.emplace_back([&] {
            for (uint32_t i; (i = next++) < classes;) {
                polyloom_result result;
                Buffer& mine = own[first + i];
                while (polyloom_class(&request, i, mine.data.get(), mine.size, &result) == POLYLOOM_SCRATCH &&
                       mine.size < most)
                    mine = Buffer{mine.size * 4};
            }
        });
    for (auto& thread : running) thread.join();
}

void by_parts(const polyloom_request& request, uint32_t threads, polyloom_result& result) {
    std::vector<Buffer> own;
    uint32_t status = polyloom_plan(&request, &result);
    while (!status) {
        in_threads(request, result.classes, threads, own);
        status = polyloom_merge(&request, &result);
        if (status != POLYLOOM_AGAIN) break;
        status = POLYLOOM_OK;
    }
    if (!status) polyloom_emit(&request, &result);
}

Instantiation instantiate(nb::bytes symbolic, std::vector<int64_t> values, uint32_t rows, uint32_t columns,
                          std::optional<uint32_t> candidate, std::optional<std::vector<int64_t>> sizes,
                          std::optional<std::vector<Layout>> layouts, uint32_t threads, uint32_t closed) {
    Request r{std::move(symbolic), std::move(values),  rows,  columns, candidate,
              std::move(sizes),    std::move(layouts), closed};
    polyloom_result result{};
    {
        nb::gil_scoped_release release;
        result = r.run([&](polyloom_result& made) {
            if (threads)
                by_parts(r.request, threads, made);
            else
                polyloom_instantiate(&r.request, &made);
        });
    }
    return {result, nb::bytes(r.output.data.get(), result.status ? 0 : result.output_size), r.sizes};
}

std::tuple<uint32_t, size_t, size_t, size_t> query(nb::bytes symbolic, std::vector<int64_t> values, uint32_t rows,
                                                   uint32_t columns, std::optional<uint32_t> candidate,
                                                   std::optional<std::vector<int64_t>> sizes,
                                                   std::optional<std::vector<Layout>> layouts) {
    Request r{std::move(symbolic), std::move(values), rows, columns, candidate, std::move(sizes), std::move(layouts)};
    const polyloom_result result = r.run([&](polyloom_result& made) { polyloom_query(&r.request, &made); });
    return {result.status, result.output_size, result.scratch_size, result.class_size};
}

uint64_t checksum(nb::bytes data) {
    if (data.size() % 4) throw nb::value_error("a checksum is of whole words");
    return fletcher64(static_cast<const uint8_t*>(data.data()), data.size());
}

// The container of all files (src/polyloom/binary.py), written once, where it stays; lengths are checked in Python.
nb::bytes pack(nb::bytes magic, uint32_t version, uint64_t stamp, const std::vector<nb::bytes>& sections) {
    constexpr size_t fixed = 32, checked = 16;
    const auto padded = [](size_t size) { return (size + 3) & ~size_t{3}; };
    if (magic.size() != 4) throw nb::value_error("a file begins with four bytes");
    const size_t header = fixed + 4 * sections.size();
    size_t size = header;
    for (const auto& section : sections) size += padded(section.size());
    if (size > size_t{1} << 32) throw nb::value_error("a file is shorter than 4 GiB");
    nb::bytes file = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
    if (!file.is_valid()) nb::raise_python_error();
    auto* const data = reinterpret_cast<uint8_t*>(PyBytes_AsString(file.ptr()));
    const auto put = [&](size_t at, uint64_t value, size_t bytes) {
        for (size_t i = 0; i < bytes; ++i) data[at + i] = static_cast<uint8_t>(value >> 8 * i);
    };
    std::memcpy(data, magic.data(), 4);
    put(4, version, 4);
    put(checked, stamp, 8);
    size_t at = header, end = fixed, last = header;
    for (const auto& section : sections) {
        const size_t next = at + padded(section.size());
        std::memcpy(data + at, section.data(), section.size());
        std::memset(data + at + section.size(), 0, next - at - section.size());
        put(end, at + section.size(), 4);
        last = at;
        at = next;
        end += 4;
    }
    put(checked + 8, fletcher64(data + last, size - last), 8);  // of the names
    put(8, fletcher64(data + checked, size - checked), 8);
    return file;
}

nb::tuple tile_sizes(const Instantiation& i, size_t dimensions) {
    nb::list sizes;
    for (size_t m = 0; m < dimensions && m < POLYLOOM_DIMENSIONS; ++m) sizes.append(i.result.sizes[m]);
    return nb::tuple(sizes);
}

}  // namespace

void bind_bench(nb::module_& m);
void bind_plan(nb::module_& m);

POLYLOOM_MODULE(instantiate, m) {
    m.doc() = "Instantiation.";
    using namespace nb::literals;
    nb::class_<Instantiation>(m, "Instantiation")
        .def_ro("file", &Instantiation::file)
        .def_ro("asked", &Instantiation::asked)
        .def_prop_ro("status", [](const Instantiation& i) { return i.result.status; })
        .def_prop_ro("position", [](const Instantiation& i) { return i.result.position; })
        .def_prop_ro("scratch", [](const Instantiation& i) { return i.result.scratch_size; })
        .def_prop_ro("kind", [](const Instantiation& i) { return i.result.kind; })
        .def_prop_ro("index", [](const Instantiation& i) { return i.result.index; })
        .def_prop_ro("side", [](const Instantiation& i) { return i.result.side; })
        .def_prop_ro("place", [](const Instantiation& i) { return i.result.place; })
        .def_prop_ro("needed", [](const Instantiation& i) { return i.result.needed; })
        .def_prop_ro("available", [](const Instantiation& i) { return i.result.available; })
        .def_prop_ro("candidate", [](const Instantiation& i) { return i.result.candidate; })
        .def_prop_ro("region", [](const Instantiation& i) { return std::tuple{i.result.rows, i.result.columns}; })
        .def("sizes", &tile_sizes, "dimensions"_a);
    m.def("instantiate", &instantiate, "symbolic"_a, "values"_a, "rows"_a, "columns"_a, "candidate"_a = nb::none(),
          "sizes"_a = nb::none(), "layouts"_a = nb::none(), "threads"_a = 0, "closed"_a = 0);
    m.def("query", &query, "symbolic"_a, "values"_a, "rows"_a, "columns"_a, "candidate"_a = nb::none(),
          "sizes"_a = nb::none(), "layouts"_a = nb::none());
    m.def("fletcher64", &checksum, "data"_a);
    m.def("pack", &pack, "magic"_a, "version"_a, "stamp"_a, "sections"_a);
    m.def("status_message", &polyloom_status_message, "status"_a);
    bind_bench(m);
    bind_plan(m);
}
