"""torch.fx and torch.export graphs, with stand-ins for PyTorch's classes; the real ones where torch is installed."""

import operator
import os
import random

import pytest

import memplan
import memplan.fx


class Dtype:
    itemsize = 4


class Storage:
    def __init__(self, size):
        self.size, self._cdata = size, id(self)

    def nbytes(self):
        return self.size


class Tensor:
    """What is read of a FakeTensor; without a storage, what is read of ShapeProp's TensorMetadata."""

    def __init__(self, *shape, storage=None):
        self.shape, self.dtype = shape, Dtype
        if storage is not None:
            self.untyped_storage = lambda: storage


class Node:
    def __init__(self, name, op, target=None, args=(), kwargs=None, val=None, tensor_meta=None):
        self.name, self.op, self.target, self.args, self.kwargs = name, op, target, tuple(args), kwargs or {}
        self.meta = {key: value for key, value in (("val", val), ("tensor_meta", tensor_meta)) if value is not None}

    @property
    def all_input_nodes(self):
        flat = [part for one in [*self.args, *self.kwargs.values()] for part in (one if isinstance(one, (list, tuple)) else [one])]
        return list(dict.fromkeys(one for one in flat if isinstance(one, Node)))


class Module:
    def __init__(self, *nodes, **modules):
        self.graph = self
        self.nodes = nodes
        self.__dict__.update(modules)


def known(name):
    """A function of PyTorch by that name."""

    def function(*_):
        raise AssertionError("graphs are read, not run")

    function.__name__, function.__module__ = name, "torch"
    return function


def lives(graph):
    return {buffer["id"]: (buffer["size"], *buffer["lifetime"][0]) for buffer in graph.problem.buffers}


def test_values_with_one_storage_are_one_buffer():
    stored = Storage(64)
    x = Node("x", "placeholder", val=Tensor(16, storage=Storage(64)))
    a = Node("a", "call_function", known("relu"), [x], val=Tensor(16, storage=stored))
    b = Node("b", "call_function", known("anything"), [a], val=Tensor(4, 4, storage=stored))
    c = Node("c", "call_function", known("add"), [x], val=Tensor(16, storage=Storage(64)))
    d = Node("d", "call_function", known("mul"), [b, c], val=Tensor(16, storage=Storage(64)))
    graph = memplan.fx.read(Module(x, a, b, c, d, Node("out", "output", args=[(d,)])))
    assert lives(graph) == {"a": (64, 1, 5), "c": (64, 3, 5), "d": (64, 4, 7)}
    assert graph.storage["b"] == ("a",) and graph.storage["x"] == ()
    plan = graph.plan()
    assert plan.extent == 192
    offsets = graph.offsets(plan)
    assert offsets["a"] == offsets["b"] and len({offsets["a"], offsets["c"], offsets["d"]}) == 3


def test_inputs_and_outputs_can_be_planned_or_left_out():
    x = Node("x", "placeholder", val=Tensor(16, storage=Storage(64)))
    a = Node("a", "call_function", known("relu"), [x], val=Tensor(16, storage=Storage(64)))
    b = Node("b", "call_function", known("neg"), [a], val=Tensor(16, storage=Storage(64)))
    module = Module(x, a, b, Node("out", "output", args=[(b,)]))
    assert lives(memplan.fx.read(module, inputs=True)) == {"x": (64, 0, 2), "a": (64, 1, 3), "b": (64, 2, 5)}
    assert lives(memplan.fx.read(module, outputs=False)) == {"a": (64, 1, 3)}


def test_what_is_written_into_an_input_is_not_planned():
    stored = Storage(64)
    x = Node("x", "placeholder", val=Tensor(16, storage=stored))
    a = Node("a", "call_method", "add_", [x], val=Tensor(16, storage=stored))
    assert lives(memplan.fx.read(Module(x, a, Node("out", "output", args=[(a,)])))) == {}


class Mark:
    def __init__(self, *letters):
        self.before_set = self.after_set = set(letters)


class Slot:
    def __init__(self, name, mark=None):
        self.name, self.alias_info = name, mark


def test_schemas_say_what_is_a_view():
    operator_ = known("transpose.int")
    operator_._schema = type("Schema", (), {"arguments": [Slot("self", Mark("a"))], "returns": [Slot("", Mark("a"))]})
    x = Node("x", "placeholder", tensor_meta=Tensor(16))
    a = Node("a", "call_function", known("relu"), [x], tensor_meta=Tensor(16))
    b = Node("b", "call_function", operator_, [a], tensor_meta=Tensor(16))
    c = Node("c", "call_function", known("add"), [b, x], tensor_meta=Tensor(16))
    graph = memplan.fx.read(Module(x, a, b, c, Node("out", "output", args=[c])))
    assert lives(graph) == {"a": (64, 1, 4), "c": (64, 3, 6)}


