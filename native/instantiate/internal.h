// SPDX-License-Identifier: Apache-2.0
// clang-format Language: C
// What the files of the instantiation share. Functions that return bool return false once the context has an error.
// Arithmetic is checked: an overflow sets the error and gives 0. Sets, half-spaces and domains are interned: equal ones
// are one pointer.
#ifndef POLYLOOM_INTERNAL_H
#define POLYLOOM_INTERNAL_H

#include <stdbool.h>

#include "polyloom_instantiate.h"
#include "polyloom_plan.h"

// A freestanding compiler has no <string.h>, but expects these to exist; memory.c has what else is done with bytes.
void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memset(void *to, int value, size_t size);

#define PARAMETERS 63
#define SYMBOLIC_VERSION 3  // of the format
#define CONCRETE_VERSION 5
#define NONE UINT32_MAX
#define TRY(x)                  \
    do {                        \
        if (!(x)) return false; \
    } while (0)

// Where text counts, a function that is called from several places stays one.
#ifdef __OPTIMIZE_SIZE__
#define OUTLINED __attribute__((noinline))
#else
#define OUTLINED
#endif

// Of 32 bits where the build says so, for small hosts: a request whose numbers do not fit then ends in
// POLYLOOM_OVERFLOW, and so does a file of more loop dimensions than take little stack.
#ifdef POLYLOOM_INT32
typedef int32_t Int;
#define INT_MOST INT32_MAX
#define BUCKETS 32
#define DIMENSIONS (POLYLOOM_DIMENSIONS < 16 ? POLYLOOM_DIMENSIONS : 16)
#else
#define DIMENSIONS POLYLOOM_DIMENSIONS
typedef int64_t Int;
#define INT_MOST INT64_MAX
#define BUCKETS 256
#endif

// A half-space a.x + a[n] >= 0; where it is x[plus] - x[minus] + a[n] >= 0, these differ.
typedef struct Half {
    struct Half *next;
    uint8_t plus, minus;
    Int a[];
} Half;

// A box with half-spaces, in normal form: the least digits, the greatest ones, and the half-spaces.
typedef struct Set {
    struct Set *next;
    uint32_t spaces;
    _Alignas(void *) Int lower[];
} Set;

typedef struct Domain {
    struct Domain *next;
    uint32_t count;
    const Set *set[];
} Domain;

typedef struct {
    void *at;
    uint32_t count, capacity;
} Vec;

typedef struct {
    uint32_t count;
    uint32_t *at;
} List;

// Where a row is in the file, which it is read from whenever it is needed. As large as memory is aligned, so that
// tables follow each other.
typedef struct {
    _Alignas(Int) _Alignas(void *) uint32_t at;
} Row;

// A bound of the iteration space where its guards hold: floor(numerator / denominator).
typedef struct {
    List guards;
    uint32_t numerator;
    Int denominator;
} Bound;

typedef struct {
    uint32_t count;
    Bound *at;
} Pieces;

typedef struct {
    uint32_t count;
    List *at;
} Union;

// A union of conjunctions of constraints: masks of the file, one after another.
typedef struct {
    uint32_t count;
    const uint8_t *masks;
} Condition;

// The numbers in a mask of 7 bits per byte.
typedef struct {
    const uint8_t *at;
    uint32_t base, bits;
} Mask;

typedef struct {
    uint8_t head;
    List shape;
} Array;

// A constant of 64 bits; operands name it by its position in the list.
typedef struct Wide {
    struct Wide *next;
    uint32_t low, high;
} Wide;

enum { IMMEDIATE, USE, INPUT };

typedef struct {
    uint32_t kind, value;
} Operand;

typedef struct {
    uint16_t opcode;
    uint8_t arity;
    uint32_t condition, output;
    Operand operand[3];
} Node;

typedef struct {
    uint32_t node, condition;
} Writer;

typedef struct {
    uint32_t consumer, writers;
    Writer *writer;
    Int *distance;
} Use;

// An access mapping: the node that reads or writes, the array, the rows of the index.
typedef struct {
    uint32_t node, array;
    List index;
} Access;

// Two nodes of a unit that they hold, but that is not reserved for them: `where` are the differences between an
// iteration of the first and one of the second.
typedef struct {
    uint32_t first, second;
    Union where;
} Apart;

typedef struct {
    Int interval;
    uint32_t *tau, *unit, *latency, pairs;
    Apart *apart;
} Schedule;

