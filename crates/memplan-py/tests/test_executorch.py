"""The contract of ExecuTorch's memory planning suite, with stand-ins for its classes.

The stand-ins have what the suite's own algorithms use of a TensorSpec. ``test_the_real_package`` runs where
executorch is installed.
"""

import os

import pytest

import memplan
from memplan.executorch import algorithm


class Spec:
    """What planning needs of executorch.exir.tensor.TensorSpec; compared by identity, like the original."""

    def __init__(self, nbytes, lifetime, mem_id=None, base=None, base_offset=0):
        self.nbytes, self.lifetime, self.mem_id = nbytes, list(lifetime), mem_id
        self.alignment, self.storage_base, self.storage_base_offset = 16, base, base_offset

    @property
    def allocated_memory(self):
        return -(-self.nbytes // self.alignment) * self.alignment

    def realign(self, alignment):
        self.alignment = alignment
        return self.allocated_memory


class Graph:
    def __init__(self, sizes=None):
        if sizes is not None:
            self.input_mem_buffer_sizes = sizes


def overlaps(one, other, result):
    """Same memory, same bytes, same time (ends are inclusive)."""
    a, b = result.spec_dict[one], result.spec_dict[other]
    return (
        a.mem_id == b.mem_id
        and a.mem_offset < b.mem_offset + other.allocated_memory
        and b.mem_offset < a.mem_offset + one.allocated_memory
        and one.lifetime[0] <= other.lifetime[1]
        and other.lifetime[0] <= one.lifetime[1]
    )


def check(result, specs, alignment):
    assert set(result.spec_dict) == set(specs)
    for spec, place in result.spec_dict.items():
        assert place.mem_offset % alignment == 0
        assert place.mem_offset + spec.allocated_memory <= result.bufsizes[place.mem_id]
    for index, one in enumerate(specs):
        for other in specs[index + 1 :]:
            related = one.storage_base is other or other.storage_base is one
            assert related or not overlaps(one, other, result)


def test_inclusive_lifetimes_share_only_when_they_are_apart():
    specs = [Spec(100, (0, 1)), Spec(100, (1, 2)), Spec(100, (2, 3))]
    result = algorithm()(16, set(specs), Graph(), None)
    check(result, specs, 16)
    assert result.bufsizes == [0, 224], "at step 1 two are alive, each 112 bytes"


def test_arenas_padding_and_memory_that_inputs_have_already():
    specs = [Spec(64, (0, 4)), Spec(64, (0, 4), mem_id=1), Spec(32, (0, 4), mem_id=3)]
    result = algorithm("first-fit")(32, set(specs), Graph([0, 96]), None, 8)
    check(result, specs, 32)
    assert result.bufsizes == [0, 96 + 128 + 8, 0, 32 + 8]
    assert min(result.spec_dict[spec].mem_offset for spec in specs[:2]) == 96


def test_tensors_inside_other_tensors_keep_their_place():
    base = Spec(128, (0, 2))
    view = Spec(32, (1, 5), base=base, base_offset=64)
    nested = Spec(16, (2, 7), base=view, base_offset=16)
    other = Spec(128, (4, 6))
    specs = [base, view, nested, other]
    result = algorithm()(16, set(specs), Graph(), None)
    places = result.spec_dict
    assert places[view].mem_offset == places[base].mem_offset + 64
    assert places[nested].mem_offset == places[base].mem_offset + 80
    assert not overlaps(view, other, result) and not overlaps(nested, other, result)


def test_nothing_to_plan():
    assert algorithm()(16, set(), Graph(), None).bufsizes == [0, 0]


def test_what_does_not_fit_fails_at_export():
    specs = {Spec(100, (0, 1)), Spec(100, (1, 2))}
    assert algorithm(capacities={1: 224})(16, specs, Graph(), None).bufsizes == [0, 224]
    with pytest.raises(memplan.ProblemError, match="do not fit"):
        algorithm(capacities={1: 223})(16, specs, Graph(), None)


def test_algorithms_have_names_of_their_own():
    assert algorithm("first-fit").__name__ != algorithm("auto").__name__


def test_circles_and_missing_lifetimes_are_errors():
    one, two = Spec(16, (0, 1)), Spec(16, (0, 1))
    one.storage_base, two.storage_base = two, one
    with pytest.raises(memplan.ProblemError, match="storage"):
        algorithm()(16, {one, two}, Graph(), None)
    with pytest.raises(memplan.ProblemError, match="lifetime"):
        algorithm()(16, {Spec(16, (None, None))}, Graph(), None)


def test_the_real_package():
    if not os.environ.get("MEMPLAN_REQUIRE_EXECUTORCH"):
        pytest.importorskip("torch", reason="skipped: needs torch")
        pytest.importorskip("executorch.exir.memory_planning", reason="skipped: needs executorch")
    import torch
    from executorch.exir import ExecutorchBackendConfig, memory_planning as planning, to_edge
    from executorch.exir.passes import MemoryPlanningPass

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList(torch.nn.Linear(32, 32) for _ in range(6))

        def forward(self, x):
            kept = []
            for layer in self.layers:
                x = torch.relu(layer(x))
                kept.append(x)
            return kept[0] + kept[2] * kept[4] + x

    def arena(algorithms):
        suite = planning.MemoryPlanningAlgorithmSuite(algo_list=algorithms)
        edge = to_edge(torch.export.export(Net().eval(), (torch.randn(4, 32),)))
        program = edge.to_executorch(ExecutorchBackendConfig(memory_planning_pass=MemoryPlanningPass(suite)))
        return program.executorch_program.execution_plan[0].non_const_buffer_sizes[1]

    assert arena([algorithm()]) <= arena([planning.greedy])
