/* SPDX-License-Identifier: Apache-2.0 */
/* Control and pointers as libraries and tests of vectorizers write them; test_control.py compares each
   function with its nest. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* Forward jumps. */

void goto_two_ways(int n, float a[n + 1], float b[n], float c[n + 1], float d[n], float e[n]) {
  for (int i = 0; i < n; i++) {
    if (b[i] < 0.f) goto L20;
    a[i] = c[i] + d[i] * e[i];
    goto L10;
  L20:
    c[i + 1] = a[i] + d[i] * d[i];
  L10:;
  }
}

void goto_skips(int n, float a[n], float b[n + 1], float c[n], float d[n], float e[n]) {
  for (int i = 0; i < n; i++) {
    if (a[i] >= 0.f) goto L20;
    if (b[i] >= 0.f) goto L30;
    a[i] += c[i] * d[i];
  L30:
    b[i + 1] = c[i] + d[i] * e[i];
  L20:;
  }
}

void goto_joins(int n, float a[n], float b[n], float c[n], float d[n], float e[n]) {
  for (int i = 0; i < n; i++) {
    if (a[i] > 0.f) {
      goto L20;
    }
    b[i] = -b[i] + d[i] * e[i];
    goto L30;
  L20:
    c[i] = -c[i] + d[i] * e[i];
  L30:
    a[i] = b[i] + c[i] * d[i];
  }
}

void goto_nested(int n, int a[n], int b[n]) {
  for (int i = 0; i < n; i++) {
    if (a[i] > 0) {
      if (b[i] > 0) goto both;
      a[i] = -a[i];
      if (a[i] == -1) goto end;
      b[i]++;
    }
    b[i] += 2;
  both:
    a[i] += b[i];
  end:
    b[i] ^= 5;
  }
}

void goto_affine(int n, int a[n + 1], int b[n + 1]) {
  for (int i = 0; i < n; i++) {
    if (i < n / 2) goto first;
    a[i] = b[i] + 1;
    goto second;
  first:
    a[i] = b[i] - 1;
  second:
    a[i] *= 3;
  }
}

void goto_checks(int n, int m, int a[n], int b[n]) {
  if (m < 0) goto error;
  for (int i = 0; i < n; i++) a[i] = b[i] * m;
  return;
error:
  for (int i = 0; i < n; i++) a[i] = -1;
}

void goto_back(int n, int a[n]) {
  int i = 0;
  assert(n >= 1);
again:
  a[i] += i;
  i++;
  if (i < n) goto again;
}

/* Switches. */

void switch_data(int n, int a[n], int b[n]) {
  for (int i = 0; i < n; i++) switch (a[i] & 3) {
      case 0:
        b[i] = 7;
        break;
      case 1:
      case 2:
        b[i] += 2;
        break;
      default:
        b[i] = -b[i];
    }
}

void switch_falls(int n, int a[n], int b[n]) {
  for (int i = 0; i < n; i++) {
    switch (a[i]) {
      case -1:
        b[i]++; /* fall through */
      case 1:
        b[i] *= 3;
        if (b[i] > 4) break;
        b[i] -= 2;
      case 2: {
        a[i] = 4;
        break;
      }
      case 0: b[i] = 9;
    }
    a[i] ^= 1;
  }
}

enum mode { ADD, SUBTRACT, MULTIPLY };

void switch_mode(enum mode mode, int n, int a[n], int b[n]) {
  switch (mode) {
    case ADD:
      for (int i = 0; i < n; i++) a[i] += b[i];
      break;
    case SUBTRACT:
      for (int i = 0; i < n; i++) a[i] -= b[i];
      break;
    case MULTIPLY:
      for (int i = 0; i < n; i++) a[i] *= b[i];
  }
}

void switch_continues(int n, unsigned char a[n], unsigned b[n]) {
  for (int i = 0; i < n; i++) {
    switch (a[i]) {
      case 'a' - 96: continue;
      case 2u: b[i] = 5; break;
    }
    b[i] += 1;
  }
}

/* Results. */

typedef enum { OK = 0, LENGTH_ERROR = -1, ARGUMENT_ERROR = -2 } status;

status early_return(int n, int scale, int x[n], int y[n]) {
  if (scale < 0) return ARGUMENT_ERROR;
  if (n == 0) return LENGTH_ERROR;
  for (int i = 0; i < n; i++) y[i] = x[i] * scale;
  return OK;
}