def test_names_say_what_is_a_view_or_in_place():
    x = Node("x", "placeholder", tensor_meta=Tensor(16))
    a = Node("a", "call_function", known("relu"), [x], tensor_meta=Tensor(16))
    for op, target in [
        ("call_method", "view"),
        ("call_method", "mul_"),
        ("call_function", operator.iadd),
        ("call_function", known("transpose")),
    ]:
        b = Node("b", op, target, [a], tensor_meta=Tensor(16))
        graph = memplan.fx.read(Module(x, a, b, Node("out", "output", args=[b])))
        assert graph.storage["b"] == ("a",) and not graph.notes, target
    for op, target in [("call_method", "relu"), ("call_function", operator.add), ("call_function", known("matmul"))]:
        b = Node("b", op, target, [a], tensor_meta=Tensor(16))
        graph = memplan.fx.read(Module(x, a, b, Node("out", "output", args=[b])))
        assert graph.storage["b"] == ("b",) and not graph.notes, target


def test_parts_of_tuples_are_buffers_of_their_own():
    x = Node("x", "placeholder", tensor_meta=Tensor(16))
    a = Node("a", "call_function", known("topk"), [x], tensor_meta=(Tensor(16), Tensor(8)))
    b = Node("b", "call_function", operator.getitem, [a, 1], tensor_meta=Tensor(8))
    graph = memplan.fx.read(Module(x, a, b, Node("out", "output", args=[b])))
    assert lives(graph) == {"a": (64, 1, 3), "a.1": (32, 1, 5)} and graph.storage["b"] == ("a.1",)


def aliased(op, target, args=None, shape=Tensor(16), **modules):
    """What is known of b, where b is made of a and c, which nobody else reads; d is made of b."""
    x = Node("x", "placeholder", tensor_meta=Tensor(16))
    a = Node("a", "call_function", known("relu"), [x], tensor_meta=Tensor(16))
    c = Node("c", "call_function", known("sigmoid"), [x], tensor_meta=Tensor(16))
    w = Node("w", "get_attr", "w", tensor_meta=Tensor(16))
    nodes = {"x": x, "a": a, "c": c, "w": w}

    def named(one):
        """The node of that name; lists and tuples of them are looked through."""
        if isinstance(one, (list, tuple)):
            return type(one)(map(named, one))
        return nodes.get(one, one) if isinstance(one, str) else one

    b = Node("b", op, target, map(named, args or ["a"]), tensor_meta=shape)
    d = Node("d", "call_function", known("neg"), [b], tensor_meta=Tensor(16))
    graph = memplan.fx.read(Module(*nodes.values(), b, d, Node("out", "output", args=[d]), **modules))
    ends = {name: end for name, (_, _, end) in lives(graph).items()}
    return graph, ends


# The ends of lives in `aliased`: of what b reads, and of what b may be.
READ_BY_B, READ_BY_D = 5, 6


def test_what_nobody_knows_may_be_any_argument_and_a_note_says_so():
    class Strange:
        pass

    graph, ends = aliased("call_module", "inner", ["a", "c"], inner=Strange())
    assert graph.storage["b"] == ("b",) and (ends["a"], ends["c"]) == (READ_BY_D, READ_BY_D)
    assert graph.notes == ["b: nothing is known about Strange; its result may be one of its arguments"]
    # A new tensor in truth: had it the memory of both arguments, one of them would be written over the other.
    align = known("roi_align")
    align.__module__ = "torchvision.ops.roi_align"
    graph, ends = aliased("call_function", align, ["a", "c"])
    assert len({graph.storage[name] for name in "abc"}) == 3 and (ends["a"], ends["c"]) == (READ_BY_D, READ_BY_D)
    assert len(graph.notes) == 1
    for module in ("torch.utils.checkpoint", "torch.ops.mine", "torch.nn.parallel"):
        target = known("checkpoint")
        target.__module__ = module
        assert aliased("call_function", target)[1]["a"] == READ_BY_D, module


