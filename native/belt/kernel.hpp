// SPDX-License-Identifier: Apache-2.0
// Operations lane by lane, as pointers to loops over lanes: one for each operation and width.
//
// A kernel is made of a function on one lane's data, whose last parameter, where it has it, is set where the lane is
// NaR. Data of None and NaR lanes go through kernels too, so functions are total.
#pragma once

#include <array>
#include <type_traits>

#include "value.hpp"

namespace polyloom::belt {

// An operand's lanes stand `step` bytes apart: 0 for a scalar beside vectors.
struct Argument {
    const uint8_t* data;
    unsigned step;
};

// Gives the lanes that become NaR.
using Kernel = u128 (*)(const Argument*, uint8_t*, unsigned lanes);
// By the first operand's width; null where there is none.
using Kernels = std::array<Kernel, widths>;

template <class U>
U lane_of(const Argument& argument, unsigned lane) {
    U value;
    std::memcpy(&value, argument.data + lane * argument.step, sizeof value);
    return value;
}

template <class U, auto F, class... Is>
u128 lanewise(const Argument* in, uint8_t* out, unsigned lanes) {
    u128 nar = 0;
    for (unsigned k = 0; k < lanes; ++k) {
        const auto at = [&]<size_t... N>(std::index_sequence<N...>) {
            if constexpr (requires { F(lane_of<Is>(in[N], k)...); }) {
                return F(lane_of<Is>(in[N], k)...);
            } else {
                bool bad = false;
                const auto result = F(lane_of<Is>(in[N], k)..., bad);
                if (bad) nar |= u128(1) << k;
                return result;
            }
        };
        const auto result = at(std::index_sequence_for<Is...>());
        std::memcpy(out + k * sizeof result, &result, sizeof result);
    }
    return nar;
}

template <auto F, class... Us>
constexpr Kernels unary_of() {
    Kernels made{};
    unsigned n = 0;
    ((made[n++] = &lanewise<Us, F, Us>), ...);
    return made;
}
template <auto F, class... Us>
constexpr Kernels binary_of() {
    Kernels made{};
    unsigned n = 0;
    ((made[n++] = &lanewise<Us, F, Us, Us>), ...);
    return made;
}

template <auto F>
constexpr Kernels unary = unary_of<F, uint8_t, uint16_t, uint32_t, uint64_t, u128>();
template <auto F>
constexpr Kernels binary = binary_of<F, uint8_t, uint16_t, uint32_t, uint64_t, u128>();
// To twice the width, which the widest has not.
template <auto F>
constexpr Kernels widening = binary_of<F, uint8_t, uint16_t, uint32_t, uint64_t>();
// The second operand is an amount, of which the lowest byte says enough.
template <auto F>
constexpr Kernels shifting = {&lanewise<uint8_t, F, uint8_t, uint8_t>, &lanewise<uint16_t, F, uint16_t, uint8_t>,
                              &lanewise<uint32_t, F, uint32_t, uint8_t>, &lanewise<uint64_t, F, uint64_t, uint8_t>,
                              &lanewise<u128, F, u128, uint8_t>};

}  // namespace polyloom::belt