typedef struct {
    int8_t rows, columns;
} Displacement;

enum { PE, NORTH, EAST, SOUTH, WEST };

typedef struct {
    uint32_t location, index;
} Port;

typedef struct {
    Displacement theta;
    uint32_t output, input, hops;
    Port *hop;
} Route;

enum { GENERAL, FEEDBACK, CHANNEL };

typedef struct {
    Displacement theta;
    uint8_t kind;
    uint32_t number;
} Link;

typedef struct {
    uint32_t count;
    Link *at;
} Links;

typedef struct {
    uint32_t axis[2];  // the dimensions mapped to rows and columns, or NONE
    uint32_t *order;
    bool *reflected;
    uint32_t schedule, routes;
    Route *route;
    Links *links;  // by use
    uint32_t *input, *output;
} Candidate;

typedef struct {
    Int fifo_depth, instruction_words, branch_flags, channels;
    bool restricted, half_spaces, narrow;  // narrow: words of 32 bits
    uint32_t pairs;
    Port (*adjacent)[2];
    Int hop_delay, control_signals, signal_sets, counter_bits, generator_dimensions, delay_bits, bank_words, rows,
        columns;
} Limits;

typedef struct {
    uint32_t parameters, dimensions, arrays, nodes, units;
    uint32_t rows, constraints, conditions, uses, inputs, outputs, schedules, candidates;
    Row *row;
    Condition *condition;
    Union assumptions;
    Pieces (*extent)[2];
    Array *array;
    Node *node;
    Use *use;
    Access *input, *output;
    Schedule *schedule;
    Candidate *candidate;
    size_t names, names_end;
    Limits limits;
    Wide *wide;
} Symbolic;

// Opcodes are an operation's number, and a type's number in the low four bits (native/tcpa/operations.hpp). An
// immediate of f64 has 64 bits; the condition of a selection is an i32.
enum { F64 = 8, SELECT = 18, TO_F64 = 34, NOP = 63 };

static inline bool is_wide(uint32_t opcode, uint32_t position) {
    return (opcode & 15) == F64 && !(opcode >> 4 == SELECT && position == 0);
}

// `interval` is a multiple of the schedule's.
typedef struct {
    uint32_t number, rows, columns;
    Int *sizes, *tiles, *extents;
    Int interval;
} Tiling;

// What a refusal is about (polyloom_instantiate.h).
typedef struct {
    uint32_t kind, index, side, place;
    Int needed, available;
} About;

// Where there is none, `use` is the one that no wavefront serves or, if it stays in its tile, comes too early: its
// slack is negative. If `held`, it is a node whose unit may be held by another one.
typedef struct {
    Int *inner;
    Int outer[2];
    Int latency;
    uint32_t use;
    Int slack;
    bool held;
} Timing;

// The iterations of a condition at positions in the tile from `low` to `high`, along rows and columns.
typedef struct {
    uint32_t condition;
    Int low[2], high[2];
    bool limited, widens;
    Displacement widen;
} Piece;

enum { RD, FD, IO, CONSTANT };  // register files, and immediates
#define WRITTEN 255             // the position of a destination

// An operand or a destination.
typedef struct {
    uint8_t position, file;
    uint32_t number;
    const Domain *domain;
} Fragment;

typedef struct {
    Int tau;
    uint32_t opcode : 10, fragments : 22;
    const Domain *domain;
    Fragment *fragment;
} Operation;

typedef struct {
    uint32_t operations;
    Operation *operation;
} UnitTree;

// A functional unit, by the first class and unit that have its tree, and where that is, packed, in `trees` of the
// context, in so many bytes.
typedef struct {
    uint32_t class_, unit, tree, size;
} Unit;

// The instructions of a kernel as the file has them, but for the branch of the last one, which begins at `last`.
typedef struct Kernel {
    struct Kernel *next;
    uint32_t size, last : 31, halts : 1;
    uint8_t bytes[];
} Kernel;

typedef struct {
    uint16_t to, code;  // a program has at most 65535 words
    uint16_t sets;      // in which it is taken, 0 where there is no choice
} Edge;

typedef struct {
    const Kernel *kernel;
    Edge *edge;     // by successor
    uint8_t *sets;  // of the edges, one after another, packed; until signals are allocated
    uint16_t edges;
    // Whose numbers follow the edges; then, where `shared`, by code the edge, or NOWHERE where no step has that code.
    uint8_t signals;
    bool shared;
} GraphNode;

