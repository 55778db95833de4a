/* memplan for C++17 and later: memplan.h with vectors, strings and exceptions.
 *
 *   memplan::Problem problem;
 *   problem.space().capacity(64 * 1024).alignment(16);
 *   std::size_t conv = problem.buffer(4096, 0, 2);
 *   problem.buffer(2048, 1, 3);
 *   memplan::Plan plan = memplan::plan(problem);
 *   if (plan)
 *     use(arena + plan.offset(conv));
 *
 * That something does not fit is an answer: a Plan that is false, with the buffers in the way in `witness`. Arguments
 * that make no sense, and bugs, are exceptions. Apache-2.0 OR MIT.
 */

#ifndef MEMPLAN_HPP
#define MEMPLAN_HPP

#include "memplan.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#if defined(__has_include) && __cplusplus >= 202002L
#if __has_include(<span>)
#include <span>
#define MEMPLAN_HAS_SPAN 1
#endif
#endif

namespace memplan {

#ifdef MEMPLAN_HAS_SPAN
template <class T> using Span = std::span<const T>;
#else
/* Numbers that lie one behind the other, wherever they are: std::span for those who do not have it. */
template <class T> class Span {
public:
  Span() = default;
  Span(const T *first, std::size_t count) : first_(first), count_(count) {}
  Span(const std::vector<T> &numbers) : Span(numbers.data(), numbers.size()) {}
  const T *data() const { return first_; }
  std::size_t size() const { return count_; }
  const T *begin() const { return first_; }
  const T *end() const { return first_ + count_; }
  const T &operator[](std::size_t index) const { return first_[index]; }

private:
  const T *first_ = nullptr;
  std::size_t count_ = 0;
};
#endif

/* A call that made no sense, or a bug; what() says which. */
class Error : public std::runtime_error {
public:
  explicit Error(memplan_status status)
      : std::runtime_error(std::string(memplan_status_name(status)) + ": " + memplan_last_error()), status(status) {}

  memplan_status status;
};

/* How to plan; as memplan_options, with the defaults set. */
struct Options : memplan_options {
  Options() : memplan_options{} { struct_size = sizeof(memplan_options); }
  explicit Options(const char *strategy_name) : Options() { strategy = strategy_name; }
};

/* Buffers, spaces and relations, ready to be planned. Buffers and spaces are known by their numbers. */
class Problem {
public:
  /* A space while it is described. */
  class SpaceRef {
  public:
    SpaceRef &capacity(std::uint64_t bytes) {
      at().capacity = bytes;
      at().flags |= MEMPLAN_CAPACITY;
      return *this;
    }
    SpaceRef &alignment(std::uint64_t bytes) { return at().alignment = bytes, *this; }
    SpaceRef &base(std::uint64_t address) { return at().base = address, *this; }
    std::uint32_t index() const { return static_cast<std::uint32_t>(index_); }
    operator std::uint32_t() const { return index(); }

  private:
    friend class Problem;
    SpaceRef(Problem &problem, std::size_t index) : problem_(problem), index_(index) {}
    memplan_space &at() { return problem_.spaces_[index_]; }
    Problem &problem_;
    std::size_t index_;
  };

  /* A buffer while it is described. */
  class BufferRef {
  public:
    BufferRef &alignment(std::uint64_t bytes) { return at().alignment = bytes, *this; }
    BufferRef &slots(std::uint32_t count) { return at().slots = count, *this; }
    BufferRef &exclusive() { return at().flags |= MEMPLAN_EXCLUSIVE, *this; }
    BufferRef &fixed(std::uint64_t offset) {
      at().fixed_offset = offset;
      at().flags |= MEMPLAN_FIXED_OFFSET;
      return *this;
    }
    /* The spaces it may live in, the best first. */
    BufferRef &in(std::vector<std::uint32_t> spaces) {
      problem_.candidates_.push_back(std::move(spaces));
      at().spaces = problem_.candidates_.back().data();
      at().space_count = problem_.candidates_.back().size();
      return *this;
    }
    /* The stretches of a life with gaps. */
    BufferRef &alive(std::vector<memplan_interval> intervals) {
      problem_.lives_.push_back(std::move(intervals));
      at().intervals = problem_.lives_.back().data();
      at().interval_count = problem_.lives_.back().size();
      return *this;
    }
    std::uint32_t index() const { return static_cast<std::uint32_t>(index_); }
    operator std::uint32_t() const { return index(); }

  private:
    friend class Problem;
    BufferRef(Problem &problem, std::size_t index) : problem_(problem), index_(index) {}
    memplan_buffer &at() { return problem_.buffers_[index_]; }
    Problem &problem_;
    std::size_t index_;
  };

  Problem() = default;
  // The buffers point to what this problem owns.
  Problem(const Problem &) = delete;
  Problem &operator=(const Problem &) = delete;
  Problem(Problem &&) = default;
  Problem &operator=(Problem &&) = default;

  /* Adds a space; without any there is one that has no limit. */
  SpaceRef space() {
    spaces_.push_back(memplan_space{});
    return SpaceRef(*this, spaces_.size() - 1);
  }

  /* Adds a buffer that is alive from step `start` until, not including, step `end`. */
  BufferRef buffer(std::uint64_t size, std::uint64_t start, std::uint64_t end) {
    memplan_buffer added{};
    added.size = size;
    added.start = start;
    added.end = end;
    buffers_.push_back(added);
    return BufferRef(*this, buffers_.size() - 1);
  }

  /* Adds a relation, such as MEMPLAN_MAY_OVERLAY of `buffer` over `other`. */
  void relate(std::uint32_t kind, std::uint32_t buffer, std::uint32_t other) {
    relations_.push_back(memplan_relation{kind, buffer, other, 0});
  }

