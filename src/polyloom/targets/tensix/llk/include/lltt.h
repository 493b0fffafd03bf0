// SPDX-License-Identifier: Apache-2.0
// The replay buffer of the thread: slots in which instructions are recorded, and from which they are issued again.
#ifndef POLYLOOM_LLK_LLTT_H
#define POLYLOOM_LLK_LLTT_H

#include <cstdint>

#ifdef POLYLOOM_CALLED_WORDS
#define POLYLOOM_REPLAY(word) __sfpi_word(int(word))
#else
extern volatile std::uint32_t __instrn_buffer[];
#define POLYLOOM_REPLAY(word) (void)(__instrn_buffer[0] = (word))
#endif

namespace lltt {

enum ExecBool : bool { NoExec, Exec };

constexpr std::uint32_t replay_word(unsigned start, unsigned length, unsigned exec, unsigned load) {
    return 0x04u << 24 | start << 14 | length << 4 | exec << 1 | load;
}

template <ExecBool E = NoExec>
__attribute__((always_inline)) inline void record(unsigned start, unsigned length) {
    POLYLOOM_REPLAY(replay_word(start, length, E, 1));
}
__attribute__((always_inline)) inline void replay(unsigned start, unsigned length) {
    POLYLOOM_REPLAY(replay_word(start, length, 0, 0));
}
constexpr std::uint32_t replay_insn(unsigned start, unsigned length) { return replay_word(start, length, 0, 0); }

}  // namespace lltt

#endif
