"""Solves offset problems with the CP-SAT solver of OR-tools, one JSON object a line.

    {"buffers": [{"size": 3, "alignment": 2, "fixed": null, "slots": 1, "exclusive": false,
                  "lifetime": [[0, 4, 0, 3], [6, 9, 1, 2]]}, …]}  ->  {"extent": 12}

    {"buffers": […], "capacity": 40, "apart": [[0, 2]], "costs": [[0, 1, 5], …]}  ->  {"cost": 5, "extent": 38}

With costs, the cheapest plan within the capacity is asked for, and of the cheapest ones the smallest.
A stretch of life is [start, end, low, high]: when, and which of the buffer's bytes. The model is the textbook one: an
offset per slot, one two-dimensional no-overlap over all stretches of life, and one-dimensional ones for what never shares.
"""

import itertools
import json
import sys

from ortools.sat.python import cp_model


def solve(problem):
    buffers = problem["buffers"]
    model = cp_model.CpModel()
    enough = sum((b["size"] + b["alignment"]) * b["slots"] for b in buffers)
    enough += max((b["fixed"] or 0 for b in buffers), default=0)
    extent = model.new_int_var(0, enough, "extent")
    times, places, wholes = [], [], []
    for number, b in enumerate(buffers):
        for slot in range(b["slots"]):
            name = f"{number}.{slot}"
            multiple = model.new_int_var(0, enough // b["alignment"], f"multiple{name}")
            offset = model.new_int_var(0, enough, f"offset{name}")
            model.add(offset == multiple * b["alignment"])
            if b["fixed"] is not None:
                model.add(offset == b["fixed"])
            model.add(offset + b["size"] <= extent)
            if b["size"] == 0:
                continue
            whole = model.new_interval_var(offset, b["size"], offset + b["size"], f"whole{name}")
            wholes.append((number, b["exclusive"], whole))
            for stretch, (start, stop, low, high) in enumerate(b["lifetime"]):
                times.append(model.new_fixed_size_interval_var(start, stop - start, f"time{name}.{stretch}"))
                places.append(model.new_interval_var(offset + low, high - low, offset + high, f"place{name}.{stretch}"))
    for (one, is_exclusive, a), (other, is_other_exclusive, b) in itertools.combinations(wholes, 2):
        if one == other or is_exclusive or is_other_exclusive:
            model.add_no_overlap([a, b])
    model.add_no_overlap_2d(times, places)
    if problem.get("capacity") is not None:
        model.add(extent <= problem["capacity"])
    slots = lambda number: [whole for owner, _, whole in wholes if owner == number]
    for one, other in problem.get("apart", []):
        for a, b in itertools.product(slots(one), slots(other)):
            model.add_no_overlap([a, b])
    prices = []
    for one, other, weight in problem.get("costs", []):
        is_active = model.new_bool_var(f"active{one}.{other}")
        prices.append(weight * is_active)
        for a, b in itertools.product(slots(one), slots(other)):
            is_below, is_above = model.new_bool_var(""), model.new_bool_var("")
            model.add(a.end_expr() <= b.start_expr()).only_enforce_if(is_below)
            model.add(b.end_expr() <= a.start_expr()).only_enforce_if(is_above)
            model.add_bool_or([is_active, is_below, is_above])
    model.minimize(extent + (enough + 1) * sum(prices))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    if status == cp_model.OPTIMAL:
        return {"cost": int(sum(solver.value(price) for price in prices)), "extent": int(solver.value(extent))}
    return {"extent": None if status == cp_model.INFEASIBLE else "undecided"}


for line in sys.stdin:
    print(json.dumps(solve(json.loads(line))), flush=True)
