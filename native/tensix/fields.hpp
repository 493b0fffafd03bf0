// SPDX-License-Identifier: Apache-2.0
// The configuration fields that the matrix unit, the unpackers and the packers read, by word, lowest bit and width
// (facts of the machine: the public list of backend configuration). Names follow that list.
#pragma once

#include <cstdint>

#include "state.hpp"

namespace polyloom::tensix {

// Where the members' configurations differ, of what every unit that both have needs: words per bank, the first word
// that both banks share, the scalar unit's first, the seed of random numbers; words of a thread, and its address modes,
// of which Wormhole's for Src have two words each.
struct Layout {
    uint32_t bank_words, global, thcon, seed, thread_words, mode_ab, mode_ab_words, mode_dst, mode_bias;
};
constexpr Layout layout(Member member) {
    return member == Member::Wormhole ? Layout{188, 152, 52, 164, 57, 7, 2, 23, 48}
                                      : Layout{224, 180, 64, 186, 68, 12, 1, 28, 47};
}

struct Field {
    uint16_t word;
    uint8_t shift, bits;
};

// What a thread sees: its own 16-bit registers, and the bank of configuration that its StateID selects.
struct Configuration {
    const std::array<uint32_t, ConfigState::WORDS>& bank;
    const std::array<uint32_t, ConfigState::THREAD_WORDS>& own;

    Configuration(const State& state, int thread) : bank(state.config.of(thread)), own(state.config.thread[thread]) {}

    [[nodiscard]] uint32_t operator()(Field field, uint32_t words_on = 0) const {
        return bits(bank[field.word + words_on], field);
    }
    [[nodiscard]] uint32_t thread(Field field, uint32_t words_on = 0) const {
        return bits(own[field.word + words_on], field);
    }
    static uint32_t bits(uint32_t word, Field field) {
        return word >> field.shift & (field.bits == 32 ? ~0u : (1u << field.bits) - 1);
    }
};

namespace own {  // of a thread
constexpr Field math_offset{1, 0, 12}, address_mode_set{2, 0, 1}, a_set{3, 0, 2}, a_override{3, 2, 1}, b_set{4, 0, 2};
constexpr Field keep_a{5, 0, 1}, keep_b{5, 1, 1}, fidelity{6, 0, 2}, context_offset_0{39, 0, 4};
constexpr Field context_offset_1{39, 8, 4}, force_fp16{56, 0, 1};
constexpr Field mode_ab{7, 0, 16}, mode_dst{23, 0, 16}, mode_pack{31, 0, 16}, mode_bias{48, 0, 16};
}  // namespace own

namespace alu {
constexpr Field a_override_format{0, 0, 4}, a_override{0, 4, 1}, dst_override_format{0, 10, 4}, dst_override{0, 14, 1};
constexpr Field stochastic{1, 0, 1}, stochastic_gasket{1, 1, 1}, stochastic_packer{1, 2, 1};
constexpr Field a_unsigned{1, 15, 1}, b_unsigned{1, 16, 1}, a_format{1, 17, 4}, dst_format{1, 25, 4};
constexpr Field fp32{1, 29, 1}, int8{1, 31, 1}, keep_denormals{2, 0, 1}, relu{2, 2, 4}, threshold{2, 6, 16};
constexpr Field dst_base{6, 0, 16}, descale{7, 0, 1}, descale_mode{7, 1, 1}, descale_value{165, 0, 32};
}  // namespace alu

namespace packer {  // the first group is shared, the second lies at `sections[i]` for packer i
constexpr Field x_stride{8, 0, 12}, y_stride{8, 12, 12}, z_stride{9, 0, 12}, w_stride{9, 12, 16};
constexpr Field out_y_stride{10, 12, 12}, out_z_stride{11, 0, 12}, out_w_stride{11, 12, 16};
constexpr Field base{12, 0, 16}, out_base{13, 0, 16};
constexpr Field read_32{14, 0, 1}, read_unsigned{14, 1, 1}, read_raw{14, 2, 1}, round_10{14, 3, 1};
constexpr Field face_select{15, 0, 8}, face_enable{15, 8, 1}, row_mapping{16, 0, 32}, edge_mask{20, 0, 16};
constexpr Field edge_infinity{20, 16, 1}, row_select{20, 17, 8}, reads_per_plane{24, 8, 8}, transposed{24, 23, 1};
constexpr Field dst_offset{152, 0, 12};
constexpr Field all_uncompressed{58, 17, 4}, all_uncompressed_override{58, 21, 1};
constexpr uint16_t sections[4] = {56, 84, 96, 124};
constexpr Field exponent_section{0, 16, 16}, address{1, 0, 32}, uncompressed{2, 0, 1}, add_offset{2, 1, 1};
constexpr Field counter_context{2, 2, 2}, out_format{2, 4, 4}, in_format{2, 8, 4}, no_header{2, 15, 1};
constexpr Field from_l1{2, 16, 1}, downsample_mask{3, 0, 16}, downsample_rate{3, 16, 3}, thresholding{3, 20, 1};
constexpr Field accumulate{3, 21, 1};
constexpr uint16_t limits[4] = {88, 90, 128, 130};  // limit address, then FIFO size
}  // namespace packer

namespace unpacker {  // at `section[u]`, but for those with a word of each unpacker
constexpr uint16_t section[2] = {52, 92}, strides[2] = {44, 46}, bases[2] = {40, 48}, forced[2] = {41, 49};
constexpr Field in_format{0, 0, 4}, is_uncompressed{0, 4, 1}, no_exponents{0, 5, 1}, blobs{0, 8, 3}, x_dim{0, 16, 16};
constexpr Field y_dim{1, 0, 8}, z_dim{1, 16, 8}, w_dim{2, 0, 8}, digest{3, 24, 8};
constexpr Field out_format{8, 0, 4}, throttle{8, 4, 2}, context_count{8, 6, 2}, transpose{8, 8, 1}, tileize{8, 9, 1};
constexpr Field advance_row{8, 10, 1}, to_dst{8, 11, 1}, upsample{8, 12, 2}, override_format{8, 14, 1};
constexpr Field shift{8, 16, 16}, force_exponent{9, 8, 1}, limit{10, 0, 17}, fifo{11, 0, 17};
constexpr Field base{12, 0, 32}, destination{20, 0, 32}, context_x_dim{22, 0, 32}, offset{28, 0, 16};
constexpr Field context_word{9, 0, 32}, context_formats{28, 16, 16};
constexpr Field out_y_stride{0, 12, 12}, out_z_stride{1, 0, 12}, out_w_stride{1, 12, 16}, out_base{0, 16, 16};
constexpr Field shared_exponent{0, 0, 8}, add_destination{0, 8, 1};
}  // namespace unpacker

}  // namespace polyloom::tensix