def test_what_may_return_its_argument_has_bytes_of_its_own_and_keeps_it_alive():
    """Conversions, dropouts, and functions that copy where no view can be had."""
    names = """ravel double bool long int short float half to type type_as cpu alpha_dropout dropout dropout2d
    contiguous reshape flatten sum_to_size positive pos linalg_diagonal conj_physical dequantize pin_memory coalesce
    rename refine_names align_to unfold unsafe_split resolve_conj as_tensor pixel_shuffle channel_shuffle""".split()
    for name in names:
        for op, target in [("call_function", known(name)), ("call_method", name)]:
            graph, ends = aliased(op, target)
            assert graph.storage["b"] == ("b",) and not graph.notes, target
            assert (ends["a"], ends["c"]) == (READ_BY_D, 3), target
    graph, ends = aliased("call_function", operator.pos)
    assert graph.storage["b"] == ("b",) and ends["a"] == READ_BY_D and not graph.notes
    for name in ("AlphaDropout", "Flatten", "PixelShuffle"):
        module = type(name, (), {"__module__": "torch.nn.modules.dropout"})
        graph, ends = aliased("call_module", "inner", inner=module())
        assert graph.storage["b"] == ("b",) and ends["a"] == READ_BY_D and not graph.notes
    depth = known("stochastic_depth")
    depth.__module__ = "torchvision.ops.stochastic_depth"
    graph, ends = aliased("call_function", depth)
    assert graph.storage["b"] == ("b",) and ends["a"] == READ_BY_D and len(graph.notes) == 1


def test_what_may_be_one_of_several_arguments_is_united_with_none():
    graph, ends = aliased("call_function", known("einsum"), ["i,i->i", "a", "c"])
    assert [graph.storage[name] for name in "abc"] == [("a",), ("b",), ("c",)] and not graph.notes
    assert (ends["a"], ends["c"]) == (READ_BY_D, READ_BY_D)
    graph, ends = aliased("call_function", known("einsum"), ["i,i->i", "a", "w"])
    assert graph.storage["b"] == ("b",) and ends["a"] == READ_BY_D, "a weight does not take others out of the plan"
    graph, ends = aliased("call_function", known("broadcast_tensors"), ["a", "c"], (Tensor(16), Tensor(16)))
    assert graph.storage["b"] == ("b", "b.1") and ends["c"] == READ_BY_D
    graph, ends = aliased("call_function", known("chain_matmul"), [["a", "c"]])
    assert graph.storage["b"] == ("b",) and (ends["a"], ends["c"]) == (READ_BY_D, READ_BY_D)


def test_a_conversion_may_be_read_beside_its_argument():
    class Byte:
        itemsize = 1

    x = Node("x", "placeholder", tensor_meta=Tensor(16))
    a = Node("a", "call_function", known("relu"), [x], tensor_meta=Tensor(16))
    narrow = Tensor(16)
    narrow.dtype = Byte
    m = Node("m", "call_method", "bool", [a], tensor_meta=narrow)
    n = Node("n", "call_method", "sum_to_size", [m, 1], tensor_meta=Tensor(1))
    y = Node("y", "call_function", known("where"), [m, a], tensor_meta=Tensor(16))
    z = Node("z", "call_method", "mul_", [n, y], tensor_meta=Tensor(1))
    graph = memplan.fx.read(Module(x, a, m, n, y, z, Node("out", "output", args=[z])))
    # What is returned may be n, n may be m, and m may be a: all of them live to the end.
    assert lives(graph) == {"a": (64, 1, 8), "m": (16, 2, 8), "n": (4, 3, 8), "y": (64, 4, 6)}
    assert set(lives(memplan.fx.read(Module(x, a, m, Node("out", "output", args=[m])), outputs=False))) == {"a"}


def test_items_are_views_only_if_the_subscript_says_so():
    views = (1, slice(1, 2), (0, slice(None), None, ...))
    copies = ("c", True, [0, 1], (0, "c"))
    for subscript, is_view in [(one, True) for one in views] + [(one, False) for one in copies]:
        graph, ends = aliased("call_function", operator.getitem, ["a", subscript])
        assert graph.storage["b"] == (("a",) if is_view else ("b",)), subscript
        assert ends["a"] == READ_BY_D, subscript
    x = Node("x", "placeholder", tensor_meta=Tensor(16))
    a = Node("a", "call_function", known("topk"), [x], tensor_meta=(Tensor(16), Tensor(16), Tensor(16)))
    b = Node("b", "call_function", operator.getitem, [a, slice(1, None)], tensor_meta=(Tensor(16), Tensor(16)))
    graph = memplan.fx.read(Module(x, a, b, Node("out", "output", args=[b])))
    assert graph.storage["b"] == ("a.1", "a.2") and graph.storage["a"] == ("a", "a.1", "a.2")


