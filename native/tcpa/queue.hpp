// SPDX-License-Identifier: Apache-2.0
// Values ordered by the first cycle that sees them: what is on a wire, in a FIFO, or about to be written.
// The buffer is a ring that grows by doubling, so that a register of depth 65536 costs what it holds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

namespace polyloom::tcpa {

struct Token {
    int64_t ready = 0;
    uint64_t value = 0;
};

class Queue {
  public:
    Queue() = default;
    Queue(Queue&&) = default;
    Queue& operator=(Queue&&) = default;
    // Copies are made for snapshots alone.
    Queue(const Queue& of) : latest_(of.latest_), capacity_(of.capacity_), head_(of.head_), count_(of.count_) {
        if (capacity_) ring_ = std::make_unique<Token[]>(capacity_);
        std::copy_n(of.ring_.get(), capacity_, ring_.get());
    }
    Queue& operator=(const Queue& of) { return *this = Queue(of); }

    // Bytes on the heap.
    uint64_t bytes() const { return capacity_ * sizeof(Token); }
    uint32_t size() const { return count_; }
    bool empty() const { return count_ == 0; }
    bool full() const { return count_ == capacity_; }
    const Token& operator[](uint32_t n) const { return ring_[(head_ + n) & (capacity_ - 1)]; }
    const Token& front() const { return ring_[head_]; }
    int64_t latest() const { return latest_; }

    void pop() {
        head_ = (head_ + 1) & (capacity_ - 1);
        --count_;
    }

    // The usual case: there is room, and the value is ready after all others. If not, nothing changes, and it is false.
    bool append(Token token) {
        if (count_ == capacity_ || token.ready <= latest_) return false;
        latest_ = token.ready;
        at(count_++) = token;
        return true;
    }

    // False, and nothing changes, when a value with that ready cycle is already there.
    bool insert(Token token) {
        if (full()) grow();
        if (append(token)) return true;
        uint32_t place = count_;
        while (place && at(place - 1).ready > token.ready) --place;
        if (place && at(place - 1).ready == token.ready) return false;
        for (uint32_t n = count_; n > place; --n) at(n) = at(n - 1);
        at(place) = token;
        ++count_;
        return true;
    }

  private:
    Token& at(uint32_t n) { return ring_[(head_ + n) & (capacity_ - 1)]; }

    void grow() {
        const uint32_t larger = capacity_ ? 2 * capacity_ : 4;
        auto ring = std::make_unique<Token[]>(larger);
        for (uint32_t n = 0; n < count_; ++n) ring[n] = at(n);
        ring_ = std::move(ring);
        capacity_ = larger;
        head_ = 0;
    }

    std::unique_ptr<Token[]> ring_;
    int64_t latest_ = -1;  // the greatest ready cycle so far
    uint32_t capacity_ = 0, head_ = 0, count_ = 0;
};

}  // namespace polyloom::tcpa
