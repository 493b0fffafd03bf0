/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are called: pointers into arrays and structures as arguments. */
static float walk(const float *p, int n) { float s = 0; for (int i = 0; i < n; i++) s += *p++; return s; }
static float walk2(const float *p, int n) { const float *q = p + 1; float s = 0; for (int i = 0; i < n; i++) s += *q++; return s; }
static void put(float *p, float x) { p[0] = x; p[1] += x; }
static void put2(float *p, float x) { put(p + 1, x); put(&p[2], x); }
static int width(void) { return 5; }
static float mix(float x, int k) { if (k > 2) return x * 2; return x; }
struct s { float x, y; };
static void set(struct s *p, float v) { p->x = v; p->y = v + 1; }
struct t { struct s in; float *data; int n; };
static float total(const struct t *T) { float s = T->in.x; for (int i = 0; i < T->n; i++) s += T->data[i]; return s; }
void pointers_walk(int n, float A[n], float B[n], float C[8]) { C[0] = walk(A, n); C[1] = walk(B, n); C[2] = walk2(A, n - 1) + walk2(B, n - 1); }
void rows_are_passed(float C[8][8]) { for (int i = 0; i < 8; i++) put2(C[i], i); put(&C[1][2], 3); for (int i = 0; i < width(); i++) put2(&C[i][1], 1); }
void call_in_a_branch(int n, float A[n], float B[n]) { for (int i = 0; i < n; i++) A[i] = i > 0 ? mix(B[i - 1], i) : 0; }
void structure_by_address(int n, float A[n]) { struct s q; for (int i = 0; i < n; i++) { set(&q, A[i]); A[i] = q.x * q.y; } }
/* shapes T->data=T->n */
void nested_structure(struct t *T, float out[1]) { set(&T->in, 2.0f); out[0] = total(T); }
void calls_in_both_branches(int n, float A[n]) { for (int i = 0; i < n; i++) A[i] = A[i] > 1.5f ? mix(A[i], i) + mix(A[i], 5) : mix(A[i], 1); }
