// SPDX-License-Identifier: Apache-2.0
// Expectations of the native tests: each that fails is counted and named.
#pragma once

#include <cstdio>
#include <string>

inline int failures = 0;

inline void expect(bool condition, const std::string& what) {
    if (condition) return;
    ++failures;
    std::printf("FAILED: %s\n", what.c_str());
}