def test_parts_of_tuples_in_tuples_and_joined_tuples_keep_their_memory():
    x = Node("x", "placeholder", tensor_meta=Tensor(16))
    a = Node("a", "call_module", "lstm", [x], tensor_meta=(Tensor(16), (Tensor(4), Tensor(8))))
    h = Node("h", "call_function", operator.getitem, [a, 1], tensor_meta=(Tensor(4), Tensor(8)))
    c = Node("c", "call_function", operator.getitem, [h, 1], tensor_meta=Tensor(8))
    lstm = type("LSTM", (), {"__module__": "torch.nn.modules.rnn"})
    graph = memplan.fx.read(Module(x, a, h, c, Node("out", "output", args=[c]), lstm=lstm()))
    assert graph.storage["h"] == ("a.1", "a.2") and graph.storage["c"] == ("a.2",)
    graph, ends = aliased("call_function", operator.add, [("a",), ("c",)], (Tensor(16), Tensor(16)))
    assert (ends["a"], ends["c"]) == (READ_BY_D, READ_BY_D)


def test_a_number_is_not_written_to_in_place():
    assert aliased("call_function", operator.iadd, [2, "a"])[0].storage["b"] == ("b",)


def test_results_in_memory_of_the_caller_are_united_with_it_one_by_one():
    operator_ = known("max.dim_max")
    arguments = [Slot("self"), Slot("max", Mark("a")), Slot("max_values", Mark("b"))]
    operator_._schema = type("Schema", (), {"arguments": arguments, "returns": [Slot("", Mark("a")), Slot("", Mark("b"))]})
    graph, _ = aliased("call_function", operator_, ["x", "a", "c"], (Tensor(16), Tensor(16)))
    assert graph.storage["b"] == ("a", "c") and graph.storage["a"] == ("a",)
    x = Node("x", "placeholder", tensor_meta=Tensor(16))
    a = Node("a", "call_function", known("relu"), [x], tensor_meta=Tensor(16))
    b = Node("b", "call_function", known("add"), [x, x], {"out": a}, tensor_meta=Tensor(16))
    assert memplan.fx.read(Module(x, a, b, Node("out", "output", args=[b]))).storage["b"] == ("a",)


def test_a_schema_of_what_may_copy_says_no_more_than_its_name():
    operator_ = known("to.dtype")
    operator_._schema = type("Schema", (), {"arguments": [Slot("self", Mark("a"))], "returns": [Slot("", Mark("a"))]})
    graph, ends = aliased("call_function", operator_)
    assert graph.storage["b"] == ("b",) and ends["a"] == READ_BY_D


def test_a_function_may_be_told_to_work_in_place():
    relu = known("relu")
    relu.__module__ = "torch.nn.functional"
    assert aliased("call_function", relu)[1]["a"] == READ_BY_B
    assert aliased("call_function", relu, ["a", True])[1]["a"] == READ_BY_D


def test_nothing_alive_is_written_over_whatever_is_a_view_and_whatever_a_copy():
    """Random graphs, played with every function that may return a view doing so now and then."""
    rng = random.Random(5)
    kinds = {"relu": "new", "transpose": "view", "mul_": "view", "reshape": "first", "einsum": "any", "strange": "any"}
    strange = known("strange")
    strange.__module__ = "elsewhere"
    for _ in range(150):
        nodes = [Node("x", "placeholder", tensor_meta=Tensor(16)), Node("w", "get_attr", "w", tensor_meta=Tensor(16))]
        for number in range(20):
            name = rng.choice(list(kinds))
            args = [rng.choice(nodes[-6:]) for _ in range(rng.randint(1, 3))]
            target = strange if name == "strange" else known(name)
            nodes.append(Node(f"n{number}", "call_function", target, args, tensor_meta=Tensor(rng.choice([4, 16, 64]))))
        result = Node("out", "output", args=rng.sample(nodes, 2))
        graph = memplan.fx.read(Module(*nodes, result))
        plan = graph.plan("first-fit")
        offsets = graph.offsets(plan)
        sizes = {buffer["id"]: buffer["size"] for buffer in graph.problem.buffers}
        # Who wrote each byte last, and whose bytes each node's tensor really is.
        arena, owner = [None] * plan.extent, {}
        for node in [*nodes, result]:
            for one in node.all_input_nodes:
                writer = owner[one]
                if writer is not None:
                    start = offsets[writer.name]
                    assert set(arena[start : start + sizes[graph.storage[writer.name][0]]]) == {writer}, node.name
            if node is result:
                break
            kind = "outside" if node.op != "call_function" else kinds[node.target.__name__]
            sources = {"first": node.args[:1], "any": node.args}.get(kind, ())
            owner[node] = None
            if kind == "view":
                owner[node] = owner[node.args[0]]
            elif sources and rng.random() < 0.5:
                owner[node] = owner[rng.choice(sources)]
            elif kind != "outside":
                owner[node] = node
                start = offsets[node.name]
                size = sizes[graph.storage[node.name][0]]
                arena[start : start + size] = [node] * size


