"""The guide, step by step: problems, plans, checks, comparisons, programs."""

import json
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import memplan
from conftest import MLIR, SMALL, hard_records


def test_records_as_lists_arrays_and_buffers_are_one_problem():
    records = [(64, 0, 2), (32, 1, 3), (48, 2, 4), (16, 3, 5)]
    plans = [
        memplan.plan(records),
        memplan.plan(np.array(records)),
        memplan.plan(np.array(records, dtype=np.float64)),
        memplan.plan(np.array(records, dtype=np.uint32)),
        memplan.plan([memplan.Buffer(str(i), size, (lower, upper)) for i, (size, lower, upper) in enumerate(records)]),
        memplan.plan([{"id": str(i), "size": s, "lifetime": [[a, b]]} for i, (s, a, b) in enumerate(records)]),
        memplan.plan(memplan.Problem.from_arrays(*np.array(records).T)),
        memplan.plan(iter(records)),
    ]
    for plan in plans:
        assert plan.status == "optimal"
        assert plan.extent == plan.lower_bound == 96
        assert list(plan.offsets) == list(plans[0].offsets)


def test_a_plan_in_every_form(tmp_path):
    plan = memplan.plan(memplan.Problem.from_json(json.dumps({"records": [[64, 0, 1], [32, 1, 2]]}), "net"))
    assert plan.to_dict()["buffers"][1]["offset"] == plan.offsets[1]
    assert plan.to_csv().startswith("id,")
    assert "#define PLAN_ARENA_SIZE 96u" in plan.to_header()
    assert plan.to_svg().lstrip().startswith(("<svg", "<?xml"))
    assert plan.to_html().lower().lstrip().startswith("<!doctype html")
    for name in ("p.json", "p.csv", "p.h", "p.html", "p.svg"):
        plan.save(tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.csv", "p.h", "p.html", "p.json", "p.svg"]
    assert "#define P_ARENA_SIZE 96u" in (tmp_path / "p.h").read_text()
    with pytest.raises(memplan.ArgumentError, match="p.xyz"):
        plan.save(tmp_path / "p.xyz")


def test_representations():
    plan = memplan.plan([(64, 0, 2), (32, 1, 3)])
    assert repr(plan) == "Plan(optimal, extent=96, lower_bound=96, strategy='auto', 2 buffers)"
    assert repr(plan.problem) == "Problem('problem', 2 buffers, lower_bound=96)"
    assert repr(memplan.Space("sram", 1024, 16)) == "Space(name='sram', capacity=1024, alignment=16, base=0)"
    assert "Buffer(id='a', size=8, lifetime=(0, 1)" in repr(memplan.Buffer("a", 8, (0, 1)))
    page = plan._repr_html_()
    assert page.startswith("<iframe srcdoc=") and "<script" not in page
    nasty = memplan.plan([memplan.Buffer('"></iframe><script>alert(1)</script>', 8, (0, 1))])
    assert "<script" not in nasty._repr_html_() and "</iframe><" not in nasty._repr_html_()


def test_what_does_not_fit_is_an_answer():
    plan = memplan.plan(memplan.Problem([(64, 0, 2), (32, 1, 3), (8, 9, 10)], capacity=90))
    assert plan.status == "infeasible" and not plan and plan.extent is None
    assert plan.witness == ["0", "1"]
    assert "witness=['0', '1']" in repr(plan) and plan._repr_html_().startswith("<pre>")
    with pytest.raises(memplan.RefusedError, match="infeasible"):
        plan.offsets


def test_spaces_slots_fixed_offsets_ties_and_overlays():
    problem = memplan.Problem(
        [
            memplan.Buffer("double", 100, (0, 4), space="ub", slots=2),
            memplan.Buffer("fixed", 32, (0, 4), space="ub", offset=256),
            memplan.Buffer("whole", 64, (0, 4), space="dram", tie=("cat", 0)),
            memplan.Buffer("part", 32, (0, 2), space="dram", tie=("cat", 32)),
            memplan.Buffer("gaps", 8, [(0, 1), (3, 4)], space="dram"),
            memplan.Buffer("old", 16, (0, 2), space="dram"),
            memplan.Buffer("new", 16, (1, 3), space="dram"),
        ],
        [memplan.Space("ub", 1024, 32), memplan.Space("dram")],
        may_overlay=[{"id": "new", "over": "old", "kind": "same-base"}],
        must_not_share=[("gaps", "old")],
    )
    plan = memplan.plan(problem)
    buffers = {buffer["id"]: buffer for buffer in plan.to_dict()["buffers"]}
    assert len(buffers["double"]["offsets"]) == 2
    assert buffers["fixed"]["offset"] == 256
    assert buffers["part"]["offset"] == buffers["whole"]["offset"] + 32
    assert memplan.verify(problem, plan) == []
    again = memplan.Problem.from_dict(problem.to_dict())
    assert again.to_json() == problem.to_json()


def test_reuse_has_a_price():
    problem = memplan.Problem(
        [memplan.Buffer(name, 32, (2 * at, 2 * at + 2)) for at, name in enumerate("abcd")],
        capacity=96,
        reuse_costs=[("a", "b", 4), ("b", "c", 3), ("c", "d", 4), ("a", "c", 4), ("b", "d", 4), ("a", "d", 5)],
    )
    plan = memplan.plan(problem)
    assert (plan.status, plan.cost, plan.cost_lower_bound) == ("optimal", 3, 3)
    assert plan.active_pairs == [("b", "c", 3)]
    assert plan.to_dict()["cost"] == 3 and memplan.verify(problem, plan) == []
    assert problem.to_dict()["reuse_costs"][1] == ["b", "c", 3]
    without = memplan.plan(problem.on(capacity="1KiB"))
    assert (without.cost, without.active_pairs) == (0, [])
    assert memplan.plan([(64, 0, 2)]).cost is None
    with pytest.raises(memplan.ProblemError):
        memplan.Problem([memplan.Buffer("a", 8, (0, 1))], reuse_costs=[("a", "nobody", 1)])


def test_verify_finds_what_is_wrong():
    problem = memplan.Problem([(64, 0, 2), (32, 1, 3)])
    assert memplan.verify(problem, [0, 64]) == []
    assert memplan.verify(problem, np.array([32, 0])) == []
    [finding] = memplan.verify(problem, [0, 32])
    assert finding.code == "packing::overlap" and finding.buffers == ["0", "1"] and finding.step == 1
    assert finding.bytes == (32, 64)
    plan = memplan.plan(problem).to_dict()
    plan["buffers"][0]["offset"] = plan["buffers"][0]["offsets"][0] = plan["buffers"][1]["offset"]
    assert memplan.verify(problem, plan)
    with pytest.raises(memplan.ArgumentError, match="1 offsets for 2 buffers"):
        memplan.verify(problem, [0])


def test_compare_sorts_and_shows():
    comparison = memplan.compare([(64, 0, 2), (32, 1, 3), (48, 2, 4)], work=1000)
    extents = [entry.extent for entry in comparison]
    assert extents == sorted(extents) and comparison.best.extent == comparison.lower_bound == 96
    assert {"auto", "search", "naive"} <= {entry.strategy for entry in comparison}
    assert repr(comparison).splitlines()[0].split() == ["strategy", "assign", "extent", "ratio", "status", "ms"]
    assert comparison._repr_html_().startswith("<table>")
    assert len(comparison.to_dicts()) == len(comparison)


def test_files_and_programs(inputs):
    records = memplan.read(inputs / "a.csv")
    assert len(records) == 4 and not records.has_program
    program = memplan.read(inputs / "b.mlir")
    assert program.has_program and memplan.plan(program).extent == 64
    assert memplan.verify(program, memplan.plan(program)) == []
    fits = records.on(capacity=96, align=16)
    assert memplan.plan(fits).status == "optimal"
    assert memplan.plan(records.on(capacity=95)).status == "infeasible"


def test_opt_rewrites_and_counts():
    new = memplan.opt(MLIR, "merge-alloc", alignment=32)
    assert "memref.view" in new.text and str(new) == new.text
    assert new.savings[0].before == 128 and new.savings[0].after == 64
    assert memplan.opt(MLIR, "merge-alloc", analysis_only=True).text != new.text
    assert "merge-alloc" in memplan.passes()


def test_options_with_underscores_and_lists_are_keywords():
    data = pathlib.Path(__file__).resolve().parents[3] / "tests" / "data"
    text = (data / "gmem-ir" / "tiny_before_address_assign_bm1684x.mlir").read_text()
    reused = memplan.opt(text, "assign-gmem", addr_mode="in_reuse", reuse_addr=True)
    assert 'module.addr_mode = "in_reuse"' in reused.text
    with pytest.raises(memplan.MemplanError, match="`same_addr` names 9:9"):
        memplan.opt(text, "assign-gmem", addr_mode="io_alone", same_addr="9:9,0:0")


def test_offsets_belong_to_the_buffers_of_the_problem(tmp_path):
    """An allocation that is left alone, because it is returned, has no buffer and no offset."""
    allocations = "".join(f"  %{name} = memref.alloc() : memref<8xf32>\n" for name in "rab")
    copies = "".join(f"  memref.copy %{a}, %{b} : memref<8xf32> to memref<8xf32>\n" for a, b in ["xa", "yb", "ar", "br"])
    head = "func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) -> memref<8xf32> {\n"
    (tmp_path / "f.mlir").write_text(f"{head}{allocations}{copies}  return %r : memref<8xf32>\n}}\n")
    problem = memplan.read(tmp_path / "f.mlir")
    assert [name.rpartition("%")[2] for name in problem.ids] == ["a", "b"]
    assert memplan.verify(problem, [0, 32]) == []
    findings = memplan.verify(problem, [0, 0])
    assert findings and not any(name.endswith("%r") for finding in findings for name in finding.buffers)


def test_same_request_same_bytes_on_any_number_of_threads():
    records = hard_records()
    plans = [memplan.plan(records, "search", work=3000, threads=threads).to_dict() for threads in (1, 2, 3)]
    for plan in plans:
        plan["seconds"] = 0
    assert plans[0] == plans[1] == plans[2]


def test_everything_is_listed():
    assert {"auto", "search", "naive"} <= memplan.strategies().keys()
    assert {"csv", "json", "mlir"} <= memplan.formats().keys()
    assert memplan.__version__.count(".") == 2
    assert set(memplan.__all__) <= set(dir(memplan))


def test_problems_and_errors_can_be_pickled():
    problem = memplan.Problem([(64, 0, 2)], capacity=100, name="p")
    assert pickle.loads(pickle.dumps(problem)).to_json() == problem.to_json()
    error = memplan.ReadError("m", code="c", file="f", line=1, column=2, help="h")
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.code, copy.line) == ("f:1:2: m (h)", "c", 1)


