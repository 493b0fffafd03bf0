// SPDX-License-Identifier: Apache-2.0
// Depth first search. An instruction reads at most two values, and in the end every value must have been read: with r
// instructions to go, at most r + 1 values may be unread. That, and a look at a few samples before all others, makes
// sequences of length 4 a matter of seconds.
#include "search.hpp"

#include <algorithm>
#include <tuple>
#include <type_traits>

namespace polyloom::riscv {
namespace {

// Calls `use` with the function of `step`, so that loops over values are compiled for each.
template <class X>
void with(Step step, auto use) {
    using S = std::make_signed_t<X>;
    constexpr int LAST = 8 * sizeof(X) - 1;
    switch (step) {
        case Step::ADD: return use([](X a, X b) -> X { return a + b; });
        case Step::SUB: return use([](X a, X b) -> X { return a - b; });
        case Step::AND: return use([](X a, X b) -> X { return a & b; });
        case Step::OR: return use([](X a, X b) -> X { return a | b; });
        case Step::XOR: return use([](X a, X b) -> X { return a ^ b; });
        case Step::SLT: return use([](X a, X b) -> X { return S(a) < S(b); });
        case Step::SLTU: return use([](X a, X b) -> X { return a < b; });
        case Step::CZERO_EQZ: return use([](X a, X b) -> X { return b == 0 ? 0 : a; });
        case Step::CZERO_NEZ: return use([](X a, X b) -> X { return b != 0 ? 0 : a; });
        case Step::ANDN: return use([](X a, X b) -> X { return a & ~b; });
        case Step::ORN: return use([](X a, X b) -> X { return a | ~b; });
        case Step::XNOR: return use([](X a, X b) -> X { return ~(a ^ b); });
        case Step::MIN: return use([](X a, X b) -> X { return S(a) < S(b) ? a : b; });
        case Step::MAX: return use([](X a, X b) -> X { return S(a) < S(b) ? b : a; });
        case Step::MINU: return use([](X a, X b) -> X { return a < b ? a : b; });
        case Step::MAXU: return use([](X a, X b) -> X { return a < b ? b : a; });
        case Step::SLL: return use([](X a, X b) -> X { return a << (b & LAST); });
        case Step::SRL: return use([](X a, X b) -> X { return a >> (b & LAST); });
        case Step::SRA: return use([](X a, X b) -> X { return X(S(a) >> (b & LAST)); });
        case Step::ADDI_1: return use([](X a, X) -> X { return a + 1; });
        case Step::ADDI_M1: return use([](X a, X) -> X { return a - 1; });
        case Step::NOT: return use([](X a, X) -> X { return ~a; });
        case Step::XORI_1: return use([](X a, X) -> X { return a ^ 1; });
        case Step::ANDI_1: return use([](X a, X) -> X { return a & 1; });
        case Step::SEQZ: return use([](X a, X) -> X { return a == 0; });
        case Step::SRAI_LAST: return use([](X a, X) -> X { return X(S(a) >> LAST); });
        case Step::COUNT: return;
    }
}

constexpr bool is_unary(Step step) { return step >= Step::ADDI_1; }

constexpr bool commutes(Step step) {
    return step == Step::ADD || (step >= Step::AND && step <= Step::XOR) || (step >= Step::XNOR && step <= Step::MAXU);
}

// Whether it makes sense to give a step one value twice: the other steps give the value itself then, or a constant that
// they also give for zero.
constexpr bool doubles(Step step) { return step == Step::ADD || (step >= Step::SLL && step <= Step::SRA); }

template <class X>
struct Search {
    const std::vector<X>& target;
    const std::vector<Step>& allowed;
    size_t most;
    std::vector<X> values;  // of zero, the inputs, and the results, SAMPLES each
    int count;
    std::vector<int> reads;
    std::vector<Line> lines;
    std::vector<std::vector<Line>> found;

    const X* of(int value) const { return values.data() + size_t(value) * SAMPLES; }
    int fresh(int value) const { return value > 0 && reads[value] == 0; }

    // `unread` counts the inputs and results that no line reads; the constant zero need not be read.
    void extend(int left, int unread) {
        if (left == 1) return finish(unread);
        for (Step step : allowed)
            for (int a = 0; a < count; ++a) {
                if (is_unary(step)) {
                    attempt({step, uint8_t(a), 0}, left, unread - fresh(a));
                    continue;
                }
                for (int b = commutes(step) ? a : 0; b < count; ++b)
                    if (a != b || doubles(step))
                        attempt({step, uint8_t(a), uint8_t(b)}, left, unread - fresh(a) - (a != b && fresh(b)));
            }
    }