  /* Adds a price for the case that two buffers have a byte in common. */
  void price(std::uint32_t buffer, std::uint32_t other, std::uint64_t weight) {
    reuse_costs_.push_back(memplan_reuse_cost{buffer, other, weight});
  }

  std::size_t size() const { return buffers_.size(); }
  std::size_t space_count() const { return spaces_.empty() ? 1 : spaces_.size(); }

  /* How many slots come before those of a buffer. */
  std::size_t first_slot(std::size_t buffer) const {
    std::size_t before = 0;
    for (std::size_t index = 0; index < buffer; ++index)
      before += buffers_[index].slots ? buffers_[index].slots : 1;
    return before;
  }

  /* As C has it; valid while the problem is there and is not changed. */
  memplan_problem c() const {
    memplan_problem problem{};
    problem.struct_size = sizeof(memplan_problem);
    problem.buffer_size = sizeof(memplan_buffer);
    problem.buffers = buffers_.data();
    problem.buffer_count = buffers_.size();
    problem.space_size = sizeof(memplan_space);
    problem.spaces = spaces_.empty() ? nullptr : spaces_.data();
    problem.space_count = spaces_.size();
    problem.interval_size = sizeof(memplan_interval);
    problem.relation_size = sizeof(memplan_relation);
    problem.relations = relations_.data();
    problem.relation_count = relations_.size();
    problem.reuse_cost_size = sizeof(memplan_reuse_cost);
    problem.reuse_costs = reuse_costs_.data();
    problem.reuse_cost_count = reuse_costs_.size();
    return problem;
  }

private:
  std::vector<memplan_buffer> buffers_;
  std::vector<memplan_space> spaces_;
  std::vector<memplan_relation> relations_;
  std::vector<memplan_reuse_cost> reuse_costs_;
  // Deques, so that what buffers point to stays where it is.
  std::deque<std::vector<std::uint32_t>> candidates_;
  std::deque<std::vector<memplan_interval>> lives_;
};

/* What came of planning. True if there is a plan. */
struct Plan {
  memplan_status status = MEMPLAN_EXHAUSTED;
  std::vector<std::uint64_t> offsets;       /* one for each slot of each buffer */
  std::vector<std::uint32_t> spaces;        /* one for each buffer */
  std::vector<std::uint64_t> extents;       /* one for each space */
  std::uint64_t extent = 0;                 /* their sum */
  std::uint64_t lower_bound = 0;            /* no plan needs less */
  std::vector<std::uint32_t> witness;       /* buffers that cannot fit together */
  std::uint64_t cost = 0;                   /* what its reuse costs */
  std::uint64_t cost_lower_bound = 0;       /* no plan within the capacities costs less */
  std::vector<std::uint32_t> active;        /* positions of the prices that are paid */
  std::vector<std::size_t> first_slots;     /* where a buffer's offsets begin */
  std::string message;                      /* what there is to say besides */

  explicit operator bool() const { return status == MEMPLAN_OPTIMAL || status == MEMPLAN_FEASIBLE; }

  std::uint64_t offset(std::size_t buffer, std::size_t slot = 0) const {
    return offsets.at(first_slots.at(buffer) + slot);
  }
};

/* Plans; the plan has been checked. */
inline Plan plan(const Problem &problem, const Options &options = Options()) {
  Plan plan;
  plan.spaces.resize(problem.size());
  plan.extents.resize(problem.space_count());
  plan.witness.resize(problem.size());
  std::size_t slots = 0;
  memplan_problem described = problem.c();
  for (std::size_t index = 0; index < problem.size(); ++index) {
    plan.first_slots.push_back(slots);
    slots += described.buffers[index].slots ? described.buffers[index].slots : 1;
  }
  plan.offsets.resize(slots);
  memplan_report report{};
  report.struct_size = sizeof(memplan_report);
  report.spaces = plan.spaces.data();
  report.extents = plan.extents.data();
  report.witness = plan.witness.data();
  plan.active.resize(described.reuse_cost_count);
  report.active = plan.active.data();
  plan.status = memplan_plan(&described, &options, plan.offsets.data(), &report);
  if (plan.status >= MEMPLAN_BAD_ARGUMENT)
    throw Error(plan.status);
  plan.extent = report.extent;
  plan.lower_bound = report.lower_bound;
  plan.witness.resize(report.witness_count);
  plan.cost = report.cost;
  plan.cost_lower_bound = report.cost_lower_bound;
  plan.active.resize(report.active_count);
  plan.message = memplan_last_error();
  return plan;
}

/* What is wrong with offsets, ours or anybody's, a line each; empty if they are right. */
inline std::string verify(const Problem &problem, Span<std::uint64_t> offsets, Span<std::uint32_t> spaces = {}) {
  if (offsets.size() != problem.first_slot(problem.size()))
    throw std::invalid_argument("memplan::verify needs an offset for each slot");
  memplan_problem described = problem.c();
  const std::uint32_t *where = spaces.size() == 0 ? nullptr : spaces.data();
  memplan_status status = memplan_verify_in_spaces(&described, offsets.data(), where, nullptr);
  if (status >= MEMPLAN_BAD_ARGUMENT)
    throw Error(status);
  return status == MEMPLAN_OK ? std::string() : std::string(memplan_last_error());
}

/* Runs a pass over the text of a program. */
inline std::string rewrite(std::string_view text, const char *pass, const Options &options = Options()) {
  struct Owned {
    char *text = nullptr;
    ~Owned() { memplan_free_text(text); }
  } result;
  memplan_status status = memplan_rewrite(text.data(), text.size(), pass, &options, &result.text);
  if (status >= MEMPLAN_BAD_ARGUMENT)
    throw Error(status);
  return result.text;
}

} // namespace memplan

#endif /* MEMPLAN_HPP */
