// SPDX-License-Identifier: Apache-2.0
// Terms under sanitizers: random operations of every type, so that the table grows and every rule is met; then the same
// again, which makes nothing new.
#include <cstdio>
#include <random>
#include <vector>

#include "tcpa/terms.hpp"

using namespace polyloom::tcpa;

namespace {

std::vector<Terms::Id> make(Terms& terms, unsigned count) {
    std::mt19937_64 random(1);
    std::vector<std::vector<Terms::Id>> known(type_count);
    for (unsigned t = 0; t < type_count; ++t)
        for (unsigned n = 0; n < 4; ++n) {
            known[t].push_back(terms.input(t, n, Type(t)));
            known[t].push_back(terms.constant(Type(t), random()));
        }
    std::vector<Terms::Id> all;
    const auto any = [&](Type type) { return known[size_t(type)][random() % known[size_t(type)].size()]; };
    while (all.size() < count) {
        const auto operation = Operation(random() % operation_count);
        const auto type = Type(random() % type_count);
        if (!valid_opcode(opcode_of(operation, type))) continue;
        const Terms::Id first = any(operation == Operation::select ? Type::i32 : type), second = any(type);
        const Terms::Id made = terms.apply(operation, type, first, second, any(type));
        known[size_t(result_of(operation, type))].push_back(made);
        all.push_back(made);
    }
    return all;
}

bool repeats(bool reassociate) {
    Terms terms(42, reassociate, 1 << 20);
    const auto first = make(terms, 20000);
    const size_t size = terms.size();
    return size > 5000 && make(terms, 20000) == first && terms.size() == size;
}

}  // namespace

int main() {
    const bool good = repeats(false) && repeats(true);
    if (!good) std::puts("terms are not the same the second time");
    return good ? 0 : 1;
}