def test_the_module_is_the_command_line(tmp_path):
    (tmp_path / "small.csv").write_text(SMALL)

    def run(*arguments):
        command = [sys.executable, "-m", "memplan", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    ran = run("plan", "small.csv", "--json")
    assert ran.returncode == 0 and json.loads(ran.stdout)["extent"] == 96
    assert run("plan", "small.csv", "--capacity", "90").returncode == 1
    missing = run("plan", "no-such.csv")
    assert missing.returncode == 2 and "no-such.csv" in missing.stderr
    assert "Usage" in run("--help").stdout
    assert run("no-such-command").returncode == 2


def test_rust_command_line_and_python_give_the_same_bytes(tmp_path):
    (tmp_path / "small.csv").write_text(SMALL)
    command = [sys.executable, "-m", "memplan", "plan", str(tmp_path / "small.csv"), "--json", "-s", "first-fit"]
    printed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    planned = memplan.plan(memplan.read(tmp_path / "small.csv"), "first-fit").to_dict()
    printed["seconds"] = planned["seconds"] = 0
    assert printed == planned


def test_models_are_read_from_disk():
    models = sorted((pathlib.Path(__file__).resolve().parents[3] / "tests" / "data").rglob("*.tflite"))
    assert models
    for model in models:
        problem = memplan.read(model)
        plan = memplan.plan(problem, work=20_000)
        assert plan and memplan.verify(problem, plan) == []
        assert len(memplan.read(model, scratch="")) <= len(problem)
        assert memplan.plan(memplan.read(model, reuse_inputs=True), work=20_000).extent <= plan.extent
