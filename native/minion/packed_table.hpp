// SPDX-License-Identifier: Apache-2.0
// The packed instructions, made from xaifet.txt by polyloom.targets.minion.header (`make golden`).
// clang-format off
#pragma once

#include <cstdint>

namespace polyloom::minion {

// The file of a register field.
enum class File : uint8_t { none, x, f, m };

enum class Packed : uint8_t {
    FLQ2,
    FSQ2,
    FLW_PS,
    FSW_PS,
    FBC_PS,
    FBCX_PS,
    FBCI_PS,
    FBCI_PI,
    FGW_PS,
    FGH_PS,
    FGB_PS,
    FSCW_PS,
    FSCH_PS,
    FSCB_PS,
    FG32W_PS,
    FG32H_PS,
    FG32B_PS,
    FSC32W_PS,
    FSC32H_PS,
    FSC32B_PS,
    FLWL_PS,
    FSWL_PS,
    FGWL_PS,
    FGHL_PS,
    FGBL_PS,
    FSCWL_PS,
    FSCHL_PS,
    FSCBL_PS,
    FLWG_PS,
    FSWG_PS,
    FGWG_PS,
    FGHG_PS,
    FGBG_PS,
    FSCWG_PS,
    FSCHG_PS,
    FSCBG_PS,
    FAMOADDL_PI,
    FAMOSWAPL_PI,
    FAMOANDL_PI,
    FAMOORL_PI,
    FAMOXORL_PI,
    FAMOMINL_PI,
    FAMOMAXL_PI,
    FAMOMINUL_PI,
    FAMOMAXUL_PI,
    FAMOMAXL_PS,
    FAMOMINL_PS,
    FAMOADDG_PI,
    FAMOSWAPG_PI,
    FAMOANDG_PI,
    FAMOORG_PI,
    FAMOXORG_PI,
    FAMOMING_PI,
    FAMOMAXG_PI,
    FAMOMINUG_PI,
    FAMOMAXUG_PI,
    FAMOMAXG_PS,
    FAMOMING_PS,
    AMOADDL_W,
    AMOSWAPL_W,
    AMOXORL_W,
    AMOORL_W,
    AMOANDL_W,
    AMOMINL_W,
    AMOMAXL_W,
    AMOMINUL_W,
    AMOMAXUL_W,
    AMOCMPSWAPL_W,
    AMOADDL_D,
    AMOSWAPL_D,
    AMOXORL_D,
    AMOORL_D,
    AMOANDL_D,
    AMOMINL_D,
    AMOMAXL_D,
    AMOMINUL_D,
    AMOMAXUL_D,
    AMOCMPSWAPL_D,
    SBL,
    SHL,
    AMOADDG_W,
    AMOSWAPG_W,
    AMOXORG_W,
    AMOORG_W,
    AMOANDG_W,
    AMOMING_W,
    AMOMAXG_W,
    AMOMINUG_W,
    AMOMAXUG_W,
    AMOCMPSWAPG_W,
    AMOADDG_D,
    AMOSWAPG_D,
    AMOXORG_D,
    AMOORG_D,
    AMOANDG_D,
    AMOMING_D,
    AMOMAXG_D,
    AMOMINUG_D,
    AMOMAXUG_D,
    AMOCMPSWAPG_D,
    SBG,
    SHG,
    FADD_PS,
    FSUB_PS,
    FMUL_PS,
    FDIV_PS,
    FMADD_PS,
    FMSUB_PS,
    FNMSUB_PS,
    FNMADD_PS,
    FSGNJ_PS,
    FSGNJN_PS,
    FSGNJX_PS,
    FMIN_PS,
    FMAX_PS,
    FLE_PS,
    FLT_PS,
    FEQ_PS,
    FLEM_PS,
    FLTM_PS,
    FEQM_PS,
    FCLASS_PS,
    FROUND_PS,
    FSQRT_PS,
    FFRC_PS,
    FLOG_PS,
    FEXP_PS,
    FSIN_PS,
    FRCP_PS,
    FRSQ_PS,
    FCVT_PW_PS,
    FCVT_PWU_PS,
    FCVT_PS_PW,
    FCVT_PS_PWU,
    FCVT_PS_F10,
    FCVT_PS_F11,
    FCVT_PS_F16,
    FCVT_PS_UN24,
    FCVT_PS_UN16,
    FCVT_PS_UN10,
    FCVT_PS_UN8,
    FCVT_PS_UN2,
    FCVT_PS_SN16,
    FCVT_PS_SN8,
    FCVT_F11_PS,
    FCVT_F16_PS,
    FCVT_F10_PS,
    FCVT_UN24_PS,
    FCVT_UN16_PS,
    FCVT_UN10_PS,
    FCVT_UN8_PS,
    FCVT_UN2_PS,
    FCVT_SN16_PS,
    FCVT_SN8_PS,
    FADD_PI,
    FSUB_PI,
    FMUL_PI,
    FMULH_PI,
    FMULHU_PI,
    FDIV_PI,
    FDIVU_PI,
    FREM_PI,
    FREMU_PI,
    FMIN_PI,
    FMAX_PI,
    FMINU_PI,
    FMAXU_PI,
    FAND_PI,
    FOR_PI,
    FXOR_PI,
    FSLL_PI,
    FSRL_PI,
    FSRA_PI,
    FLE_PI,
    FLT_PI,
    FEQ_PI,
    FLTU_PI,
    FNOT_PI,
    FSAT8_PI,
    FSATU8_PI,
    FSLLI_PI,
    FSRLI_PI,
    FSRAI_PI,
    FADDI_PI,
    FANDI_PI,
    FLTM_PI,
    FSETM_PI,
    FPACKREPB_PI,
    FPACKREPH_PI,
    FCMOV_PS,
    FCMOVM_PS,
    FSWIZZ_PS,
    FMVZ_X_PS,
    FMVS_X_PS,
    PACKB,
    BITMIXB,
    MOV_M_X,
    MOVA_X_M,
    MOVA_M_X,
    MASKAND,
    MASKOR,
    MASKXOR,
    MASKNOT,
    MASKPOPC,
    MASKPOPCZ,
    COUNT,
};

struct PackedRow {
    uint32_t match, mask;
    Packed op;
    File rd, rs1, rs2, rs3;
};

inline constexpr PackedRow PACKED_ROWS[] = {
    {0xd600007b, 0xfffff07f, Packed::MOVA_X_M, File::x, File::none, File::none, File::none},  // mova.x.m
    {0xd600107b, 0xfff07fff, Packed::MOVA_M_X, File::none, File::x, File::none, File::none},  // mova.m.x
    {0x6600207b, 0xfffc7c7f, Packed::MASKNOT, File::m, File::m, File::none, File::none},  // masknot
    {0xa600407b, 0xfff07c7f, Packed::FSETM_PI, File::m, File::f, File::none, File::none},  // fsetm.pi
    {0x5200007b, 0xfffc707f, Packed::MASKPOPC, File::x, File::m, File::none, File::none},  // maskpopc
    {0x5400007b, 0xfffc707f, Packed::MASKPOPCZ, File::x, File::m, File::none, File::none},  // maskpopcz
    {0x6600707b, 0xff8c7c7f, Packed::MASKAND, File::m, File::m, File::m, File::none},  // maskand
    {0x6600607b, 0xff8c7c7f, Packed::MASKOR, File::m, File::m, File::m, File::none},  // maskor
    {0x6600407b, 0xff8c7c7f, Packed::MASKXOR, File::m, File::m, File::m, File::none},  // maskxor
    {0x0000300b, 0xfff0707f, Packed::FBCX_PS, File::f, File::x, File::none, File::none},  // fbcx.ps
    {0x1000700b, 0xfff0707f, Packed::FLWL_PS, File::f, File::x, File::none, File::none},  // flwl.ps
    {0x5000700b, 0xfff0707f, Packed::FSWL_PS, File::none, File::x, File::none, File::none},  // fswl.ps
    {0x1200700b, 0xfff0707f, Packed::FLWG_PS, File::f, File::x, File::none, File::none},  // flwg.ps
    {0x5200700b, 0xfff0707f, Packed::FSWG_PS, File::none, File::x, File::none, File::none},  // fswg.ps
    {0x1000303b, 0xfe007fff, Packed::SBL, File::none, File::x, File::x, File::none},  // sbl
    {0x1800303b, 0xfe007fff, Packed::SHL, File::none, File::x, File::x, File::none},  // shl
    {0x1200303b, 0xfe007fff, Packed::SBG, File::none, File::x, File::x, File::none},  // sbg
    {0x1a00303b, 0xfe007fff, Packed::SHG, File::none, File::x, File::x, File::none},  // shg
    {0xe000107b, 0xfff0707f, Packed::FCLASS_PS, File::f, File::f, File::none, File::none},  // fclass.ps
    {0x5800007b, 0xfff0707f, Packed::FSQRT_PS, File::f, File::f, File::none, File::none},  // fsqrt.ps
    {0x5820007b, 0xfff0707f, Packed::FFRC_PS, File::f, File::f, File::none, File::none},  // ffrc.ps
    {0x5830007b, 0xfff0707f, Packed::FLOG_PS, File::f, File::f, File::none, File::none},  // flog.ps
    {0x5840007b, 0xfff0707f, Packed::FEXP_PS, File::f, File::f, File::none, File::none},  // fexp.ps
    {0x5860007b, 0xfff0707f, Packed::FSIN_PS, File::f, File::f, File::none, File::none},  // fsin.ps
    {0x5870007b, 0xfff0707f, Packed::FRCP_PS, File::f, File::f, File::none, File::none},  // frcp.ps
    {0x5880007b, 0xfff0707f, Packed::FRSQ_PS, File::f, File::f, File::none, File::none},  // frsq.ps
    {0xd080007b, 0xfff0707f, Packed::FCVT_PS_F10, File::f, File::f, File::none, File::none},  // fcvt.ps.f10
    {0xd090007b, 0xfff0707f, Packed::FCVT_PS_F11, File::f, File::f, File::none, File::none},  // fcvt.ps.f11
    {0xd0a0007b, 0xfff0707f, Packed::FCVT_PS_F16, File::f, File::f, File::none, File::none},  // fcvt.ps.f16
    {0xd100007b, 0xfff0707f, Packed::FCVT_PS_UN24, File::f, File::f, File::none, File::none},  // fcvt.ps.un24
    {0xd110007b, 0xfff0707f, Packed::FCVT_PS_UN16, File::f, File::f, File::none, File::none},  // fcvt.ps.un16
    {0xd120007b, 0xfff0707f, Packed::FCVT_PS_UN10, File::f, File::f, File::none, File::none},  // fcvt.ps.un10
    {0xd130007b, 0xfff0707f, Packed::FCVT_PS_UN8, File::f, File::f, File::none, File::none},  // fcvt.ps.un8
    {0xd170007b, 0xfff0707f, Packed::FCVT_PS_UN2, File::f, File::f, File::none, File::none},  // fcvt.ps.un2
    {0xd190007b, 0xfff0707f, Packed::FCVT_PS_SN16, File::f, File::f, File::none, File::none},  // fcvt.ps.sn16
    {0xd1b0007b, 0xfff0707f, Packed::FCVT_PS_SN8, File::f, File::f, File::none, File::none},  // fcvt.ps.sn8
    {0xd880007b, 0xfff0707f, Packed::FCVT_F11_PS, File::f, File::f, File::none, File::none},  // fcvt.f11.ps
    {0xd890007b, 0xfff0707f, Packed::FCVT_F16_PS, File::f, File::f, File::none, File::none},  // fcvt.f16.ps
    {0xd8b0007b, 0xfff0707f, Packed::FCVT_F10_PS, File::f, File::f, File::none, File::none},  // fcvt.f10.ps
    {0xd900007b, 0xfff0707f, Packed::FCVT_UN24_PS, File::f, File::f, File::none, File::none},  // fcvt.un24.ps
    {0xd910007b, 0xfff0707f, Packed::FCVT_UN16_PS, File::f, File::f, File::none, File::none},  // fcvt.un16.ps
    {0xd920007b, 0xfff0707f, Packed::FCVT_UN10_PS, File::f, File::f, File::none, File::none},  // fcvt.un10.ps
    {0xd930007b, 0xfff0707f, Packed::FCVT_UN8_PS, File::f, File::f, File::none, File::none},  // fcvt.un8.ps
    {0xd970007b, 0xfff0707f, Packed::FCVT_UN2_PS, File::f, File::f, File::none, File::none},  // fcvt.un2.ps
    {0xd990007b, 0xfff0707f, Packed::FCVT_SN16_PS, File::f, File::f, File::none, File::none},  // fcvt.sn16.ps
    {0xd9b0007b, 0xfff0707f, Packed::FCVT_SN8_PS, File::f, File::f, File::none, File::none},  // fcvt.sn8.ps
    {0x0600207b, 0xfff0707f, Packed::FNOT_PI, File::f, File::f, File::none, File::none},  // fnot.pi
    {0x0600307b, 0xfff0707f, Packed::FSAT8_PI, File::f, File::f, File::none, File::none},  // fsat8.pi
    {0x0610307b, 0xfff0707f, Packed::FSATU8_PI, File::f, File::f, File::none, File::none},  // fsatu8.pi
    {0x2600007b, 0xfff0707f, Packed::FPACKREPB_PI, File::f, File::f, File::none, File::none},  // fpackrepb.pi
    {0x2600107b, 0xfff0707f, Packed::FPACKREPH_PI, File::f, File::f, File::none, File::none},  // fpackreph.pi
    {0xa000407b, 0xfe007c7f, Packed::FLEM_PS, File::m, File::f, File::f, File::none},  // flem.ps
    {0xa000507b, 0xfe007c7f, Packed::FLTM_PS, File::m, File::f, File::f, File::none},  // fltm.ps
    {0xa000607b, 0xfe007c7f, Packed::FEQM_PS, File::m, File::f, File::f, File::none},  // feqm.ps
    {0x5810007b, 0xfff0007f, Packed::FROUND_PS, File::f, File::f, File::none, File::none},  // fround.ps
    {0xc000007b, 0xfff0007f, Packed::FCVT_PW_PS, File::f, File::f, File::none, File::none},  // fcvt.pw.ps
    {0xc010007b, 0xfff0007f, Packed::FCVT_PWU_PS, File::f, File::f, File::none, File::none},  // fcvt.pwu.ps
    {0xd000007b, 0xfff0007f, Packed::FCVT_PS_PW, File::f, File::f, File::none, File::none},  // fcvt.ps.pw
    {0xd010007b, 0xfff0007f, Packed::FCVT_PS_PWU, File::f, File::f, File::none, File::none},  // fcvt.ps.pwu
    {0x3e00007b, 0xfe007c7f, Packed::FLTM_PI, File::m, File::f, File::f, File::none},  // fltm.pi
    {0xe000007b, 0xff80707f, Packed::FMVZ_X_PS, File::x, File::f, File::none, File::none},  // fmvz.x.ps
    {0xe000207b, 0xff80707f, Packed::FMVS_X_PS, File::x, File::f, File::none, File::none},  // fmvs.x.ps
    {0x6000100b, 0xfe00707f, Packed::FGW_PS, File::f, File::f, File::x, File::none},  // fgw.ps
    {0x5000100b, 0xfe00707f, Packed::FGH_PS, File::f, File::f, File::x, File::none},  // fgh.ps
    {0x4800100b, 0xfe00707f, Packed::FGB_PS, File::f, File::f, File::x, File::none},  // fgb.ps
    {0xe000100b, 0xfe00707f, Packed::FSCW_PS, File::none, File::f, File::x, File::none},  // fscw.ps
    {0xd000100b, 0xfe00707f, Packed::FSCH_PS, File::none, File::f, File::x, File::none},  // fsch.ps
    {0xc800100b, 0xfe00707f, Packed::FSCB_PS, File::none, File::f, File::x, File::none},  // fscb.ps
    {0x2000100b, 0xfe00707f, Packed::FG32W_PS, File::f, File::x, File::x, File::none},  // fg32w.ps
    {0x1000100b, 0xfe00707f, Packed::FG32H_PS, File::f, File::x, File::x, File::none},  // fg32h.ps
    {0x0800100b, 0xfe00707f, Packed::FG32B_PS, File::f, File::x, File::x, File::none},  // fg32b.ps
    {0xa000100b, 0xfe00707f, Packed::FSC32W_PS, File::none, File::x, File::x, File::none},  // fsc32w.ps
    {0x9000100b, 0xfe00707f, Packed::FSC32H_PS, File::none, File::x, File::x, File::none},  // fsc32h.ps
    {0x8800100b, 0xfe00707f, Packed::FSC32B_PS, File::none, File::x, File::x, File::none},  // fsc32b.ps
    {0x9000700b, 0xfe00707f, Packed::FGWL_PS, File::f, File::f, File::x, File::none},  // fgwl.ps
    {0x8800700b, 0xfe00707f, Packed::FGHL_PS, File::f, File::f, File::x, File::none},  // fghl.ps
    {0x8000700b, 0xfe00707f, Packed::FGBL_PS, File::f, File::f, File::x, File::none},  // fgbl.ps
    {0xd000700b, 0xfe00707f, Packed::FSCWL_PS, File::none, File::f, File::x, File::none},  // fscwl.ps
    {0xc800700b, 0xfe00707f, Packed::FSCHL_PS, File::none, File::f, File::x, File::none},  // fschl.ps
    {0xc000700b, 0xfe00707f, Packed::FSCBL_PS, File::none, File::f, File::x, File::none},  // fscbl.ps
    {0x9200700b, 0xfe00707f, Packed::FGWG_PS, File::f, File::f, File::x, File::none},  // fgwg.ps
    {0x8a00700b, 0xfe00707f, Packed::FGHG_PS, File::f, File::f, File::x, File::none},  // fghg.ps
    {0x8200700b, 0xfe00707f, Packed::FGBG_PS, File::f, File::f, File::x, File::none},  // fgbg.ps
    {0xd200700b, 0xfe00707f, Packed::FSCWG_PS, File::none, File::f, File::x, File::none},  // fscwg.ps
    {0xca00700b, 0xfe00707f, Packed::FSCHG_PS, File::none, File::f, File::x, File::none},  // fschg.ps
    {0xc200700b, 0xfe00707f, Packed::FSCBG_PS, File::none, File::f, File::x, File::none},  // fscbg.ps
    {0x0600400b, 0xfe00707f, Packed::FAMOADDL_PI, File::f, File::f, File::x, File::none},  // famoaddl.pi
    {0x0e00400b, 0xfe00707f, Packed::FAMOSWAPL_PI, File::f, File::f, File::x, File::none},  // famoswapl.pi
    {0x1600400b, 0xfe00707f, Packed::FAMOANDL_PI, File::f, File::f, File::x, File::none},  // famoandl.pi
    {0x1e00400b, 0xfe00707f, Packed::FAMOORL_PI, File::f, File::f, File::x, File::none},  // famoorl.pi
    {0x2600400b, 0xfe00707f, Packed::FAMOXORL_PI, File::f, File::f, File::x, File::none},  // famoxorl.pi
    {0x2e00400b, 0xfe00707f, Packed::FAMOMINL_PI, File::f, File::f, File::x, File::none},  // famominl.pi
    {0x3600400b, 0xfe00707f, Packed::FAMOMAXL_PI, File::f, File::f, File::x, File::none},  // famomaxl.pi
    {0x3e00400b, 0xfe00707f, Packed::FAMOMINUL_PI, File::f, File::f, File::x, File::none},  // famominul.pi
    {0x4600400b, 0xfe00707f, Packed::FAMOMAXUL_PI, File::f, File::f, File::x, File::none},  // famomaxul.pi
    {0x2800400b, 0xfe00707f, Packed::FAMOMAXL_PS, File::f, File::f, File::x, File::none},  // famomaxl.ps
    {0x3000400b, 0xfe00707f, Packed::FAMOMINL_PS, File::f, File::f, File::x, File::none},  // famominl.ps
    {0x8600400b, 0xfe00707f, Packed::FAMOADDG_PI, File::f, File::f, File::x, File::none},  // famoaddg.pi
    {0x8e00400b, 0xfe00707f, Packed::FAMOSWAPG_PI, File::f, File::f, File::x, File::none},  // famoswapg.pi
    {0x9600400b, 0xfe00707f, Packed::FAMOANDG_PI, File::f, File::f, File::x, File::none},  // famoandg.pi
    {0x9e00400b, 0xfe00707f, Packed::FAMOORG_PI, File::f, File::f, File::x, File::none},  // famoorg.pi
    {0xa600400b, 0xfe00707f, Packed::FAMOXORG_PI, File::f, File::f, File::x, File::none},  // famoxorg.pi
    {0xae00400b, 0xfe00707f, Packed::FAMOMING_PI, File::f, File::f, File::x, File::none},  // famoming.pi
    {0xb600400b, 0xfe00707f, Packed::FAMOMAXG_PI, File::f, File::f, File::x, File::none},  // famomaxg.pi
    {0xbe00400b, 0xfe00707f, Packed::FAMOMINUG_PI, File::f, File::f, File::x, File::none},  // famominug.pi
    {0xc600400b, 0xfe00707f, Packed::FAMOMAXUG_PI, File::f, File::f, File::x, File::none},  // famomaxug.pi
    {0xa800400b, 0xfe00707f, Packed::FAMOMAXG_PS, File::f, File::f, File::x, File::none},  // famomaxg.ps
    {0xb000400b, 0xfe00707f, Packed::FAMOMING_PS, File::f, File::f, File::x, File::none},  // famoming.ps
    {0x0000203b, 0xfe00707f, Packed::AMOADDL_W, File::x, File::x, File::x, File::none},  // amoaddl.w
    {0x0800203b, 0xfe00707f, Packed::AMOSWAPL_W, File::x, File::x, File::x, File::none},  // amoswapl.w
    {0x2000203b, 0xfe00707f, Packed::AMOXORL_W, File::x, File::x, File::x, File::none},  // amoxorl.w
    {0x4000203b, 0xfe00707f, Packed::AMOORL_W, File::x, File::x, File::x, File::none},  // amoorl.w
    {0x6000203b, 0xfe00707f, Packed::AMOANDL_W, File::x, File::x, File::x, File::none},  // amoandl.w
    {0x8000203b, 0xfe00707f, Packed::AMOMINL_W, File::x, File::x, File::x, File::none},  // amominl.w
    {0xa000203b, 0xfe00707f, Packed::AMOMAXL_W, File::x, File::x, File::x, File::none},  // amomaxl.w
    {0xc000203b, 0xfe00707f, Packed::AMOMINUL_W, File::x, File::x, File::x, File::none},  // amominul.w
    {0xe000203b, 0xfe00707f, Packed::AMOMAXUL_W, File::x, File::x, File::x, File::none},  // amomaxul.w
    {0xf000203b, 0xfe00707f, Packed::AMOCMPSWAPL_W, File::x, File::x, File::x, File::none},  // amocmpswapl.w
    {0x0000303b, 0xfe00707f, Packed::AMOADDL_D, File::x, File::x, File::x, File::none},  // amoaddl.d
    {0x0800303b, 0xfe00707f, Packed::AMOSWAPL_D, File::x, File::x, File::x, File::none},  // amoswapl.d
    {0x2000303b, 0xfe00707f, Packed::AMOXORL_D, File::x, File::x, File::x, File::none},  // amoxorl.d
    {0x4000303b, 0xfe00707f, Packed::AMOORL_D, File::x, File::x, File::x, File::none},  // amoorl.d
    {0x6000303b, 0xfe00707f, Packed::AMOANDL_D, File::x, File::x, File::x, File::none},  // amoandl.d
    {0x8000303b, 0xfe00707f, Packed::AMOMINL_D, File::x, File::x, File::x, File::none},  // amominl.d
    {0xa000303b, 0xfe00707f, Packed::AMOMAXL_D, File::x, File::x, File::x, File::none},  // amomaxl.d
    {0xc000303b, 0xfe00707f, Packed::AMOMINUL_D, File::x, File::x, File::x, File::none},  // amominul.d
    {0xe000303b, 0xfe00707f, Packed::AMOMAXUL_D, File::x, File::x, File::x, File::none},  // amomaxul.d
    {0xf000303b, 0xfe00707f, Packed::AMOCMPSWAPL_D, File::x, File::x, File::x, File::none},  // amocmpswapl.d
    {0x0200203b, 0xfe00707f, Packed::AMOADDG_W, File::x, File::x, File::x, File::none},  // amoaddg.w
    {0x0a00203b, 0xfe00707f, Packed::AMOSWAPG_W, File::x, File::x, File::x, File::none},  // amoswapg.w
    {0x2200203b, 0xfe00707f, Packed::AMOXORG_W, File::x, File::x, File::x, File::none},  // amoxorg.w
    {0x4200203b, 0xfe00707f, Packed::AMOORG_W, File::x, File::x, File::x, File::none},  // amoorg.w
    {0x6200203b, 0xfe00707f, Packed::AMOANDG_W, File::x, File::x, File::x, File::none},  // amoandg.w
    {0x8200203b, 0xfe00707f, Packed::AMOMING_W, File::x, File::x, File::x, File::none},  // amoming.w
    {0xa200203b, 0xfe00707f, Packed::AMOMAXG_W, File::x, File::x, File::x, File::none},  // amomaxg.w
    {0xc200203b, 0xfe00707f, Packed::AMOMINUG_W, File::x, File::x, File::x, File::none},  // amominug.w
    {0xe200203b, 0xfe00707f, Packed::AMOMAXUG_W, File::x, File::x, File::x, File::none},  // amomaxug.w
    {0xf200203b, 0xfe00707f, Packed::AMOCMPSWAPG_W, File::x, File::x, File::x, File::none},  // amocmpswapg.w
    {0x0200303b, 0xfe00707f, Packed::AMOADDG_D, File::x, File::x, File::x, File::none},  // amoaddg.d
    {0x0a00303b, 0xfe00707f, Packed::AMOSWAPG_D, File::x, File::x, File::x, File::none},  // amoswapg.d
    {0x2200303b, 0xfe00707f, Packed::AMOXORG_D, File::x, File::x, File::x, File::none},  // amoxorg.d
    {0x4200303b, 0xfe00707f, Packed::AMOORG_D, File::x, File::x, File::x, File::none},  // amoorg.d
    {0x6200303b, 0xfe00707f, Packed::AMOANDG_D, File::x, File::x, File::x, File::none},  // amoandg.d
    {0x8200303b, 0xfe00707f, Packed::AMOMING_D, File::x, File::x, File::x, File::none},  // amoming.d
    {0xa200303b, 0xfe00707f, Packed::AMOMAXG_D, File::x, File::x, File::x, File::none},  // amomaxg.d
    {0xc200303b, 0xfe00707f, Packed::AMOMINUG_D, File::x, File::x, File::x, File::none},  // amominug.d
    {0xe200303b, 0xfe00707f, Packed::AMOMAXUG_D, File::x, File::x, File::x, File::none},  // amomaxug.d
    {0xf200303b, 0xfe00707f, Packed::AMOCMPSWAPG_D, File::x, File::x, File::x, File::none},  // amocmpswapg.d
    {0x2000007b, 0xfe00707f, Packed::FSGNJ_PS, File::f, File::f, File::f, File::none},  // fsgnj.ps
    {0x2000107b, 0xfe00707f, Packed::FSGNJN_PS, File::f, File::f, File::f, File::none},  // fsgnjn.ps
    {0x2000207b, 0xfe00707f, Packed::FSGNJX_PS, File::f, File::f, File::f, File::none},  // fsgnjx.ps
    {0x2800007b, 0xfe00707f, Packed::FMIN_PS, File::f, File::f, File::f, File::none},  // fmin.ps
    {0x2800107b, 0xfe00707f, Packed::FMAX_PS, File::f, File::f, File::f, File::none},  // fmax.ps
    {0xa000007b, 0xfe00707f, Packed::FLE_PS, File::f, File::f, File::f, File::none},  // fle.ps
    {0xa000107b, 0xfe00707f, Packed::FLT_PS, File::f, File::f, File::f, File::none},  // flt.ps
    {0xa000207b, 0xfe00707f, Packed::FEQ_PS, File::f, File::f, File::f, File::none},  // feq.ps
    {0x0600007b, 0xfe00707f, Packed::FADD_PI, File::f, File::f, File::f, File::none},  // fadd.pi
    {0x0e00007b, 0xfe00707f, Packed::FSUB_PI, File::f, File::f, File::f, File::none},  // fsub.pi
    {0x1600007b, 0xfe00707f, Packed::FMUL_PI, File::f, File::f, File::f, File::none},  // fmul.pi
    {0x1600107b, 0xfe00707f, Packed::FMULH_PI, File::f, File::f, File::f, File::none},  // fmulh.pi
    {0x1600207b, 0xfe00707f, Packed::FMULHU_PI, File::f, File::f, File::f, File::none},  // fmulhu.pi
    {0x1e00007b, 0xfe00707f, Packed::FDIV_PI, File::f, File::f, File::f, File::none},  // fdiv.pi
    {0x1e00107b, 0xfe00707f, Packed::FDIVU_PI, File::f, File::f, File::f, File::none},  // fdivu.pi
    {0x1e00207b, 0xfe00707f, Packed::FREM_PI, File::f, File::f, File::f, File::none},  // frem.pi
    {0x1e00307b, 0xfe00707f, Packed::FREMU_PI, File::f, File::f, File::f, File::none},  // fremu.pi
    {0x2e00007b, 0xfe00707f, Packed::FMIN_PI, File::f, File::f, File::f, File::none},  // fmin.pi
    {0x2e00107b, 0xfe00707f, Packed::FMAX_PI, File::f, File::f, File::f, File::none},  // fmax.pi
    {0x2e00207b, 0xfe00707f, Packed::FMINU_PI, File::f, File::f, File::f, File::none},  // fminu.pi
    {0x2e00307b, 0xfe00707f, Packed::FMAXU_PI, File::f, File::f, File::f, File::none},  // fmaxu.pi
    {0x0600707b, 0xfe00707f, Packed::FAND_PI, File::f, File::f, File::f, File::none},  // fand.pi
    {0x0600607b, 0xfe00707f, Packed::FOR_PI, File::f, File::f, File::f, File::none},  // for.pi
    {0x0600407b, 0xfe00707f, Packed::FXOR_PI, File::f, File::f, File::f, File::none},  // fxor.pi
    {0x0600107b, 0xfe00707f, Packed::FSLL_PI, File::f, File::f, File::f, File::none},  // fsll.pi
    {0x0600507b, 0xfe00707f, Packed::FSRL_PI, File::f, File::f, File::f, File::none},  // fsrl.pi
    {0x0e00507b, 0xfe00707f, Packed::FSRA_PI, File::f, File::f, File::f, File::none},  // fsra.pi
    {0xa600007b, 0xfe00707f, Packed::FLE_PI, File::f, File::f, File::f, File::none},  // fle.pi
    {0xa600107b, 0xfe00707f, Packed::FLT_PI, File::f, File::f, File::f, File::none},  // flt.pi
    {0xa600207b, 0xfe00707f, Packed::FEQ_PI, File::f, File::f, File::f, File::none},  // feq.pi
    {0xa600307b, 0xfe00707f, Packed::FLTU_PI, File::f, File::f, File::f, File::none},  // fltu.pi
    {0x4e00107b, 0xfe00707f, Packed::FSLLI_PI, File::f, File::f, File::none, File::none},  // fslli.pi
    {0x4e00507b, 0xfe00707f, Packed::FSRLI_PI, File::f, File::f, File::none, File::none},  // fsrli.pi
    {0x4e00707b, 0xfe00707f, Packed::FSRAI_PI, File::f, File::f, File::none, File::none},  // fsrai.pi
    {0x00000077, 0xfe00707f, Packed::FCMOVM_PS, File::f, File::f, File::f, File::none},  // fcmovm.ps
    {0x8000603b, 0xfe00707f, Packed::PACKB, File::x, File::x, File::x, File::none},  // packb
    {0x8000703b, 0xfe00707f, Packed::BITMIXB, File::x, File::x, File::x, File::none},  // bitmixb
    {0x5600007b, 0xfe000c7f, Packed::MOV_M_X, File::m, File::x, File::none, File::none},  // mov.m.x
    {0x0000007b, 0xfe00007f, Packed::FADD_PS, File::f, File::f, File::f, File::none},  // fadd.ps
    {0x0800007b, 0xfe00007f, Packed::FSUB_PS, File::f, File::f, File::f, File::none},  // fsub.ps
    {0x1000007b, 0xfe00007f, Packed::FMUL_PS, File::f, File::f, File::f, File::none},  // fmul.ps
    {0x1800007b, 0xfe00007f, Packed::FDIV_PS, File::f, File::f, File::f, File::none},  // fdiv.ps
    {0xe600007b, 0xfe00007f, Packed::FSWIZZ_PS, File::f, File::f, File::none, File::none},  // fswizz.ps
    {0x0400003f, 0x0600707f, Packed::FADDI_PI, File::f, File::f, File::none, File::none},  // faddi.pi
    {0x0400103f, 0x0600707f, Packed::FANDI_PI, File::f, File::f, File::none, File::none},  // fandi.pi
    {0x0400203f, 0x0600707f, Packed::FCMOV_PS, File::f, File::f, File::f, File::f},  // fcmov.ps
    {0x00005007, 0x0000707f, Packed::FLQ2, File::f, File::x, File::none, File::none},  // flq2
    {0x00005027, 0x0000707f, Packed::FSQ2, File::none, File::x, File::f, File::none},  // fsq2
    {0x0000200b, 0x0000707f, Packed::FLW_PS, File::f, File::x, File::none, File::none},  // flw.ps
    {0x0000600b, 0x0000707f, Packed::FSW_PS, File::none, File::x, File::f, File::none},  // fsw.ps
    {0x0000000b, 0x0000707f, Packed::FBC_PS, File::f, File::x, File::none, File::none},  // fbc.ps
    {0x0000005b, 0x0600007f, Packed::FMADD_PS, File::f, File::f, File::f, File::f},  // fmadd.ps
    {0x0200005b, 0x0600007f, Packed::FMSUB_PS, File::f, File::f, File::f, File::f},  // fmsub.ps
    {0x0400005b, 0x0600007f, Packed::FNMSUB_PS, File::f, File::f, File::f, File::f},  // fnmsub.ps
    {0x0600005b, 0x0600007f, Packed::FNMADD_PS, File::f, File::f, File::f, File::f},  // fnmadd.ps
    {0x0000001f, 0x0000007f, Packed::FBCI_PS, File::f, File::none, File::none, File::none},  // fbci.ps
    {0x0000005f, 0x0000007f, Packed::FBCI_PI, File::f, File::none, File::none, File::none},  // fbci.pi
};

}  // namespace polyloom::minion