#define NOWHERE 0xFFFF

typedef struct {
    uint32_t nodes;
    GraphNode *node;
    uint32_t epilogue, words, size, same;
} Graph;

// The packed sets of a node's edges.
typedef struct {
    const Edge *edge, *end;
    uint32_t left;
    const uint8_t *at;
} Walk;

typedef struct {
    uint32_t *program;  // by unit
    Int *depth[2];      // of feedback and of input registers
    uint32_t depths[2], number;
    bool apart;  // instantiated in scratch of its own
    uint32_t error;
    About about;
} Class;

// A wrapper's connections: sink and source, of 16 bits each with the location in the upper 3, ascending.
typedef struct {
    uint32_t count, *at;
} Wires;

// The channels that are taken at a border port; of the access that is served last, `zero` of the element at the border
// and `bits` of the others, nearest first, `last` that of the one before. The first element that gets none is at
// `place`, of `access`.
typedef struct {
    uint32_t access, side, zero, last, *taken, *bits;
    uint64_t place;
} Served;

// An access and the banks' routes of its elements.
typedef struct {
    const Access *access;
    uint32_t reg;
    bool is_output;
    const bool *there;         // by group
    uint32_t *group, groups;   // that have elements, in the order of the generators
    uint32_t side;             // of the border that has all elements, or PE
    uint32_t *usable[2][5];    // channels, at the border and further inside, by side
    Int base, *weights;        // of the word that is accessed, by dimension
    struct Pattern **pattern;  // by group
    // The least delay, if negative, and the greatest, if positive, counted from the controller's start.
    Int early, most;
} Mapped;

// What the generators of one access in equal tiles share; `words` are those that a bank holds: from the lowest to the
// highest address, or a box of the array, whatever is less.
typedef struct Pattern {
    const Domain *domain;
    Int *coefficients;
    Int base, words;
    uint32_t number;  // of the domain in the file, or NONE
} Pattern;

// The constant of a constraint by tile, clipped to what is not implied.
typedef struct {
    Int constant, step[2], low, high;
} Line;

// Elements of an access on a line that have their bank at its end `side`: `count` ones in equal tiles, every second
// one, the first one `links` away. As many `lines`, every second one, are alike. Further inside are those in segments
// from `next` on.
typedef struct {
    uint32_t side, line, links, count, group, lines, next;
    bool first;  // of its line
} Run;

// An element, of a group, and how far away its bank is.
typedef struct {
    uint32_t at[2], links, group;
} Spot;

// Elements that are alike: those of a box, rows from `row` and columns from `west`, with row - column from low[0] to
// high[0] and row + column from low[1] to high[1]. The first one is at `row` and `column`; `class_` is NONE where tiles
// are empty.
typedef struct {
    uint32_t row, column, height, west, width;
    int32_t low[2], high[2];
    uint32_t group, class_, wrapper;
} Cell;

// What was seen latest along lines, from their ends at `side`: the segments in equal tiles of those from `line` to
// before `stop`.
typedef struct {
    uint32_t first, end, group;
} Segment;
typedef struct {
    uint32_t side, line, stop, count;
    Segment *at;
} Sight;

typedef struct {
    Int *shape, *strides;  // one after the other
    Int base;
} Layout;

// A domain of the file, packed.
typedef struct Pooled {
    struct Pooled *next;
    uint32_t count, size;
    uint8_t sets[];
} Pooled;

