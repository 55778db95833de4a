/* memplan: where every buffer lives, decided before the program runs.
 *
 * Generated from crates/memplan-capi; do not edit. Apache-2.0 OR MIT.
 */

#ifndef MEMPLAN_H
#define MEMPLAN_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/*
 In `flags` of a buffer: `fixed_offset` says where it must lie.
 */
#define MEMPLAN_FIXED_OFFSET 1

/*
 In `flags` of a buffer: it shares its bytes with no other buffer, not even at other times.
 */
#define MEMPLAN_EXCLUSIVE 2

/*
 In `flags` of a space: `capacity` says how many bytes there are.
 */
#define MEMPLAN_CAPACITY 1

/*
 In `flags` of options: a plan that a check rejects is a failure, `MEMPLAN_BUG`, and is not made again. The variable
 `MEMPLAN_STRICT` in the environment sets it for every call.
 */
#define MEMPLAN_STRICT 1

/*
 An effort: about a second of work after the first plan.
 */
#define MEMPLAN_NORMAL 0

/*
 An effort: a tenth of that.
 */
#define MEMPLAN_QUICK 1

/*
 An effort: about a minute; no other strategy is better.
 */
#define MEMPLAN_THOROUGH 2

/*
 A kind of relation: `buffer` may start on bytes that `other` still occupies, both at the same offset. Where a plan
 makes use of it, the life of `other` on these bytes ends when `buffer` starts.
 */
#define MEMPLAN_MAY_OVERLAY 0

/*
 A kind of relation: as `MEMPLAN_MAY_OVERLAY`, at any offset.
 */
#define MEMPLAN_MAY_OVERLAY_ANYWHERE 1

/*
 A kind of relation: both start at the same offset of the same space.
 */
#define MEMPLAN_MUST_SHARE 2

/*
 A kind of relation: they have no byte in common, whatever their lives.
 */
#define MEMPLAN_MUST_NOT_SHARE 3

/*
 What came of a call. Zero and below one hundred are answers, the rest are failures that
 `memplan_last_error` explains.
 */
typedef enum {
  /*
   A plan, and no plan is smaller.
   */
  MEMPLAN_OPTIMAL = 0,
  /*
   A plan; `lower_bound` says how much smaller one might be.
   */
  MEMPLAN_FEASIBLE = 1,
  /*
   There is no plan within the capacities; `memplan_last_error` names buffers that cannot fit together.
   */
  MEMPLAN_INFEASIBLE = 2,
  /*
   No plan was found within the limits, and none was ruled out.
   */
  MEMPLAN_EXHAUSTED = 3,
  /*
   From `memplan_verify`: the plan is wrong; `memplan_last_error` says how.
   */
  MEMPLAN_WRONG = 4,
  /*
   From `memplan_verify`: the plan is right. From `memplan_rewrite`: the text was rewritten. From
   `memplan_fit_file`: the model fits.
   */
  MEMPLAN_OK = 5,
  /*
   An argument makes no sense: a null pointer, a size of a struct that is not one, a contradiction in the problem.
   */
  MEMPLAN_BAD_ARGUMENT = 100,
  /*
   The strategy does not take this problem, or the pass not this program.
   */
  MEMPLAN_REFUSED = 101,
  /*
   The text given to `memplan_rewrite`, or the file given to `memplan_plan_file` or `memplan_fit_file`, cannot be
   read.
   */
  MEMPLAN_UNREADABLE = 102,
  /*
   A bug in memplan. No result was written.
   */
  MEMPLAN_BUG = 103
} memplan_status;

/*
 One stretch of a buffer's life.
 */
typedef struct {
  /*
   First step at which the buffer is alive.
   */
  uint64_t start;
  /*
   First step at which it is no longer alive.
   */
  uint64_t end;
  /*
   First byte of the buffer that is in use during this stretch.
   */
  uint64_t low;
  /*
   One past the last byte in use; with 0 in both, all bytes are in use.
   */
  uint64_t high;
} memplan_interval;

