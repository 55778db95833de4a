"""Solves offset problems with the CP-SAT solver of OR-tools, one JSON object a line.

    {"buffers": [{"size": 3, "alignment": 2, "fixed": null, "lifetime": [[0, 4], [6, 9]]}, …]}  ->  {"extent": 12}

The model is the textbook one: an offset per buffer, one two-dimensional no-overlap over all stretches of life.
"""

import json
import sys

from ortools.sat.python import cp_model


def smallest_extent(buffers):
    model = cp_model.CpModel()
    enough = sum(b["size"] + b["alignment"] for b in buffers) + max((b["fixed"] or 0 for b in buffers), default=0)
    extent = model.new_int_var(0, enough, "extent")
    times, places = [], []
    for number, b in enumerate(buffers):
        multiple = model.new_int_var(0, enough // b["alignment"], f"multiple{number}")
        offset = model.new_int_var(0, enough, f"offset{number}")
        model.add(offset == multiple * b["alignment"])
        if b["fixed"] is not None:
            model.add(offset == b["fixed"])
        end = model.new_int_var(0, enough, f"end{number}")
        model.add(end == offset + b["size"])
        model.add(end <= extent)
        for stretch, (start, stop) in enumerate(b["lifetime"]):
            if b["size"] == 0:
                continue
            times.append(model.new_fixed_size_interval_var(start, stop - start, f"time{number}.{stretch}"))
            places.append(model.new_interval_var(offset, b["size"], end, f"place{number}.{stretch}"))
    model.add_no_overlap_2d(times, places)
    model.minimize(extent)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    if status == cp_model.OPTIMAL:
        return int(solver.objective_value)
    return None if status == cp_model.INFEASIBLE else "undecided"


for line in sys.stdin:
    print(json.dumps({"extent": smallest_extent(json.loads(line)["buffers"])}), flush=True)