typedef struct Context {
    uint8_t *base;
    size_t low, high, size, peak;
    uint32_t error, position;
    About about;
    // Of the context of a class in scratch of its own; what is interned there is not made again.
    const struct Context *parent;
    uint32_t n;
    Kernel *kernels;

    struct Search *search;
    bool nothing;  // there is no iteration
    const uint8_t *data;
    const Int *values;
    Int *lower, *upper;  // of the iteration space, by dimension

    // Of the tiling that is being built.
    const Tiling *t;
    const Candidate *candidate;
    const Schedule *schedule;
    const Timing *timing;
    Line *line;    // by constraint; gone when there are classes, unless `sloping`
    bool slanted;  // some depend on row and column
    bool sloping;  // and not on a diagonal alone
    uint32_t groups;
    Cell *home;  // by group, that of elements in it; if `sloping`, some of them
    Cell *cell;
    uint32_t cells;
    Int *constant;  // by constraint, by group; INT_MOST where the tile implies it
    // By constraint, by digit; as `cache` there from tiles to classes and after control flow (`remember`).
    Int *scan;
    const Domain **cache;  // by condition and group
    bool *occupied;        // by group
    bool **arriving;       // by route, by group
    bool **accessing;      // by condition, by group
    uint32_t classes, units, signals, distinct;
    Class *class_;
    Unit *unit;
    const uint8_t *trees;  // temporary, until there are graphs
    Graph *graph;
    uint32_t *signal;  // their numbers in the pool
    Mapped *mapped;
    Served served;
    Sight sight;
    Layout *layout;
    uint32_t words;   // of a set of channels
    uint32_t closed;  // sides without banks, as in a request
    Vec wires;        // distinct wrappers: Wires
    Pooled *pool;     // the domains of the file
    uint32_t pooled;
    Int start, delay[2], steps;
    Int needed;  // channels per side

    // At the end, such that small offsets reach the rest.
    Symbolic s;
    Set *sets[BUCKETS];
    Domain *domains[BUCKETS / 2];
    Half *halves[BUCKETS / 8];  // there are few
} Context;

// A place in the file that is being read.
typedef struct {
    Context *c;
    size_t at, end;
    uint32_t routes;  // of the candidate
} Reader;

#define RANK 32  // of an array of a plan

enum { PARAMETRIC = 4 };  // the role of a scalar that parameters and counters determine

// An array of a plan: its `size` words are those from number `first` on, of all arrays'; its first element is word
// `base` of a memory, where arrays are placed. Its extents, or the value of a scalar, are read from `at` on.
typedef struct {
    uint32_t role, rank, at, first, size, base;
} Variable;

// The file of a phase, which arrays its own are, how many parameters it has and, where arrays are placed, which of its
// own are outputs. What its parameters are the least of is read from `arguments` on, which arrays are windows and where
// they begin from `windows` on.
typedef struct {
    uint32_t at, length, arrays, values;
    uint32_t arguments, windows;
    uint32_t *array;
    uint8_t *output;
} Stage;

enum { PHASE, UPWARDS, DOWNWARDS };

// Of the tree, in preorder: the next phase, or the loop of a counter, whose bounds are read from `at` on and whose body
// ends before `end`. `parent` is the loop around it, or NONE; `last` that of its counter's values, which are `stride`
// apart.
typedef struct {
    uint8_t kind;
    uint32_t number, parent, end, at;
    Int last, stride;
} Step;

typedef struct {
    Context *c;
    uint32_t parameters, counters, slots, stages, steps;
    uint32_t rows, columns, closed;
    uint32_t chosen, placed;        // for how many phases and arrays the file says candidates and layouts, or NONE
    uint32_t elements;              // of all arrays
    Int *value;                     // of parameters, then of counters
    uint32_t *candidate;            // by phase, or POLYLOOM_ALL
    const polyloom_layout *layout;  // by array, or null
    uint32_t bank;                  // a memory that no array has, nor any memory of a higher number
    Variable *slot;
    Stage *stage;
    Step *step;
    size_t origin;               // where the file of phases begins in the one that is read
    size_t most;                 // keys at a time, of one call of `touches`
    bool is_concrete, is_alone;  // files of phases that need no instantiation; a file of one program
} Whole;

// A part of an array that a phase has as an array of its own: its rank, 0 for the whole array, its first element, and
// the extents of the whole array.
typedef struct {
    uint32_t rank;
    Int first[RANK], outside[RANK];
} ArrayWindow;

// What a concrete configuration says first, and where the rest of that begins.
typedef struct {
    uint32_t interval, rows, columns, dimensions, signals, arrays;
    const uint8_t *extents, *controller, *signal, *array;
} Head;

// What a phase touches: the number of keys that it reads, of those that it writes, which follow, where they begin among
// all keys, and its cycles.
typedef struct {
    uint32_t reads, writes;
    size_t at;
    int64_t cycles;
} Block;

typedef struct {
    Whole whole;
    const polyloom_walk_request *request;
    const polyloom_calls *calls;
    polyloom_walked *out;
    const Stage *made;  // whose configuration is in `words`, of this candidate
    uint32_t made_with;
    int64_t *value[2];        // of its parameters, and of the ones that are asked for
    int64_t *counter;         // as a call is told
    polyloom_layout *layout;  // of a phase's arrays
    Block *block;             // by phase, and one more, while candidates are chosen
    uint8_t *start;           // of all keys; `held` of them are kept while something is made
    uint32_t held;
    const uint8_t *words;
    size_t size;
} Walker;