/*
 One buffer. Zero is fine for whatever is not wanted: a buffer of zeroes may lie anywhere.
 */
typedef struct {
  /*
   Bytes; 0 is legal.
   */
  uint64_t size;
  /*
   The offset is a multiple of this; 0 counts as 1.
   */
  uint64_t alignment;
  /*
   First step at which it is alive.
   */
  uint64_t start;
  /*
   First step at which it is no longer alive: lifetimes are half-open. Equal to `start`: never alive.
   */
  uint64_t end;
  /*
   Offset it must have, if `flags` has `MEMPLAN_FIXED_OFFSET`.
   */
  uint64_t fixed_offset;
  /*
   Index of its space.
   */
  uint32_t space;
  /*
   0, or the sum of `MEMPLAN_FIXED_OFFSET` and `MEMPLAN_EXCLUSIVE`.
   */
  uint32_t flags;
  /*
   Indices of the spaces it may live in, the best first; null for the one that `space` says.
   */
  const uint32_t *spaces;
  /*
   How many; with any, `space` is not looked at.
   */
  size_t space_count;
  /*
   The stretches of a life with gaps, in order: between them its bytes may belong to others. Null for a life from
   `start` to `end`.
   */
  const memplan_interval *intervals;
  /*
   How many; with any, `start` and `end` are not looked at.
   */
  size_t interval_count;
  /*
   Copies that are used in rotation (multi-buffering), each with an offset of its own; 0 counts as 1.
   */
  uint32_t slots;
  /*
   Must be 0.
   */
  uint32_t reserved;
} memplan_buffer;

/*
 One memory space. A space of zeroes has no limit.
 */
typedef struct {
  /*
   Bytes there are, if `flags` has `MEMPLAN_CAPACITY`.
   */
  uint64_t capacity;
  /*
   Every offset in it is a multiple of this; 0 counts as 1.
   */
  uint64_t alignment;
  /*
   Address of offset 0. A multiple of every alignment asked for in this space.
   */
  uint64_t base;
  /*
   Which fields are set: 0 or `MEMPLAN_CAPACITY`.
   */
  uint32_t flags;
  /*
   Must be 0.
   */
  uint32_t reserved;
} memplan_space;

/*
 How two buffers relate.
 */
typedef struct {
  /*
   `MEMPLAN_MAY_OVERLAY`, `MEMPLAN_MAY_OVERLAY_ANYWHERE`, `MEMPLAN_MUST_SHARE` or `MEMPLAN_MUST_NOT_SHARE`.
   */
  uint32_t kind;
  /*
   Index of a buffer.
   */
  uint32_t buffer;
  /*
   Index of the other buffer.
   */
  uint32_t other;
  /*
   Must be 0.
   */
  uint32_t reserved;
} memplan_relation;

/*
 What it costs if two buffers have a byte in common.
 */
typedef struct {
  /*
   Index of a buffer.
   */
  uint32_t buffer;
  /*
   Index of another buffer.
   */
  uint32_t other;
  /*
   The price.
   */
  uint64_t weight;
} memplan_reuse_cost;

/*
 What has to be placed.
 */
typedef struct {
  /*
   `sizeof(memplan_problem)`.
   */
  size_t struct_size;
  /*
   `sizeof(memplan_buffer)`.
   */
  size_t buffer_size;
  /*
   The buffers; may be null if there are none.
   */
  const memplan_buffer *buffers;
  /*
   How many.
   */
  size_t buffer_count;
  /*
   `sizeof(memplan_space)`.
   */
  size_t space_size;
  /*
   The spaces; null for one without capacity or alignment.
   */
  const memplan_space *spaces;
  /*
   How many.
   */
  size_t space_count;
  /*
   `sizeof(memplan_interval)`, if a buffer has any.
   */
  size_t interval_size;
  /*
   `sizeof(memplan_relation)`, if there are any.
   */
  size_t relation_size;
  /*
   The relations; may be null if there are none.
   */
  const memplan_relation *relations;
  /*
   How many.
   */
  size_t relation_count;
  /*
   `sizeof(memplan_reuse_cost)`, if there are any.
   */
  size_t reuse_cost_size;
  /*
   Pairs that may share bytes at a price: of two plans that fit, the cheaper one is better. May be null if there
   are none.
   */
  const memplan_reuse_cost *reuse_costs;
  /*
   How many.
   */
  size_t reuse_cost_count;
} memplan_problem;

