/* A small fast memory and a large slow one: memplan decides what lives where.

     crates/memplan-capi/install --prefix /opt/memplan
     cmake -S examples/cmake -B build -DCMAKE_PREFIX_PATH=/opt/memplan && cmake --build build && build/two_memories
*/

#include <memplan.hpp>

#include <iostream>

int main() {
  memplan::Problem problem;
  std::uint32_t fast = problem.space().capacity(96).alignment(16);
  std::uint32_t slow = problem.space();
  std::uint32_t input = problem.buffer(64, 0, 2).in({fast, slow});
  std::uint32_t hidden = problem.buffer(64, 1, 4).in({fast, slow});
  std::uint32_t output = problem.buffer(32, 3, 5).in({fast, slow}).slots(2);

  memplan::Plan plan = memplan::plan(problem);
  if (!plan) {
    std::cerr << plan.message << "\n";
    return 1;
  }
  const char *names[] = {"fast", "slow"};
  for (std::uint32_t buffer : {input, hidden, output})
    std::cout << "buffer " << buffer << ": " << names[plan.spaces[buffer]] << " at " << plan.offset(buffer) << "\n";
  std::cout << plan.extents[0] << " + " << plan.extents[1] << " bytes\n";

  // Everything at 0 is a plan, too, and a wrong one.
  std::vector<std::uint64_t> nonsense(plan.offsets.size(), 0);
  if (memplan::verify(problem, nonsense, plan.spaces).empty() || !memplan::verify(problem, plan.offsets, plan.spaces).empty())
    return 1;

  try {
    memplan::plan(problem, memplan::Options("no-such-strategy"));
  } catch (const memplan::Error &error) {
    std::cout << error.what() << "\n";
    return 0;
  }
  return 1;
}
