// SPDX-License-Identifier: Apache-2.0
// Products of tiles on other threads of the host. A product is posted with its operands, when its effect is due; what
// comes later in the program and needs its result, or its flags, first joins the minion. Each minion belongs to one
// worker, which does its products in the order of posting; while that worker has much to do, the poster computes those
// of minions that have nothing posted. So bytes and flags are those of a single thread.
//
// That pays for products that take longer than handing them over, about a microsecond: fp16, and all where the host
// has no AVX2 and FMA. Timing stays with one thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "tensor_multiply.hpp"

namespace polyloom::minion {

class Workers {
  public:
    // One product: the registers and TenC of `tile` are its destination, and where C comes from.
    struct Product {
        tensor::Fma fma{};
        tensor::Operands operands;
        tensor::Tile tile{};
        uint32_t minion = 0;
        int mode = 0;
    };

    // `threads` with the one that posts: of one, there are no workers.
    Workers(unsigned threads, unsigned minions);
    ~Workers();
    Workers(const Workers&) = delete;

    // Whether to post a product.
    [[nodiscard]] bool take(const tensor::Fma& fma, uint32_t minion) const {
        if (lanes.empty() || (!fma.is(tensor::Type::fp16) && tensor::wide())) return pending(minion);
        const Lane& lane = *lanes[minion % lanes.size()];
        const uint64_t done = lane.done.load(std::memory_order_acquire);
        return done < last[minion] || lane.posted.load(std::memory_order_relaxed) - done < ENOUGH;
    }
    // Where to write the next product of a minion, and that it has been written.
    Product& place(uint32_t minion);
    void post(uint32_t minion);
    // Whether products of a minion have been posted since it was joined.
    [[nodiscard]] bool pending(uint32_t minion) const { return last[minion] != 0; }
    // Until they are done: the flags that they have raised.
    uint32_t join(uint32_t minion);

  private:
    static constexpr uint64_t PLACES = 64, ENOUGH = 16;
    // A worker's ring: products from `done` to `posted` are to be done.
    struct Lane {
        alignas(64) std::atomic<uint64_t> posted{0};
        alignas(64) std::atomic<uint64_t> done{0};
        std::atomic<bool> stop{false};
        alignas(64) std::array<Product, PLACES> ring;
        std::thread thread;
    };
    struct alignas(64) Raised {
        uint32_t flags = 0;
    };

    [[nodiscard]] Lane& lane_of(uint32_t minion) { return *lanes[minion % lanes.size()]; }
    void work(Lane& lane);
    static void wait_until(const Lane& lane, uint64_t done);

    std::vector<std::unique_ptr<Lane>> lanes;
    std::vector<uint64_t> last;  // by minion: which of its lane's products was posted last, 0 once joined
    std::vector<Raised> raised;  // by minion
};

}  // namespace polyloom::minion