/*
 Asked during a long search, from any thread: non-zero ends it with the best plan so far.
 */
typedef int32_t (*memplan_stop_callback)(void *user_data);

/*
 How to plan. Zero in every field but the first is the default.
 */
typedef struct {
  /*
   `sizeof(memplan_options)`.
   */
  size_t struct_size;
  /*
   Name of a strategy, as `memplan strategies` lists them; null for `auto`.
   */
  const char *strategy;
  /*
   Seed for strategies that draw random numbers.
   */
  uint64_t seed;
  /*
   Milliseconds a search may take at most; 0 for no limit. It only ever cuts a search short.
   */
  uint64_t time_limit_ms;
  /*
   Units of work, about 4 us each, instead of those of the effort; 0 for what the effort says. Without a time limit
   the plan is the same on every machine.
   */
  uint64_t work_limit;
  /*
   Threads to use; 0 for all cores. The plan does not depend on it.
   */
  uint32_t threads;
  /*
   0 or `MEMPLAN_STRICT`.
   */
  uint32_t flags;
  /*
   Ends what is going on when it answers otherwise than 0: a search with its best plan, reading, checking and
   writing within half a second and without a result. Null for never. It is asked again and again, from any thread.
   */
  memplan_stop_callback should_stop;
  /*
   Handed to `should_stop`.
   */
  void *user_data;
  /*
   How much to search: `MEMPLAN_NORMAL`, `MEMPLAN_QUICK` or `MEMPLAN_THOROUGH`.
   */
  uint32_t effort;
  /*
   Must be 0.
   */
  uint32_t reserved;
} memplan_options;

/*
 What is known about a plan. The caller sets `struct_size` and may set the pointers to arrays of its own; zero them
 otherwise.
 */
typedef struct {
  /*
   `sizeof(memplan_report)`, set by the caller.
   */
  size_t struct_size;
  /*
   Bytes the plan needs, summed over the spaces.
   */
  uint64_t extent;
  /*
   No plan needs less.
   */
  uint64_t lower_bound;
  /*
   From `memplan_verify`: how many things are wrong.
   */
  uint64_t violations;
  /*
   Room for `buffer_count` numbers, or null: the space of each buffer is written here. Needed where a buffer may
   live in several.
   */
  uint32_t *spaces;
  /*
   Room for as many numbers as there are spaces, or null: what the plan needs of each is written here.
   */
  uint64_t *extents;
  /*
   Room for `buffer_count` numbers, or null: with `MEMPLAN_INFEASIBLE`, the indices of buffers that cannot fit
   together are written here.
   */
  uint32_t *witness;
  /*
   How many buffers the witness has; 0 if there is none.
   */
  size_t witness_count;
  /*
   What the plan's reuse costs: the sum over the pairs with a price that have a byte in common.
   */
  uint64_t cost;
  /*
   No plan within the capacities costs less.
   */
  uint64_t cost_lower_bound;
  /*
   Room for `reuse_cost_count` numbers, or null: the positions of the pairs that are paid for are written here.
   */
  uint32_t *active;
  /*
   How many there are.
   */
  size_t active_count;
} memplan_report;

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/*
 Version of the library, such as "0.1.0".
 */
const char *memplan_version(void);

