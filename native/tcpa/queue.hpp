// SPDX-License-Identifier: Apache-2.0
// Values ordered by the first cycle that sees them: what is on a wire, in a FIFO, or about to be written.
// The buffer is a ring that grows by doubling, so that a register of depth 65536 costs what it holds.
#pragma once

#include <cstdint>
#include <vector>

namespace polyloom::tcpa {

struct Token {
    int64_t ready = 0;
    uint32_t value = 0;
};

class Queue {
  public:
    Queue() : ring_(4) {}

    uint32_t size() const { return count_; }
    bool empty() const { return count_ == 0; }
    bool full() const { return count_ == ring_.size(); }
    const Token& operator[](uint32_t n) const { return ring_[(head_ + n) & (ring_.size() - 1)]; }
    const Token& front() const { return ring_[head_]; }

    void pop() {
        head_ = (head_ + 1) & uint32_t(ring_.size() - 1);
        --count_;
    }

    // False, and nothing changes, when a value with that ready cycle is already there.
    bool insert(Token token) {
        uint32_t place = count_;
        while (place && (*this)[place - 1].ready > token.ready) --place;
        if (place && (*this)[place - 1].ready == token.ready) return false;
        if (full()) grow();
        for (uint32_t n = count_; n > place; --n) at(n) = at(n - 1);
        at(place) = token;
        ++count_;
        return true;
    }

  private:
    Token& at(uint32_t n) { return ring_[(head_ + n) & (ring_.size() - 1)]; }

    void grow() {
        std::vector<Token> larger(ring_.size() * 2);
        for (uint32_t n = 0; n < count_; ++n) larger[n] = (*this)[n];
        ring_.swap(larger);
        head_ = 0;
    }

    std::vector<Token> ring_;
    uint32_t head_ = 0, count_ = 0;
};

}  // namespace polyloom::tcpa
