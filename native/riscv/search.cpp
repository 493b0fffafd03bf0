// SPDX-License-Identifier: Apache-2.0
// Depth first. A value that nothing reads yet must still be read, and an instruction reads at most two: with r instructions to go
// at most r + 1 values may be unread. That, and not the number of samples, is what makes length 4 and 5 a matter of seconds.
#include "search.hpp"

#include <algorithm>
#include <tuple>
#include <type_traits>

namespace polyloom::riscv {
namespace {

template <class X>
X apply(Step step, X a, X b) {
    using S = std::make_signed_t<X>;
    constexpr int LAST = 8 * sizeof(X) - 1;
    switch (step) {
        case Step::ADD: return a + b;
        case Step::SUB: return a - b;
        case Step::AND: return a & b;
        case Step::OR: return a | b;
        case Step::XOR: return a ^ b;
        case Step::SLT: return S(a) < S(b);
        case Step::SLTU: return a < b;
        case Step::CZERO_EQZ: return b == 0 ? 0 : a;
        case Step::CZERO_NEZ: return b != 0 ? 0 : a;
        case Step::ANDN: return a & ~b;
        case Step::ORN: return a | ~b;
        case Step::XNOR: return ~(a ^ b);
        case Step::MIN: return S(a) < S(b) ? a : b;
        case Step::MAX: return S(a) < S(b) ? b : a;
        case Step::MINU: return a < b ? a : b;
        case Step::MAXU: return a < b ? b : a;
        case Step::SLL: return a << (b & LAST);
        case Step::SRL: return a >> (b & LAST);
        case Step::SRA: return X(S(a) >> (b & LAST));
        case Step::ADDI_1: return a + 1;
        case Step::ADDI_M1: return a - 1;
        case Step::NOT: return ~a;
        case Step::XORI_1: return a ^ 1;
        case Step::ANDI_1: return a & 1;
        case Step::SEQZ: return a == 0;
        case Step::SRAI_LAST: return X(S(a) >> LAST);
        case Step::COUNT: break;
    }
    return 0;
}

constexpr bool is_unary(Step step) { return step >= Step::ADDI_1; }

constexpr bool commutes(Step step) {
    switch (step) {
        case Step::ADD:
        case Step::AND:
        case Step::OR:
        case Step::XOR:
        case Step::XNOR:
        case Step::MIN:
        case Step::MAX:
        case Step::MINU:
        case Step::MAXU: return true;
        default: return false;
    }
}

// Of one value twice, the others give the value itself or a constant that zero gives as well.
constexpr bool doubles(Step step) { return step == Step::ADD || step == Step::SLL || step == Step::SRL || step == Step::SRA; }

template <class X>
struct Search {
    using Values = std::vector<X>;

    const Values& target;
    const std::vector<Step>& allowed;
    size_t most;
    std::vector<Values> values;
    std::vector<int> reads;
    std::vector<Line> lines;
    std::vector<std::vector<Line>> found;

    // `unread` counts the inputs and results that no line reads; the constant zero need not be read.
    void extend(int left, int unread) {
        for (Step step : allowed) {
            const int count = int(values.size());
            for (int a = 0; a < count; ++a) {
                if (is_unary(step)) {
                    attempt({step, uint8_t(a), 0}, left, unread - fresh(a));
                    continue;
                }
                for (int b = commutes(step) ? a : 0; b < count; ++b)
                    if (a != b || doubles(step)) attempt({step, uint8_t(a), uint8_t(b)}, left, unread - fresh(a) - (a != b && fresh(b)));
            }
        }
    }

    int fresh(int value) const { return value > 0 && reads[value] == 0; }

    void attempt(Line line, int left, int unread) {
        if (unread > left - 1 || found.size() >= most || !is_next(line)) return;
        if (left == 1) return finish(line);
        Values& made = values.emplace_back(target.size());
        const Values &a = values[line.a], &b = values[line.b];
        for (size_t n = 0; n < made.size(); ++n) made[n] = apply(line.step, a[n], b[n]);
        if (std::find(values.begin(), values.end() - 1, made) == values.end() - 1) {
            read(line, 1);
            reads.push_back(0);
            lines.push_back(line);
            extend(left - 1, unread + 1);
            lines.pop_back();
            reads.pop_back();
            read(line, -1);
        }
        values.pop_back();
    }

    void read(Line line, int by) {
        reads[line.a] += by;
        if (!is_unary(line.step)) reads[line.b] += by;
    }

    // Independent neighbours stand in one order only.
    bool is_next(Line line) const {
        if (lines.empty()) return true;
        const int last = int(values.size()) - 1;
        if (line.a == last || (!is_unary(line.step) && line.b == last)) return true;
        const Line& before = lines.back();
        return std::tuple(before.step, before.a, before.b) < std::tuple(line.step, line.a, line.b);
    }

    void finish(Line line) {
        const Values &a = values[line.a], &b = values[line.b];
        for (size_t n = 0; n < target.size(); ++n)
            if (apply(line.step, a[n], b[n]) != target[n]) return;
        found.push_back(lines);
        found.back().push_back(line);
    }
};

}  // namespace

template <class X>
std::vector<std::vector<Line>> search(const std::vector<std::vector<X>>& inputs, const std::vector<X>& target, const std::vector<Step>& allowed, int length, size_t most) {
    Search<X> made{target, allowed, most, {std::vector<X>(target.size(), 0)}, {0}, {}, {}};
    made.values.insert(made.values.end(), inputs.begin(), inputs.end());
    made.values.reserve(inputs.size() + size_t(length) + 1);
    made.reads.resize(made.values.size());
    made.extend(length, int(inputs.size()));
    return made.found;
}

template std::vector<std::vector<Line>> search(const std::vector<std::vector<uint32_t>>&, const std::vector<uint32_t>&, const std::vector<Step>&, int, size_t);
template std::vector<std::vector<Line>> search(const std::vector<std::vector<uint64_t>>&, const std::vector<uint64_t>&, const std::vector<Step>&, int, size_t);

}  // namespace polyloom::riscv
