// SPDX-License-Identifier: Apache-2.0
// Terms for Python: one by one, and by arrays of their numbers.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "tcpa/terms.hpp"

namespace nb = nanobind;
using polyloom::tcpa::Operation;
using polyloom::tcpa::Terms;
using polyloom::tcpa::Type;

namespace {

using Ids = nb::ndarray<const uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Made = nb::ndarray<nb::numpy, uint64_t, nb::ndim<1>>;
// kind, operation, type, result, operands, bits of a constant
using Parts = std::tuple<int, int, int, int, std::array<uint32_t, 3>, uint64_t>;

Made give(std::vector<uint64_t> values) {
    auto* moved = new std::vector<uint64_t>(std::move(values));
    nb::capsule owner(moved, [](void* p) noexcept { delete static_cast<std::vector<uint64_t>*>(p); });
    return Made(moved->data(), {moved->size()}, owner);
}

Terms::Id known(const Terms& terms, uint64_t id) {
    if (id >= terms.size()) throw nb::index_error("there is no such term");
    return Terms::Id(id);
}

// Whether both numbers mean something together; what has no opcode has no function either.
void check(int operation, int type) {
    if (operation < 0 || operation >= int(polyloom::tcpa::operation_count) || type < 0 ||
        type >= int(polyloom::tcpa::type_count) ||
        !polyloom::tcpa::valid_opcode(polyloom::tcpa::opcode_of(Operation(operation), Type(type))))
        throw nb::value_error("there is no such operation on this type");
}

Made inputs(Terms& terms, uint32_t array, int type, uint64_t count) {
    std::vector<uint64_t> made(count);
    for (uint64_t n = 0; n < count; ++n) made[n] = terms.input(array, n, Type(type));
    return give(std::move(made));
}

// Operands of one element stand for all.
Made apply(Terms& terms, int operation, int type, const Ids& a, const Ids& b, const Ids& c) {
    check(operation, type);
    const size_t count = std::max({a.size(), b.size(), c.size()});
    const auto at = [&](const Ids& ids, size_t n) { return known(terms, ids.data()[ids.size() == 1 ? 0 : n]); };
    for (const Ids* ids : {&a, &b, &c})
        if (ids->size() != 1 && ids->size() != count) throw nb::value_error("operands of different lengths");
    std::vector<uint64_t> made(count);
    for (size_t n = 0; n < count; ++n)
        made[n] = terms.apply(Operation(operation), Type(type), at(a, n), at(b, n), at(c, n));
    return give(std::move(made));
}

Parts parts(Terms& terms, uint64_t id) {
    const Terms::Node node = terms[terms.settled(known(terms, id))];
    std::array<Terms::Id, 3> operands = node.operands;
    if (node.kind == Terms::Kind::operation || node.kind == Terms::Kind::chain)
        for (Terms::Id& operand : operands) operand = terms.settled(operand);
    return {int(node.kind), int(node.operation), int(node.type), int(node.result), operands, node.bits()};
}

}  // namespace

void bind_terms(nb::module_&);

void bind_terms(nb::module_& m) {
    nb::class_<Terms>(m, "Terms")
        .def(nb::init<uint64_t, bool, uint64_t>(), nb::arg("seed"), nb::arg("reassociate"), nb::arg("most"))
        .def("constant", [](Terms& terms, int type, uint64_t bits) { return terms.constant(Type(type), bits); })
        .def("inputs", &inputs)
        .def("apply", &apply)
        .def("apply_one",
             [](Terms& terms, int operation, int type, uint64_t a, uint64_t b, uint64_t c) {
                 check(operation, type);
                 return terms.apply(Operation(operation), Type(type), known(terms, a), known(terms, b),
                                    known(terms, c));
             })
        .def("parts", &parts)
        .def_prop_ro("size", &Terms::distinct);
}
