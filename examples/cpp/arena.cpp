/* One arena for many buffers: what a compiler pass does with memplan.

     cargo build --release -p memplan-capi
     c++ -std=c++17 -I crates/memplan-capi/include examples/cpp/arena.cpp \
         target/release/libmemplan_capi.a -lpthread -ldl -lm -o arena && ./arena
*/

#include "memplan.h"

#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

// What the pass knows about a value: bytes, alignment, first use, last use.
struct Value {
  std::string name;
  uint64_t bytes, alignment, first, last;
};

// The arena's size and an offset per value, or a complaint.
struct Arena {
  memplan_status status;
  uint64_t bytes;
  std::vector<uint64_t> offsets;
};

static memplan_problem problemOf(const std::vector<memplan_buffer> &buffers) {
  memplan_problem problem{};
  problem.struct_size = sizeof(memplan_problem);
  problem.buffer_size = sizeof(memplan_buffer);
  problem.buffers = buffers.data();
  problem.buffer_count = buffers.size();
  return problem;
}

// Lifetimes are half-open: a value whose last use is step 3 ends at 4.
static std::vector<memplan_buffer> buffersOf(const std::vector<Value> &values) {
  std::vector<memplan_buffer> buffers;
  for (const Value &value : values) {
    memplan_buffer buffer{};
    buffer.size = value.bytes;
    buffer.alignment = value.alignment;
    buffer.start = value.first;
    buffer.end = value.last + 1;
    buffers.push_back(buffer);
  }
  return buffers;
}

static Arena planArena(const std::vector<Value> &values) {
  std::vector<memplan_buffer> buffers = buffersOf(values);
  memplan_problem problem = problemOf(buffers);
  memplan_report report{};
  report.struct_size = sizeof(memplan_report);
  std::vector<uint64_t> offsets(values.size());
  memplan_status status = memplan_plan(&problem, nullptr, offsets.data(), &report);
  return {status, report.extent, std::move(offsets)};
}

int main() {
  std::vector<Value> values = {
      {"input", 64, 16, 0, 1}, {"conv", 32, 16, 1, 2}, {"relu", 32, 16, 2, 3}, {"output", 48, 16, 3, 4}};

  Arena arena = planArena(values);
  if (arena.status > MEMPLAN_FEASIBLE) {
    std::cerr << memplan_status_name(arena.status) << ": " << memplan_last_error() << "\n";
    return 1;
  }
  uint64_t sum = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    sum += values[i].bytes;
    std::cout << values[i].name << " at " << arena.offsets[i] << "\n";
  }
  std::cout << memplan_status_name(arena.status) << ": " << arena.bytes << " bytes instead of " << sum << "\n";

  // Plans of other tools can be checked, too. This one puts everything at 0.
  std::vector<memplan_buffer> buffers = buffersOf(values);
  memplan_problem problem = problemOf(buffers);
  std::vector<uint64_t> nonsense(values.size(), 0);
  memplan_status verdict = memplan_verify(&problem, nonsense.data(), nullptr);
  std::cout << "tampered plan: " << memplan_status_name(verdict) << "\n" << memplan_last_error() << "\n";
  return verdict == MEMPLAN_WRONG ? 0 : 1;
}