def test_missing_shapes_symbols_and_other_objects_are_errors():
    x = Node("x", "placeholder")
    a = Node("a", "call_function", known("relu"), [x])
    with pytest.raises(memplan.ProblemError, match="the shape of a is not known .*ShapeProp"):
        memplan.fx.read(Module(x, a))
    a.meta["tensor_meta"] = Tensor("s0")
    with pytest.raises(memplan.ProblemError, match="the size of a depends on s0"):
        memplan.fx.read(Module(x, a))
    with pytest.raises(memplan.ProblemError, match="expected a graph of torch.fx"):
        memplan.fx.read(object())


def networks(torch):
    """Modules with views, in-place operations, several outputs and long lives."""
    nn = torch.nn

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.out, self.norm = nn.Linear(32, 96), nn.Linear(32, 32), nn.LayerNorm(32)

        def forward(self, x):
            parts = self.qkv(self.norm(x)).chunk(3, dim=-1)
            q, k, v = (parts[index].reshape(2, 8, 4, 8).transpose(1, 2) for index in range(3))
            y = torch.softmax(q @ k.transpose(-1, -2) / 3, dim=-1) @ v
            return x + self.out(y.transpose(1, 2).flatten(2))

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.down, self.middle = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
            self.up = nn.Conv2d(16, 4, 3, padding=1)

        def forward(self, x):
            kept = torch.relu_(self.down(x))
            y = nn.functional.relu(self.middle(nn.functional.max_pool2d(kept, 2)), inplace=True)
            y = nn.functional.interpolate(y, scale_factor=2)
            return self.up(torch.cat([y, kept], 1)), y.mean()

    return [(Attention(), torch.randn(2, 8, 32)), (UNet(), torch.randn(1, 3, 16, 16))]


def run_in_the_arena(torch, module, graph, plan, inputs):
    """Runs a graph with every planned tensor at its place in one block of bytes. A wrong plan gives wrong results."""
    arena = torch.zeros(plan.extent, dtype=torch.uint8)
    offsets = graph.offsets(plan)
    sizes = {buffer["id"]: buffer["size"] for buffer in graph.problem.buffers}

    class InTheArena(torch.fx.Interpreter):
        def run_node(self, node):
            result = super().run_node(node)
            if not isinstance(result, torch.Tensor) or node.name not in offsets or node.name not in sizes:
                return result
            start = offsets[node.name]
            place = arena[start : start + sizes[node.name]]
            storage = torch.empty(0, dtype=torch.uint8).set_(result.untyped_storage())
            place[: len(storage)].copy_(storage)
            typed = place.view(result.dtype)
            return typed.as_strided(result.shape, result.stride(), typed.storage_offset() + result.storage_offset())

    return InTheArena(module).run(*inputs)


def test_the_real_package():
    if not os.environ.get("MEMPLAN_REQUIRE_TORCH"):
        pytest.importorskip("torch", reason="skipped: needs torch")
    import torch

    torch.manual_seed(0)
    for network, example in networks(torch):
        network = network.eval()
        with torch.no_grad():
            expected = network(example)
            program = torch.export.export(network, (example,))
            graph = memplan.fx.read(program)
            plan = graph.plan()
            assert plan.status == "optimal" and len(graph.problem) > 5 and not graph.notes
            inputs = (*program.state_dict.values(), example)
            outputs = run_in_the_arena(torch, program.graph_module, graph, plan, inputs)
            expected = expected if isinstance(expected, tuple) else (expected,)
            assert all(torch.equal(one, other) for one, other in zip(outputs, expected))
            # The same network traced without values: names and modules say what shares memory.
            traced = torch.fx.symbolic_trace(network)
            torch.fx.passes.shape_prop.ShapeProp(traced).propagate(example)
            graph = memplan.fx.read(traced)
            outputs = run_in_the_arena(torch, traced, graph, graph.plan(), (example,))
            outputs = outputs if isinstance(outputs, tuple) else (outputs,)
            assert all(torch.equal(one, other) for one, other in zip(outputs, expected))