    void attempt(Line line, int left, int unread) {
        if (unread > left - 1 || found.size() >= most || !is_next(line)) return;
        X* made = values.data() + size_t(count) * SAMPLES;
        with<X>(line.step, [&, a = of(line.a), b = of(line.b)](auto f) {
            for (size_t n = 0; n < SAMPLES; ++n) made[n] = f(a[n], b[n]);
        });
        for (int value = 0; value < count; ++value)
            if (std::equal(made, made + SAMPLES, of(value))) return;
        read(line, 1);
        reads[count++] = 0;
        lines.push_back(line);
        extend(left - 1, unread + 1);
        lines.pop_back();
        --count;
        read(line, -1);
    }

    void read(Line line, int by) {
        reads[line.a] += by;
        if (!is_unary(line.step)) reads[line.b] += by;
    }

    // Instructions that are next to each other and independent may stand in one order only.
    bool is_next(Line line) const {
        if (lines.empty() || line.a == count - 1 || (!is_unary(line.step) && line.b == count - 1)) return true;
        const Line& before = lines.back();
        return std::tuple(before.step, before.a, before.b) < std::tuple(line.step, line.a, line.b);
    }

    // The last line reads all that is unread: one value, or two.
    void finish(int unread) {
        int one = 0, other = 0;
        for (int value = 1; value < count; ++value)
            if (fresh(value)) std::swap(one, other), one = value;
        if (unread < 1 || unread > 2) return;
        for (Step step : allowed) {
            if (is_unary(step) && unread == 2) continue;
            with<X>(step, [&](auto f) {
                if (is_unary(step)) return compare({step, uint8_t(one), 0}, f);
                const int low = unread == 2 ? other : 0, high = unread == 2 ? other + 1 : count;
                if (is_plausible(step, of(one), true))
                    for (int b = low; b < high; ++b)
                        if (b != one || doubles(step))
                            compare(commutes(step) && b < one ? Line{step, uint8_t(b), uint8_t(one)}
                                                              : Line{step, uint8_t(one), uint8_t(b)},
                                    f);
                if (!commutes(step) && is_plausible(step, of(one), false))
                    for (int a = low; a < high; ++a)
                        if (a != one) compare({step, uint8_t(a), uint8_t(one)}, f);
            });
        }
    }

    static constexpr size_t FEW = 4;

    // Whether this operand can give the target with any other one, judged by a few samples.
    bool is_plausible(Step step, const X* value, bool is_first) const {
        using S = std::make_signed_t<X>;
        for (size_t n = 0; n < FEW; ++n) {
            const X v = value[n], t = target[n];
            bool can = true;
            switch (step) {
                case Step::AND: can = !(t & ~v); break;
                case Step::OR: can = !(v & ~t); break;
                case Step::ANDN: can = !(t & (is_first ? ~v : v)); break;
                case Step::ORN: can = !((is_first ? v : ~v) & ~t); break;
                case Step::SLT:
                case Step::SLTU: can = t <= 1; break;
                case Step::CZERO_EQZ: can = t == 0 || (is_first ? t == v : v != 0); break;
                case Step::CZERO_NEZ: can = t == 0 || (is_first ? t == v : v == 0); break;
                case Step::MIN: can = S(t) <= S(v); break;
                case Step::MAX: can = S(t) >= S(v); break;
                case Step::MINU: can = t <= v; break;
                case Step::MAXU: can = t >= v; break;
                default: break;
            }
            if (!can) return false;
        }
        return true;
    }

    void compare(Line line, auto f) {
        const X *a = of(line.a), *b = of(line.b);
        for (size_t n = 0; n < SAMPLES; ++n)
            if (f(a[n], b[n]) != target[n]) return;
        if (found.size() >= most || !is_next(line)) return;
        found.push_back(lines);
        found.back().push_back(line);
    }
};

}  // namespace

template <class X>
std::vector<std::vector<Line>> search(const std::vector<std::vector<X>>& inputs, const std::vector<X>& target,
                                      const std::vector<Step>& allowed, int length, size_t most) {
    const size_t places = inputs.size() + size_t(length) + 1;
    Search<X> made{
        target, allowed, most, std::vector<X>(places * SAMPLES), int(inputs.size()) + 1, std::vector<int>(places),
        {},     {}};
    for (size_t n = 0; n < inputs.size(); ++n)
        std::copy(inputs[n].begin(), inputs[n].end(), made.values.begin() + ptrdiff_t((n + 1) * SAMPLES));
    made.extend(length, int(inputs.size()));
    return made.found;
}

template std::vector<std::vector<Line>> search(const std::vector<std::vector<uint32_t>>&, const std::vector<uint32_t>&,
                                               const std::vector<Step>&, int, size_t);
template std::vector<std::vector<Line>> search(const std::vector<std::vector<uint64_t>>&, const std::vector<uint64_t>&,
                                               const std::vector<Step>&, int, size_t);

}  // namespace polyloom::riscv
