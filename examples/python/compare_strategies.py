"""Every strategy on one problem, smallest extent first."""

import random

import memplan

draw = random.Random(1)
records = []
for _ in range(200):
    lower = draw.randrange(80)
    records.append((draw.randrange(1, 4096), lower, lower + 1 + draw.randrange(20)))

comparison = memplan.compare(records, work=2000)
print(comparison)
assert comparison.best.extent == min(entry.extent for entry in comparison if entry.extent is not None)
