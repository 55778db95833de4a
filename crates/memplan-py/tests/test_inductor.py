"""Inductor's pools planned by memplan: on groups recorded from real graphs, and, where torch is installed, for real.

tests/data/torch/inductor.json holds what Inductor's planner was given for each graph (name, bytes, live range) and what
its own pools took. It was written by ``test_the_real_package`` with MEMPLAN_BLESS=1.
"""

import json
import os
import pathlib
import types

import framework_planners
import pytest
import drop_in_rows

import memplan
import memplan.inductor as dropin

ROOT = pathlib.Path(__file__).resolve().parents[3]
RECORDED = ROOT / "tests" / "data" / "torch" / "inductor.json"
POOLS = ROOT / "tests" / "data" / "torch" / "inductor_pools.json"
PAGE = ROOT / "docs" / "inductor.md"


def recorded():
    return json.loads(RECORDED.read_text(encoding="utf-8"))


@pytest.mark.parametrize("graph", recorded(), ids=lambda graph: graph["graph"])
def test_the_pool_is_never_larger_than_inductors(graph):
    lives = [dropin.Life(*life) for life in graph["lives"]]
    plan = dropin.plan_pool(lives)
    assert plan.lower_bound <= plan.extent <= graph["inductor"]
    # By hand, from the recorded live ranges alone: what is alive together lies apart.
    places = [(life, int(offset)) for life, offset in zip(lives, plan.offsets)]
    for index, (one, start) in enumerate(places):
        assert start % 64 == 0 and start + one.size <= plan.extent
        for other, place in places[index + 1 :]:
            together = one.begin < other.end and other.begin < one.end
            assert not together or start + one.size <= place or place + other.size <= start


