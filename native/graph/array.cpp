// SPDX-License-Identifier: Apache-2.0
#include "graph/array.hpp"

#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace polyloom::graph {

namespace {

constexpr size_t page = size_t{2} << 20;
constexpr std::align_val_t aligned{page};

}  // namespace

void Release::operator()(void* memory) const noexcept {
    if (huge)
        ::operator delete(memory, aligned);
    else
        ::operator delete(memory);
}

std::unique_ptr<void, Release> allocate(size_t bytes) {
    if (bytes < page) return {::operator new(bytes), Release{false}};
    const size_t whole = (bytes + page - 1) / page * page;
    void* memory = ::operator new(whole, aligned);
#ifdef __linux__
    madvise(memory, whole, MADV_HUGEPAGE);  // a wish
#endif
    return {memory, Release{true}};
}

}  // namespace polyloom::graph
