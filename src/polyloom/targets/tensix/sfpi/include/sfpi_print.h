// SPDX-License-Identifier: Apache-2.0
// DPRINT: text and integers of a program, which a run shows on standard error.
#ifndef POLYLOOM_SFPI_PRINT_H
#define POLYLOOM_SFPI_PRINT_H

namespace sfpi::impl_ {

struct EndOfLine {};

struct Printer {
    template <int N>
    sfpi_inline Printer const &operator<<(char const (&text)[N]) const {
        __sfpi_print_text(text, N - 1);
        return *this;
    }
    sfpi_inline Printer const &operator<<(EndOfLine) const {
        __sfpi_print_text("\n", 1);
        return *this;
    }
    template <Integer T>
    sfpi_inline Printer const &operator<<(T value) const {
        if constexpr (T(-1) < T(0)) __sfpi_print_int(int(value));
        else __sfpi_print_unsigned(int(value));
        return *this;
    }
};

}  // namespace sfpi::impl_

inline constexpr sfpi::impl_::Printer DPRINT;
#define ENDL() ::sfpi::impl_::EndOfLine{}
#define DPRINT_MATH(...) __VA_ARGS__

#endif