// What is done with each run of the elements that access an array.
typedef void Visit(Context *c, Mapped *m, const Run *r);

// Called where a step begins, in a build that measures them (bind_bench.cpp).
enum { READING, CONCRETIZATION, CLASSES, CONTROL_FLOW, PROGRAMS, PERIPHERY };
#ifdef POLYLOOM_TIMED
void polyloom_begins(int step);
#else
#define polyloom_begins(step) ((void)0)
#endif

// The functions of each file. A file calls those of the files that stand above it here, and no others: a test says so.

// memory.c
bool fail(Context *c, uint32_t error, size_t position);
Context *context(void *scratch, size_t size);
void claim(Context *c, void *scratch, size_t size);
bool refuse(Context *c, uint32_t error, uint32_t kind, uint32_t index, Int needed, Int available);
void *keep(Context *c, size_t count, size_t size);
void *copied(Context *c, const void *items, uint32_t count, size_t size);
void *temp(Context *c, size_t count, size_t size);
void *push(Context *c, Vec *v, size_t size);
bool add_item(Context *c, Vec *v, const void *item, size_t size);
bool once(Context *c, Vec *v, const void *item, size_t size);
bool insert_once(Context *c, Vec *numbers, uint32_t x);
void *shrink(Context *c, void *at, size_t mark, size_t bytes);
bool same_bytes(const void *a, const void *b, size_t size);
void *move(void *to, const void *from, size_t size);
uint32_t hash(uint32_t h, const void *bytes, size_t size);
Int overflow(Context *c);
#ifdef __OPTIMIZE_SIZE__
#define ARITHMETIC
Int add(Context *c, Int a, Int b);
Int sub(Context *c, Int a, Int b);
Int mul(Context *c, Int a, Int b);
#else
#define ARITHMETIC static inline
#include "arithmetic.h"
#endif
Int floor_div(Int a, Int b);
Int narrowed(Context *c, int64_t x);
static inline const Int *upper_of(const Context *c, const Set *s) { return s->lower + c->n; }
static inline const Half **spaces_of(const Context *c, const Set *s) { return (const Half **)(s->lower + 2 * c->n); }
static inline uint16_t *signals_of(const GraphNode *n) { return (uint16_t *)(n->edge + n->edges); }
static inline bool ok(const Context *c) { return c->error == 0; }
static inline Int min(Int a, Int b) { return a < b ? a : b; }
static inline Int max(Int a, Int b) { return a > b ? a : b; }
static const int8_t STEP[5][2] = {{0, 0}, {-1, 0}, {0, 1}, {1, 0}, {0, -1}};  // by location
static inline Int magnitude(Int a) { return a < 0 ? -a : a; }

// read.c
bool malformed(Reader *r);
uint64_t natural(Reader *r);
uint32_t below(Reader *r, uint32_t limit);
uint32_t count(Reader *r);
Int integer(Reader *r);
void sparse(Reader *r, uint32_t limit, Int *out);
Reader section_of(Context *c, int section, int sections);
bool check_container(Context *c, size_t size, const char *magic, uint32_t version, int sections);
bool read_symbolic(Context *c, size_t size);
Int read_row(Context *c, const Row *row, Int *a);
uint32_t arity_of(uint32_t operation);
uint32_t next_number(Mask *m);
size_t after_name(Context *c, size_t at);
uint64_t fletcher64(const uint8_t *data, size_t size);
uint32_t load32(const uint8_t *p);

// intern.c
const Half *half_space(Context *c, const Int *a);
const Half *negated(Context *c, const Half *h);
Set *filled(const Context *c, Set *s, const Int *lower, const Int *upper);
const Set *interned(Context *c, const Int *lower, const Int *upper, uint32_t spaces, const Half **space);
const Set *box(Context *c, const Int *lower, const Int *upper);
const Domain *domain(Context *c, const Set *const *sets, uint32_t count);
void release(Context *c, size_t low);
bool append(Context *c, Vec *out, const Set *s);
int lexical(const Int *a, const Int *b, uint32_t count);

// differences.c
bool differences(uint32_t spaces, const Half *const *space);
bool tighten(Context *c, Int *lower, Int *upper, uint32_t spaces, const Half *const *space, uint32_t outside);
bool normalize_differences(Context *c, Int *lower, Int *upper, uint32_t spaces, const Half *const *space,
                           const Set **out);