def test_the_table_of_the_page_is_measured():
    """Pools are planned here; peaks are what PyTorch's profiler counted when the graphs were recorded."""
    rows = ["| graph | buffers | bound | Inductor's pools | memplan's pool | peak: default | Inductor | memplan |"]
    rows.append("|---|---|---|---|---|---|---|---|")
    about = []
    for graph in recorded():
        plan = dropin.plan_pool([dropin.Life(*life) for life in graph["lives"]])
        pools = [f"{size:,} ({size / plan.lower_bound:.3f})" for size in (graph["inductor"], plan.extent)]
        peaks = [f"{peak:,}" for peak in graph["peaks"]]
        cells = [graph["graph"], str(len(graph["lives"])), f"{plan.lower_bound:,}", *pools, *peaks]
        rows.append(f"| {' | '.join(cells)} |")
        facts = (f"{graph['graph']}, inference", graph["inductor"], plan.extent, plan.lower_bound)
        about.append(drop_in_rows.row("Inductor's pools", *facts))
    drop_in_rows.check("Inductor's pools", about)
    mark = "<!-- measured: test_inductor.py -->\n"
    head, rest = PAGE.read_text(encoding="utf-8").split(mark)
    page = head + mark + "\n" + "\n".join(rows) + "\n" + rest[rest.index("\n## ") :]
    if os.environ.get("MEMPLAN_BLESS"):
        PAGE.write_text(page, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page, "run with MEMPLAN_BLESS=1"


def test_another_pytorch_or_none_is_refused(monkeypatch):
    from importlib import metadata

    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    with pytest.raises(memplan.RefusedError, match=r"torch is not installed \(pip install torch==2\.15\.\*\)"):
        dropin.install()
    monkeypatch.setattr(metadata, "version", lambda name: "1.13.1+cu117")
    with pytest.raises(memplan.RefusedError, match=r"torch 1\.13\.1\+cu117 is not known to memplan; tested: 2\.15"):
        dropin.install()
    assert str(dropin.report()).startswith("pool")
    with pytest.raises(memplan.RefusedError, match="planned nothing"):
        dropin.report().save("map.html")


def networks(torch):
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            batch, length, width = x.shape
            q, k, v = (p.view(batch, length, 4, -1).transpose(1, 2) for p in self.qkv(self.norm1(x)).chunk(3, -1))
            y = torch.softmax(q @ k.transpose(-1, -2) * width**-0.5, -1) @ v
            x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
            return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            sizes = [(3, 16), (16, 32), (32, 64), (96, 32), (48, 16), (16, 2)]
            self.layers = nn.ModuleList(nn.Conv2d(a, b, 3, padding=1) for a, b in sizes)

        def forward(self, x):
            down, deeper, middle, up, higher, head = self.layers
            one = torch.relu(down(x))
            two = torch.relu(deeper(nn.functional.max_pool2d(one, 2)))
            y = torch.relu(middle(nn.functional.max_pool2d(two, 2)))
            y = torch.relu(up(torch.cat([nn.functional.interpolate(y, scale_factor=2), two], 1)))
            return head(torch.relu(higher(torch.cat([nn.functional.interpolate(y, scale_factor=2), one], 1))))

    return {
        "transformer": (nn.Sequential(Block(64), Block(64)), torch.randn(2, 32, 64)),
        "U-Net": (UNet(), torch.randn(1, 3, 64, 64)),
    }


def peak(torch, call):
    """The most bytes that are allocated at once during a call, counted by PyTorch's profiler."""
    with torch.profiler.profile(profile_memory=True) as profile:
        call()
    now = most = 0
    for event in profile.profiler.kineto_results.events():
        if event.name() == "[memory]":
            now += event.nbytes()
            most = max(most, now)
    return most


def test_the_real_package(monkeypatch):
    if not os.environ.get("MEMPLAN_REQUIRE_TORCH"):
        pytest.importorskip("torch", reason="skipped: needs torch")
    import torch

    given = []
    real = dropin.plan_pool
    monkeypatch.setattr(dropin, "plan_pool", lambda lives, **options: given.append(lives) or real(lives, **options))
    torch.manual_seed(0)
    graphs = []
    for name, (network, example) in networks(torch).items():
        default, default_peak = compiled(torch, network, example)
        own, own_peak = compiled(torch, network, example, memory_planning=True)
        with dropin.install() as hook:
            planned, planned_peak = compiled(torch, network, example)
        assert torch.equal(own, default) and torch.equal(planned, default)
        (pool,) = hook.report().pools
        assert pool.lower_bound <= pool.extent <= pool.own
        # The default frees every buffer as soon as it can, and a pool is held as a whole: it may need less than both.
        assert planned_peak <= own_peak
        lives = [[life.name, life.size, life.begin, life.end] for life in given.pop()]
        peaks = [default_peak, own_peak, planned_peak]
        graphs.append({"graph": name, "inductor": pool.own, "peaks": peaks, "lives": lives})
    if os.environ.get("MEMPLAN_BLESS"):
        rows = ",\n".join(json.dumps(graph) for graph in graphs)
        RECORDED.write_text(f"[\n{rows}\n]\n", encoding="utf-8")


def test_the_recorded_pools_are_what_inductors_planner_makes():
    """Inductor's own classes, given the lives of programs that other compilers recorded; see test_frameworks.py."""
    if not os.environ.get("MEMPLAN_REQUIRE_TORCH"):
        pytest.importorskip("torch", reason="skipped: needs torch")
    import sympy
    import torch
    from torch._inductor.codegen import memory_planning

    device = torch.device("cpu")
    extents = {}
    for path in framework_planners.PROGRAMS.values():
        blocks = []
        for size, lower, upper in framework_planners.read_lives(path):
            node = types.SimpleNamespace(get_device=lambda: device, get_layout=lambda: types.SimpleNamespace(size=()))
            life = memory_planning.LiveRange(lower, upper)
            blocks.append(memory_planning.Allocation(node, life, size, sympy.Integer(size)))
        pools = dropin._own_pools(memory_planning, device, blocks)
        extents[path.stem] = sum(int(pool.root.get_size_hint()) for pool in pools)
    if os.environ.get("MEMPLAN_BLESS"):
        POOLS.write_text(json.dumps(extents, indent=1) + "\n", encoding="utf-8")
    assert json.loads(POOLS.read_text(encoding="utf-8")) == extents, "run with MEMPLAN_BLESS=1"


def compiled(torch, network, example, **settings):
    """What a network computes when it is compiled anew, and the peak of a second call."""
    torch.compiler.reset()
    with torch.no_grad(), torch._inductor.config.patch(force_disable_caches=True, **settings):
        function = torch.compile(network.eval())
        output = function(example)
        return output, peak(torch, lambda: function(example))


def test_training_graphs():
    if not os.environ.get("MEMPLAN_REQUIRE_TORCH"):
        pytest.importorskip("torch", reason="skipped: needs torch")
    import torch

    def gradients(network, example):
        torch.compiler.reset()
        network.zero_grad()
        torch.compile(network)(example).square().mean().backward()
        return [parameter.grad.clone() for parameter in network.parameters()]

    torch.manual_seed(0)
    network, example = networks(torch)["transformer"]
    expected = gradients(network, example)
    with dropin.install(training=True) as hook, torch._inductor.config.patch(force_disable_caches=True):
        assert all(torch.equal(one, other) for one, other in zip(gradients(network, example), expected))
    assert len(hook.report()) >= 1
    assert all(pool.extent <= pool.own for pool in hook.report().pools)


def test_graphs_that_inductor_has_in_its_cache_are_planned_all_the_same(monkeypatch, tmp_path):
    if not os.environ.get("MEMPLAN_REQUIRE_TORCH"):
        pytest.importorskip("torch", reason="skipped: needs torch")
    import torch

    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    caches = (torch._inductor.config.fx_graph_cache, torch._functorch.config.enable_autograd_cache)
    network, example = networks(torch)["transformer"]
    for _ in range(2):
        torch.compiler.reset()
        with torch.no_grad(), dropin.install() as hook:
            torch.compile(network.eval())(example)
        assert len(hook.report()) == 1
    assert caches == (torch._inductor.config.fx_graph_cache, torch._functorch.config.enable_autograd_cache)
