"""Plan records of your own, look at the plan, and check somebody else's."""

import numpy as np

import memplan

# Size in bytes, first step, first step after the last: a row a buffer.
records = np.array([(64, 0, 2), (32, 1, 3), (48, 2, 4), (16, 3, 5)])

plan = memplan.plan(records)
print(plan)
print("offsets:", list(plan.offsets))
assert plan.status == "optimal" and plan.extent == 96

# Any plan can be checked. An empty list means that it is right.
assert memplan.verify(plan.problem, plan) == []
for finding in memplan.verify(plan.problem, [0, 0, 0, 0]):
    print("wrong:", finding.message)

# Names, alignments and a capacity.
problem = memplan.Problem(
    [
        memplan.Buffer("input", 3000, (0, 2), alignment=16),
        memplan.Buffer("conv", 5000, (1, 3), alignment=16),
        memplan.Buffer("output", 1000, (2, 4), alignment=16),
    ],
    [memplan.Space("sram", capacity=8192, alignment=16)],
)
fits = memplan.plan(problem)
print(fits)
tight = memplan.plan(problem.on(spaces=["sram=6KiB"]))
print(tight)
assert fits and tight.witness == ["input", "conv"]
