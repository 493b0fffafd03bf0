// SPDX-License-Identifier: Apache-2.0
// Arrays of numbers that are not filled with zeros before they are written, and that lie in huge pages where they are
// large: for a graph of a million nodes, ordinary page faults cost as much as its dominators.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace polyloom::graph {

struct Release {
    void operator()(void* memory) const noexcept;
    bool huge;
};

std::unique_ptr<void, Release> allocate(size_t bytes);

template <class T>
    requires std::is_trivially_copyable_v<T>
class Array {
  public:
    Array() = default;
    explicit Array(size_t size) : memory_(allocate(size * sizeof(T))), size_(size) {}
    Array(size_t size, T value) : Array(size) { std::fill_n(data(), size, value); }

    T* data() const { return static_cast<T*>(memory_.get()); }
    T* begin() const { return data(); }
    T* end() const { return data() + size_; }
    size_t size() const { return size_; }
    T& operator[](size_t k) const { return data()[k]; }

  private:
    std::unique_ptr<void, Release> memory_{nullptr, Release{false}};
    size_t size_ = 0;
};

}  // namespace polyloom::graph