// omega.c
void range(Context *c, const Int *a, const Int *lower, const Int *upper, Int *least, Int *most);
bool inhabited(Context *c, Int *lower, Int *upper, uint32_t spaces, const Half *const *space, bool *out);
bool convex(Context *c, Int *lower, Int *upper, uint32_t spaces, const Half *const *space, const Set **out);

// sets.c
bool intersect(Context *c, const Set *a, const Set *b, const Set **out);
bool share_point(Context *c, const Set *a, const Set *b, Int *least, bool *out);
bool holds(Context *c, const Set *s, const Int *x);
bool contains(Context *c, const Domain *d, const Int *point);
bool shift(Context *c, const Domain *d, Int steps, Vec *out);
bool after(Context *c, const Int *last, const Int *lower, const Int *upper, Vec *out);
int scan_compare(Context *c, const Set *a, const Set *b);
void sort_sets(Context *c, const Set **sets, uint32_t count);
void digits_of(Context *c, Int step, Int *digits);
Int window(Context *c, const Int *lower, const Int *upper, Int steps);

// concretize.c
bool check_request(Context *c, const polyloom_request *r);
bool space_bounds(Context *c, bool *empty);
Int tiles_along(const Context *c, const Tiling *t, int axis);
Int extent_of(Context *c, uint32_t m);
bool make_tiling(Context *c, uint32_t number, uint32_t rows, uint32_t columns, const polyloom_request *r, bool couple,
                 Tiling *t);
bool grown(Context *c, const Tiling *from, const Int *by, Tiling *t);
Int affine(Context *c, const Candidate *k, const Row *row, Int *coefficients);
Int parametric(Context *c, const Row *row);
bool remember(Context *c);
bool make_lines(Context *c);
bool condition(Context *c, uint32_t number, uint32_t group, const Domain **out);
bool piece_sets(Context *c, const Piece *p, uint32_t group, Vec *out);
Piece reads(const Context *c, const Use *u, const Link *link);
Piece transferred(const Context *c, uint32_t condition, const Use *u, Displacement theta, bool backwards);
uint32_t *alike(Context *c, const bool *conditions);

// cells.c
bool make_groups(Context *c);
uint32_t group_at(Context *c, uint32_t row, uint32_t column);
Int constant_at(Context *c, const Line *l, uint32_t row, uint32_t column);
bool make_cells(Context *c);
// The columns of its elements in a row, or rows in a column.
bool span(const Cell *k, int axis, uint32_t line, uint32_t *first, uint32_t *end);

// apart.c
bool collides(Context *c, const Tiling *t, uint32_t *node);
bool stretches(const Context *c, const Tiling *t);
bool longer(Context *c, const Tiling *t, Vec *out);

// choose.c
bool timing(Context *c, const Tiling *t, Timing *out, bool *valid);
Int slack(Context *c, const Tiling *t, const Timing *timing, const Use *u, const Link *link);

// packed.c
size_t pack(const Context *c, const Set *s, uint8_t *to);
const Set *unpacked(Context *c, const uint8_t **at);
const uint8_t *skipped(const uint8_t *at);
const uint8_t *unpadded(const uint8_t *at);
bool same_set(const Context *c, const Set *a, const Set *b);
const Set *lasting(Context *c, const Set *s);
void forget(Context *c, size_t low);
bool adopt(Context *c, GraphNode *v);
bool pool(Context *c, const Domain *d, size_t low, uint32_t *number);
bool check_domain(Context *c, const Domain *d, uint32_t kind, uint32_t index);
bool pool_signal(Context *c, const Domain *d, size_t low, uint32_t index);
size_t pack_tree(const Context *c, const UnitTree *tree, uint8_t *to);
bool unpack_tree(Context *c, const uint8_t *at, UnitTree *out);
Walk walk(const GraphNode *v);
bool more(Walk *w);

// partition.c
typedef struct {
    const Set *set;
    uint32_t family;
} Member;
typedef struct Grid Grid;
typedef struct Part {
    struct Part *next;
    struct Group *groups;
    uint32_t id, first;
    bool whole;      // some cells are
    uint32_t key[];  // and then the first and the last of the whole ones, by axis
} Part;
bool cells_of(Context *c, const Member *members, uint32_t count, uint64_t *out);
bool partition(Context *c, const Member *members, uint32_t count, uint32_t families, Grid **grid, Part ***parts,
               uint32_t *number);
