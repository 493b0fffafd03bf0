// SPDX-License-Identifier: Apache-2.0
// Kernels in the spelling of the SFPI page.
#include "sfpi.h"
using namespace sfpi;
sfpi_inline vInt sfpu_is_fp16_zero(const vFloat& v, uint exponent_size_8)
{
    if (exponent_size_8) {
        return v == 0.0F;
    } else {
        vInt tmp = 0x3800;
        tmp += reinterpret<vInt>(v);
        return tmp == 0;
    }
}
void zero(uint e) {
  vFloat v = dst_reg[0];
  v_if (sfpu_is_fp16_zero(v, e)) { dst_reg[0] = 1.0f; } v_else { dst_reg[0] = 0.0f; } v_endif;
}
void narrow(int n) {
  vInt v1 = 5; vFloat v2 = dst_reg[0];
  v_block {
    for (int x = 0; x < n; x++) {
        v1 = v1 - 1;
        v_and (v1 >= 0);
        v2 *= 2;
    }
  }
  v_endblock;
  dst_reg[1] = v2;
}
void consts() {
  vConstFloatPrgm0 = 3.14159265;
  vFloat two_pi = 2.0f * vConstFloatPrgm0;
  dst_reg[0] = two_pi + vConst1 - vConstNeg1;
  dst_reg[1] = vConst0p8373;
  dst_reg[2] = vConst0;
  dst_reg[3] = dst_reg[0] * dst_reg[1] + dst_reg[2];
  vInt t = vConstTileId; t += 1; t = t & 0xff; ++t;
  dst_reg[4] = t;
  vFloat x = l_reg[LRegs::LReg1];
  vFloat y = x + 2.0f;
  l_reg[LRegs::LReg1] = x;
  dst_reg[5] = y;
  float f = 1.0F; unsigned ui = 0x3c00;
  vFloat z = s2vFloat16a(ui); z = z + vFloat(s2vFloat16a(f)); dst_reg[6] = z;
  dst_reg[7] = -dst_reg[6];
}
void rt(float f) { vFloat x = s2vFloat16a(f); vFloat y = s2vFloat16b(f); dst_reg[0] = x + y; }
void print(int n) { vFloat a = dst_reg[0]; v_if (a < 0.0f) { DPRINT << "a < b\n"; } v_else { dst_reg[0] = 0.5f; DPRINT << "a >= b" << n << ENDL(); } v_endif; }
void lambda() { auto sq = [](vFloat v) { return v * v; }; dst_reg[0] = sq(vFloat(dst_reg[0])); }
void cond2() { vFloat a = dst_reg[0]; vInt c = a < 1.0f; vInt d = a > -1.0f; v_if (c && d) { a = 0.0f; } v_elseif (!c) { a = 2.0f; } v_endif; dst_reg[0] = a; }
void ret(int n) { for (int k = 0; k < n; k++) { vFloat a = dst_reg[0]; v_if (a < 0.0f) { if (k == 3) break; a = -a; v_if (a > 2.0f) { if (k == 1) continue; a = 2.0f; } v_endif; } v_endif; dst_reg[0] = a; dst_reg++; } }
void undef() { vFloat a; v_if (dst_reg[0] < 0.0f) { a = 1.0f; } v_endif; dst_reg[0] = a; }
void uns() { vUInt a = dst_reg[0]; v_if (a < 5) { a = 7; } v_endif; v_if (a >= 0x80000000u) { a = a >> 1; } v_endif; dst_reg[0] = a; }