/*
 The word for a status; never null.
 */
const char *memplan_status_name(int32_t status);

/*
 What this thread's last call had to say: why it failed, why nothing fits, what is wrong. Empty if there is
 nothing to say. Valid until the thread's next call.
 */
const char *memplan_last_error(void);

/*
 Plans: writes the offsets to `offsets` if the status is `MEMPLAN_OPTIMAL` or `MEMPLAN_FEASIBLE`, and leaves it alone
 otherwise. `options` and `report` may be null. The plan has been checked.

 `problem`, `options` and `report` are null or point to structs that say their sizes; `offsets` has room for one number
 for each buffer, in order, or, where a buffer has several slots, for one for each of its slots.
 */
memplan_status memplan_plan(const memplan_problem *problem,
                            const memplan_options *options,
                            uint64_t *offsets,
                            memplan_report *report);

/*
 Checks a plan, ours or anybody's: `MEMPLAN_OK` if it is right, `MEMPLAN_WRONG` if not, and then
 `memplan_last_error` has a line for each violation. `report` may be null.

 `problem` and `report` are null or point to structs that say their sizes; `offsets` has as many numbers as
 `memplan_plan` writes. Every buffer has one space.
 */
memplan_status memplan_verify(const memplan_problem *problem,
                              const uint64_t *offsets,
                              memplan_report *report);

/*
 As `memplan_verify`, for buffers that may live in several spaces: `spaces` says in which each of them does.

 `spaces` has `buffer_count` numbers, or is null if every buffer has one space.
 */
memplan_status memplan_verify_in_spaces(const memplan_problem *problem,
                                        const uint64_t *offsets,
                                        const uint32_t *spaces,
                                        memplan_report *report);

/*
 Runs a pass such as "merge-alloc{alignment=64}" over the text of a program and gives the new text, checked
 against the old one, to be released with `memplan_free_text`. `options` may be null; without a strategy in it the pass
 plans as it likes.

 `text` has `length` bytes; `pass` is a string; `options` is null or points to a struct that says its size;
 `result` points to a pointer.
 */
memplan_status memplan_rewrite(const char *text,
                               size_t length,
                               const char *pass,
                               const memplan_options *options,
                               char **result);

/*
 Releases a text of `memplan_rewrite`, `memplan_plan_file` or `memplan_fit_file`. Null is fine.

 `text` is null or comes from one of these and has not been released.
 */
void memplan_free_text(char *text);

/*
 Plans a file of any format that memplan reads, a `.tflite` or `.onnx` model included, as `memplan plan FILE --json`
 does, and gives the plan as JSON, to be released with `memplan_free_text`. The plan has been checked.

 `path` is a string; `spaces` has `space_count` strings such as "sram=256KiB:16" (name, capacity, alignment), the
 best memory first, and may be null if there are none; `options` is null or points to a struct that says its size;
 `json` points to a pointer.
 */
memplan_status memplan_plan_file(const char *path,
                                 const char *const *spaces,
                                 size_t space_count,
                                 const memplan_options *options,
                                 char **json);

/*
 Changes a `.tflite` or `.onnx` model until it fits into `capacity` bytes, as `memplan fit FILE --json` does; with a
 capacity of 0 it takes the smallest version. The model is written to `output`, and the versions are given as JSON,
 to be released with `memplan_free_text`. It is proved that the written model computes the same.

 `path` is a string; `output` is a string, or null if no model is to be written; `options` is null or points to a
 struct that says its size; `json` points to a pointer. `MEMPLAN_OK` is the answer, `MEMPLAN_INFEASIBLE` where no
 version fits.
 */
memplan_status memplan_fit_file(const char *path,
                                uint64_t capacity,
                                const char *output,
                                const memplan_options *options,
                                char **json);

#ifdef __cplusplus
} /* extern "C" */
#endif /* __cplusplus */

#endif  /* MEMPLAN_H */