bool part_sets(Context *c, const Grid *grid, const Part *part, Vec *out);

// unite.c
bool unite(Context *c, const Set *const *sets, uint32_t count, const Domain **out);

// classes.c
bool make_traffic(Context *c);
bool leaving(Context *c, const Route *r, Int row, Int column);
bool driven(Context *c, uint32_t reg, const Cell *cell);
bool classify(Context *c, size_t high);

// share.c
bool share(Context *c, bool *out);

// control.c
bool allocate(Context *c);

// fifo.c
bool depths(Context *c);
void hull(const Context *c, const Domain *d, Int *lower, Int *upper);

// wires.c
bool terminals(Context *c);
bool next_run(Context *c, const Mapped *m, Run *r, bool alike);
void each_run(Context *c, Visit *visit);
Spot spot_of(const Context *c, const Run *r, uint32_t line, uint32_t element);
void serve_port(Context *c, uint32_t accesses, uint32_t side, uint32_t line);
uint32_t terminal_side(const Context *c, const Mapped *m, Spot *s);
bool wire(Context *c);

// generators.c
Spot corner(const Context *c, const Run *r, int i);
Int delay_at(Context *c, const Mapped *m, const Spot *s);
bool layouts(Context *c, const polyloom_layout *given);
bool control(Context *c);
bool generators(Context *c);
Int base_at(Context *c, const Mapped *m, const Spot *s);
bool fits_signed(Context *c, uint32_t section, Int x);

// program.c
bool measure(Context *c, Graph *g, uint32_t unit);
void first_program(Context *c, uint32_t number);
void write_program(const Context *c, const Graph *g, uint8_t *at);

// emit.c
bool emit(Context *c, const polyloom_request *r, bool counting, size_t *size);

// kernels.c
bool control_flow(Context *c, const Unit *unit, Graph *out);

// words.c
uint32_t load16(const uint8_t *p);
void head_of(const uint8_t *words, Head *head);
bool is_output(const Head *head, uint32_t number);
const uint8_t *classes_of(const uint8_t *words);
const uint8_t *maps_of(const uint8_t *words);
const uint8_t *next_set(const uint8_t *set, uint32_t dimensions);
const uint8_t *sets_of(const uint8_t *words, uint32_t dimensions, uint32_t number, uint32_t *count);
bool in_spaces(const uint8_t *set, uint32_t dimensions, const uint32_t *digit);
const uint8_t *generators_of(const uint8_t *words, uint32_t *count);
bool check_words(Context *c, size_t size);

// cycles.c
bool cycles_of(const uint8_t *words, int64_t *cycles);

// placed.c
void add_words(uint64_t *words, int64_t stride, Int extent);
bool span_words(Context *c, Variable *slot, int64_t base, uint64_t words);
bool number_words(Whole *w);
bool words_of_phases(Whole *w);
bool prepare_layouts(Whole *w);
void lie(const Whole *w, const Stage *s, polyloom_layout *layout);

// bound_file.c
bool read_bound(Whole *w, polyloom_walk_request *q);

// plan_file.c
bool read_plan(Whole *w, const polyloom_walk_request *q);
bool bounds_of(Whole *w, Step *s, Int *first);
Int scalar_of(Whole *w, const Variable *slot);
bool arguments_of(Whole *w, const Stage *s, int64_t *value);
bool window_of(Whole *w, const Stage *s, uint32_t array, ArrayWindow *window);

// touches.c
void sort_keys(uint64_t *keys, uint32_t count);
bool touches(Whole *w, const Stage *stage, const uint8_t *words, bool written, uint64_t *keys, size_t room,
             uint32_t *count);

// transfers.c
bool transfers(const Whole *w, const polyloom_calls *calls, const uint64_t *held, uint32_t holders,
               const uint64_t *needed, uint32_t needs, uint64_t *moved, size_t room, uint32_t *count);
uint32_t busiest(uint64_t *moved, uint32_t count);
uint32_t held_after(uint64_t *held, uint32_t holders, uint32_t touched);

// step.c
uint64_t *keys(const Walker *k);
size_t room_for_keys(const Walker *k, size_t more);
void used(Walker *k, size_t behind_keys);
bool make(Walker *k, const Stage *s, uint32_t candidate);

// together.c
bool choose_together(Walker *k);

#endif