enum mode enum_result(uint16_t n, enum mode mode, int x[n]) {
  enum mode next = mode == ADD ? SUBTRACT : MULTIPLY;
  for (uint16_t i = 0; i < n; i++) x[i] += next;
  return next;
}

/* Loops that count otherwise. */

void do_while(int n, int a[n], int b[n]) {
  int i = 0;
  assert(n > 0);
  do {
    a[i] = b[i] + 1;
    if (a[i] > 2) continue;
    b[i] = 0;
  } while (++i < n);
}

void do_down(uint32_t n, int16_t a[n], int16_t b[n]) {
  uint32_t count = n;
  const int16_t *in = a;
  int16_t *out = b;
  assert(n > 0);
  do {
    *out++ = (int16_t)(*in++ + 1);
    count--;
  } while (count > 0U);
}

void do_maybe_none(int n, int a[n + 1]) {
  int i = 0;
  do {
    a[i] += 3;
    i++;
  } while (i < n);
  a[i] = 2 * i;
}

void block_count(uint32_t blockSize, const float pSrcA[blockSize], const float pSrcB[blockSize],
                 float pDst[blockSize]) {
  uint32_t blkCnt = blockSize;
  while (blkCnt > 0U) {
    *pDst++ = (*pSrcA++) + (*pSrcB++);
    blkCnt--;
  }
}

void block_unrolled(uint32_t blockSize, const float pSrc[blockSize], float scale, float pDst[blockSize]) {
  uint32_t blkCnt;
  blkCnt = blockSize >> 2U;
  while (blkCnt > 0U) {
    *pDst++ = (*pSrc++) * scale;
    *pDst++ = (*pSrc++) * scale;
    *pDst++ = (*pSrc++) * scale;
    *pDst++ = (*pSrc++) * scale;
    blkCnt--;
  }
  blkCnt = blockSize % 0x4U;
  while (blkCnt > 0U) {
    *pDst++ = (*pSrc++) * scale;
    blkCnt--;
  }
}

void dot_unrolled(uint32_t blockSize, const float pSrcA[blockSize], const float pSrcB[blockSize], float *result) {
  uint32_t blkCnt = blockSize >> 2;
  float sum = 0.0f;
  while (blkCnt > 0) {
    sum += (*pSrcA++) * (*pSrcB++);
    sum += (*pSrcA++) * (*pSrcB++);
    sum += (*pSrcA++) * (*pSrcB++);
    sum += (*pSrcA++) * (*pSrcB++);
    blkCnt--;
  }
  blkCnt = blockSize & 3;
  while (blkCnt > 0) {
    sum += (*pSrcA++) * (*pSrcB++);
    --blkCnt;
  }
  *result = sum;
}

void quarter_bound(int n, int a[n], int b[n]) {
  assert(n >= 1);
  for (int i = 0; i <= (n - 1) / 4; i++) a[i] = b[4 * i];
  for (int i = 0; i < n >> 1; i++) b[i] = a[n / 2 - 1 - i];
}

void remainder_loop(int n, int a[n], int b[n]) {
  int i;
  for (i = 0; i < n - n % 4; i += 4) {
    a[i] = b[i] + 1;
    a[i + 1] = b[i + 1] + 1;
    a[i + 2] = b[i + 2] + 1;
    a[i + 3] = b[i + 3] + 1;
  }
  for (; i < n; i++) a[i] = b[i] + 1;
}

void unrolled_to_three(int n, int a[n], int b[n]) {
  int i = 0;
  for (; i + 3 < n; i += 4) {
    a[i] = b[i];
    a[i + 1] = b[i + 1];
    a[i + 2] = b[i + 2];
    a[i + 3] = b[i + 3];
  }
  for (; i < n; ++i) a[i] = b[i];
}

void stride_of_one_value(int n, int inc, int a[n], int b[3 * n]) {
  assert(inc == 3);
  for (int i = 0; i < n; i++) a[i] += b[i * inc];
  for (int i = 0; i < n; i += inc) a[i] -= 1;
  for (int i = n - 1, k = 1; i >= 0; i -= inc, k += inc) b[k - 1] = a[i];
}

void wraps_once(int n, int a[n], int b[n]) {
  int im1 = n - 1;
  assert(n >= 1);
  for (int i = 0; i < n; i++) {
    a[i] = b[i] + b[im1];
    im1 = i;
  }
}

