// SPDX-License-Identifier: Apache-2.0
// The operations of the vector unit as functions, made of the table of operations: do not edit.
#ifndef POLYLOOM_SFPI_OPERATIONS_H
#define POLYLOOM_SFPI_OPERATIONS_H

#define sfpi_inline __attribute__((always_inline)) inline

struct __sfpi_vector;
struct __sfpi_mask;
typedef struct __sfpi_vector __attribute__((address_space(1))) *__sfpi_v;
typedef struct __sfpi_mask __attribute__((address_space(2))) *__sfpi_m;
typedef struct {
    __sfpi_v first, second;
} __sfpi_v2;

extern "C" {
#define SFPI_OPERATION(result, name, ...) __attribute__((nomerge)) result name(__VA_ARGS__)

SFPI_OPERATION(__sfpi_v, __sfpi_splat, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfploadi, int, int);
SFPI_OPERATION(__sfpi_v, __sfpi_undefined, void);
SFPI_OPERATION(__sfpi_v, __sfpi_assign, __sfpi_v, __sfpi_v);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpmad, __sfpi_v, __sfpi_v, __sfpi_v, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpmul, __sfpi_v, __sfpi_v, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpadd, __sfpi_v, __sfpi_v, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpsub, __sfpi_v, __sfpi_v);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpmov, __sfpi_v, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpabs, __sfpi_v, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfparecip, __sfpi_v, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpexexp, __sfpi_v, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpexman, __sfpi_v, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpsetexp_i, __sfpi_v, int, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpsetexp_v, __sfpi_v, __sfpi_v, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpsetman_i, __sfpi_v, int, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpsetman_v, __sfpi_v, __sfpi_v, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpsetsgn_i, __sfpi_v, int, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpsetsgn_v, __sfpi_v, __sfpi_v, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpdivp2, __sfpi_v, int, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpiadd_v, __sfpi_v, __sfpi_v, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpiadd_i, __sfpi_v, int, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpand, __sfpi_v, __sfpi_v);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpor, __sfpi_v, __sfpi_v);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpxor, __sfpi_v, __sfpi_v);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpnot, __sfpi_v);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpshft_v, __sfpi_v, __sfpi_v, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpshft_i, __sfpi_v, int, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfplz, __sfpi_v, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpmul24, __sfpi_v, __sfpi_v, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpcast, __sfpi_v, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpstochrnd_i, __sfpi_v, int, int, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpstochrnd_v, __sfpi_v, __sfpi_v, int, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfplut, __sfpi_v, __sfpi_v, __sfpi_v, __sfpi_v, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfplutfp32_3r, __sfpi_v, __sfpi_v, __sfpi_v, __sfpi_v, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfplutfp32_6r, __sfpi_v, __sfpi_v, __sfpi_v, __sfpi_v, __sfpi_v, __sfpi_v, __sfpi_v, int);
SFPI_OPERATION(__sfpi_v2, __sfpi_sfpswap, __sfpi_v, __sfpi_v, int);
SFPI_OPERATION(__sfpi_v, __sfpi_transposed, __sfpi_v, __sfpi_v, __sfpi_v, __sfpi_v);
SFPI_OPERATION(__sfpi_v, __sfpi_part, __sfpi_v, int);
SFPI_OPERATION(__sfpi_v, __sfpi_sfpshft2_subvec_shfl1, __sfpi_v, int);
SFPI_OPERATION(__sfpi_v, __sfpi_rand, void);
SFPI_OPERATION(__sfpi_m, __sfpi_cmp_f, int, __sfpi_v, __sfpi_v);
SFPI_OPERATION(__sfpi_m, __sfpi_cmp_i, int, __sfpi_v, __sfpi_v);
SFPI_OPERATION(__sfpi_m, __sfpi_cmp_u, int, __sfpi_v, __sfpi_v);
SFPI_OPERATION(__sfpi_m, __sfpi_mask_and, __sfpi_m, __sfpi_m);
SFPI_OPERATION(__sfpi_m, __sfpi_mask_or, __sfpi_m, __sfpi_m);
SFPI_OPERATION(__sfpi_m, __sfpi_mask_not, __sfpi_m);
SFPI_OPERATION(__sfpi_m, __sfpi_mask_of, __sfpi_v);
SFPI_OPERATION(__sfpi_v, __sfpi_int_of, __sfpi_m);
SFPI_OPERATION(void, __sfpi_push, void);
SFPI_OPERATION(void, __sfpi_cond, __sfpi_m);
SFPI_OPERATION(void, __sfpi_else_, void);
SFPI_OPERATION(void, __sfpi_and_, __sfpi_m);
SFPI_OPERATION(void, __sfpi_pop, void);
SFPI_OPERATION(__sfpi_v, __sfpi_load, int, int, int);
SFPI_OPERATION(void, __sfpi_store, __sfpi_v, int, int, int);
SFPI_OPERATION(__sfpi_v, __sfpi_config_read, int);
SFPI_OPERATION(void, __sfpi_config_write, int, __sfpi_v);
SFPI_OPERATION(__sfpi_v, __sfpi_lreg_read, int);
SFPI_OPERATION(void, __sfpi_lreg_write, int, __sfpi_v);
SFPI_OPERATION(void, __sfpi_word, int);
SFPI_OPERATION(void, __sfpi_print_text, const char *, int);
SFPI_OPERATION(void, __sfpi_print_int, int);
SFPI_OPERATION(void, __sfpi_print_unsigned, int);

#undef SFPI_OPERATION
}

#endif
