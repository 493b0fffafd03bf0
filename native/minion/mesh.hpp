// SPDX-License-Identifier: Apache-2.0
// Where shires and memory shires lie on the mesh, and how many hops there are between them. Source: minion.md, "Time".
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>

namespace polyloom::minion {

struct Place {
    int8_t column = 0, row = 0;
};

constexpr unsigned SHIRES = 32, MEMORY_SHIRES = 8;

// Rows from north to south, columns from west to east; -1 is no compute shire.
constexpr int8_t MESH[6][6] = {
    {0, 24, 9, 25, 2, 11},    {8, 16, 1, 17, 10, 19},   {3, 4, 13, 14, 18, 27},
    {-1, 12, 21, 22, 26, -1}, {-1, 20, 29, 30, 15, 23}, {-1, 28, 5, 6, 7, 31},
};

constexpr std::array<Place, SHIRES> places_of_shires() {
    std::array<Place, SHIRES> made{};
    for (int8_t row = 0; row < 6; ++row)
        for (int8_t column = 0; column < 6; ++column)
            if (MESH[row][column] >= 0) made[size_t(MESH[row][column])] = {column, row};
    return made;
}
constexpr std::array<Place, SHIRES> PLACES = places_of_shires();

// Memory shires 0 to 3 are one step north of columns 1 to 4, 4 to 7 one step south.
constexpr Place place_of_memory(unsigned n) { return {int8_t(1 + n % 4), int8_t(n < 4 ? -1 : 6)}; }

constexpr unsigned distance(Place a, Place b) {
    const int columns = a.column - b.column, rows = a.row - b.row;
    return unsigned((columns < 0 ? -columns : columns) + (rows < 0 ? -rows : rows));
}

}  // namespace polyloom::minion