void wraps_twice(int n, int a[n], int b[n]) {
  int im1 = n - 1, im2 = n - 2;
  assert(n >= 2);
  for (int i = 0; i < n; i++) {
    a[i] = b[i] + b[im1] + b[im2];
    im2 = im1;
    im1 = i;
  }
}

void carried_index(int n, int a[n + 2], int b[n + 2]) {
  int j = 0;
  for (int i = 0; i < n; i++) {
    a[i] = b[j];
    j = i + 1;
  }
  a[n] = j;
}

void lives_on(int n, int m, int a[n + m], int b[2]) {
  int i;
  for (i = 0; i < n; i++) a[i] = 1;
  for (; i < n + m; i++) a[i] = 2;
  b[0] = i;
}

int starts_two(int n, int a[3 * n], int b[n]) {
  int k;
  for (int i = k = 0; i < n; ++i, k += 3) a[k] = b[i];
  return k;
}

int16_t sixteen_bits(uint16_t rows, uint16_t cols, int16_t a[rows][cols]) {
  uint16_t row, col;
  int16_t last = 0;
  for (row = 0U; row < rows; row++)
    for (col = 0U; col < cols; col++) last = a[row][col] = (int16_t)(a[row][col] + row * cols);
  return last;
}

void sized(size_t n, int a[n], int b[n]) {
  for (size_t i = n; i > 0; --i) a[i - 1] = b[n - i];
}

/* Pointers. */



void pointer_copies(int n, float x[2 * n], float y[2 * n]) {
  const float *in = x + n, *again = in;
  float *out = y;
  for (int i = 0; i < n; i++) *out++ = *in++ * 2.f;
  in = again;
  for (int i = 0; i < n; i++, out++) *out = in[i];
}

void pointer_steps(int n, float x[3 * n], float y[n]) {
  const float *p = x;
  for (int i = 0; i < n; i++, p += 3) y[i] = p[0] + p[1] - p[2];
}

void pointer_stride(int n, int m, float x[n * m], float y[m]) {
  for (int j = 0; j < m; j++) {
    const float *p = x + j;
    float sum = 0;
    for (int i = 0; i < n; i++) {
      sum += *p;
      p += m;
    }
    y[j] = sum;
  }
}

void pointer_resets(uint16_t rows, uint16_t cols, const float m[rows * cols], const float v[cols], float y[rows]) {
  const float *pM = m, *pV;
  uint16_t row = rows;
  while (row > 0U) {
    float sum = 0.0f;
    uint16_t count = cols;
    pV = v;
    while (count > 0U) {
      sum += *pM++ * *pV++;
      count--;
    }
    *y++ = sum;
    row--;
  }
}

void row_address(int n, int m, int a[n][m], int b[n][m]) {
  for (int i = 0; i < n; i++) {
    int *row = a[i], *other = &b[i][0];
    for (int j = 0; j < m; j++) row[j] += *other++;
  }
}

void ping_pong(int steps, int n, int a[n + 2], int b[n + 2]) {
  int *from = a, *to = b;
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i <= n; i++) to[i] = from[i - 1] + from[i + 1];
    int *swap = from;
    from = to;
    to = swap;
  }
}

void backwards(int n, int x[n], int y[n]) {
  int *p = x + n, *q = &y[0];
  while (p != x) *q++ = *--p;
}

void until_end(int n, int x[n], int y[n]) {
  const int *p = x, *end = x + n;
  int *q = y;
  while (p < end) *q++ = 2 * *p++;
}

void growing_sums(unsigned n, const int x[n], int y[n]) {
  unsigned count = 1, left = n - 1U;
  const int *p = x;
  int *q = y;
  while (left > 0U) {
    int sum = 0;
    unsigned k = count >> 2U;
    while (k > 0U) {
      sum += *p++;
      sum += *p++ ^ 1;
      sum += *p++;
      sum -= *p++;
      k--;
    }
    k = count % 4U;
    while (k > 0U) {
      sum += *p++;
      k--;
    }
    *q++ = sum;
    p = x;
    count++;
    left--;
  }
}

void shrinking_sums(unsigned n, const int x[n], int y[n]) {
  unsigned count = n - 1U, left = count;
  const int *p = x, *first = x;
  int *q = y;
  while (left > 0U) {
    int sum = 0;
    unsigned k = count;
    while (k > 0U) {
      sum += *(p + 1);
      p++;
      k--;
    }
    *q++ = sum;
    p = ++first;
    count--;
    left--;
  }
}

void either_correlation(unsigned na, unsigned nb, const float a[na], const float b[nb], float y[2 * na + 2 * nb]) {
  const float *p = a, *q = b;
  float *to = y;
  unsigned char back = 0;
  unsigned i, j;
  if (na > nb) {
    j = na - nb;
    to += j;
  } else if (na < nb) {
    p = b;
    q = a;
    to = to + (na + nb - 2U);
    j = na;
    na = nb;
    nb = j;
    back = 1;
  }
  for (i = 0; i <= na + nb - 2U; i++) {
    float sum = 0.0f;
    for (j = 0; j <= i; j++)
      if (i - j < nb && j < na) sum += p[j] * q[i - j];
    if (back == 1)
      *to-- = sum;
    else
      *to++ = sum;
  }
}

void transpose_by_pointers(uint16_t n, uint16_t m, const int a[15], int b[15]) {
  assert(n == 3 && m == 5);
  const int *p = a;
  uint16_t rows = n, i = 0U;
  do {
    int *q = b + i;
    uint16_t columns = m;
    while (columns > 0U) {
      *q = *p++;
      q += n;
      columns--;
    }
    i++;
    rows--;
  } while (rows > 0U);
}

void scratch_then_result(int n, int m, const int x[n], int scratch[n], int y[n]) {
  const int *from = x;
  int *to;
  for (int r = 0; r < 2; r++) {
    to = scratch + r;
    from = x;
    for (int i = r; i < n; i++) *to++ = *from++;
  }
  from = scratch;
  to = y;
  for (int i = 0; i < n; i++) *to++ = *from++;
}

void swapped_roles(unsigned na, unsigned nb, const int a[na], const int b[nb], int y[na + nb]) {
  const int *longer, *shorter, *end, *p;
  int *to = y;
  if (na >= nb) {
    longer = a;
    shorter = b;
  } else {
    longer = b;
    shorter = a;
    unsigned swap = na;
    na = nb;
    nb = swap;
  }
  end = shorter + nb;
  for (unsigned i = 0; i < na; i++) {
    int sum = *longer++;
    p = shorter;
    while (p < end) sum += *p++;
    *to++ = sum;
    shorter = end - nb;
  }
}

static void all_magnitudes(const short *from, short *to, int n) {
  while (n > 0) {
    short in = *from++;
    *to++ = in > 0 ? in : (short)-in;
    n--;
  }
}

void magnitude_of_one(int n, const short x[n], short y[n]) {
  for (int i = 0; i < n; i++) {
    short v = x[i];
    if (v < -3) {
      all_magnitudes(&v, &v, 1);
      v -= 1;
    }
    y[i] = v;
  }
}

int null_checked(int n, const float x[n + 1], float y[n]) {
  if (!x || y == 0 || n < 1) return -1;
  for (int i = 0; i < n; i++) y[i] = x != 0 ? 2.0f * x[0] : 1.0f;
  return 0;
}

void window_sums(int n, const float x[n], float y[n]) {
  for (int i = 0, base = -1; i < n; i++, base += 1) {
    const int low = 0 > -base ? 0 : -base;
    const int high = 3 < n - base ? 3 : n - base;
    float sum = 0;
    for (int k = low; k < high; k++) sum += x[base + k];
    y[i] = sum / (float)(high - low);
  }
}

void rows_of_a_local(int n, const int x[4 * n], int y[4 * n]) {
  for (int i = 0; i < n; i++) {
    int left = 4;
    for (int j = 0; j < left; j++, x++, y++) *y = 3 * *x;
  }
}

static void doubled(const int *sums, const int *from, int *to, int n) {
  (void)sums;
  for (int i = 0; i < n; i++) to[i] = 2 * from[i];
}

void unused_pointer(int n, const int sums[n], const int x[3 * n], int y[3 * n]) {
  const int *own = sums;
  for (int rows = n; rows; rows--) {
    doubled(own, x, y, 3);
    x += 3;
    y += 3;
  }
}

void beyond_single(int n, const float x[n], float y[n]) {
  for (int i = 0; i < n; i++) y[i] = x[i] < 0 ? 1e40f : -1e40;
}
