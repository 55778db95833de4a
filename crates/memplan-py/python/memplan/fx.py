"""Graphs of PyTorch (torch.fx, torch.export) as problems: when each node's tensor is alive, and what is a view of what.

    import memplan.fx

    exported = torch.export.export(model, inputs)
    graph = memplan.fx.read(exported)
    plan = graph.plan()
    plan.save("map.html")
    print(graph.offsets(plan))     # bytes into the arena, by the name of the node

The nodes run in the order of the graph: node i is step i. A tensor is alive from the node that makes it to the last
node that reads it or one of its views, both included. Inputs, weights and constants have memory already and are left
out, and so is what is a view of them or is written into them in place; ``inputs=True`` plans the inputs, too.

What shares memory is taken from the best source a node has:

1. Its value (``node.meta["val"]``, as torch.export and make_fx leave it): tensors with one storage are one buffer.
2. The schema of its operator: ``Tensor(a)`` is a view of an argument, ``Tensor(a!)`` is that argument.
3. The name of its function or method, for traces without either: ``view`` and ``relu_`` are known, for example.

A module or function about which nothing is known may return one of its arguments. Its result and its arguments are then
kept as one buffer, and a note says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterable, Iterator

from ._errors import ProblemError
from ._plan import Plan, plan
from ._problem import Buffer, Problem

__all__ = ["Graph", "read"]

# Functions and methods of PyTorch whose result may be a view of their first argument, or that argument itself. A
# conversion returns its argument if there is nothing to convert, and so does a dropout that does not train.
VIEWS = frozenset(
    """adjoint alias alpha_dropout as_strided as_tensor asarray bfloat16 bool
    broadcast_to byte cdouble cfloat chalf char chunk conj contiguous cpu cuda detach diagonal double dropout dropout1d
    dropout2d dropout3d dsplit expand expand_as feature_alpha_dropout feature_dropout flatten float getattr half hsplit
    identity imag int long mT movedim moveaxis narrow permute positive ravel real reshape reshape_as resolve_conj
    resolve_neg select short slice split split_with_sizes squeeze sum_to_size swapaxes swapdims t tensor_split to
    to_dense transpose type type_as unbind unflatten unfold unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze
    view view_as view_as_complex view_as_real vsplit""".split()
)

# Functions of PyTorch whose result may be views of any of their arguments.
VIEWS_OF_ALL = frozenset(
    "atleast_1d atleast_2d atleast_3d broadcast_tensors cartesian_prod einsum meshgrid".split()
)

# Modules that return their argument, or a view of it, when they do not train.
VIEW_MODULES = frozenset(
    """AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout Flatten Identity Unflatten""".split()
)

# Where offsets begin unless the caller says otherwise: multiples of so many bytes.
ALIGNMENT = 64


@dataclass
class Graph:
    """A graph that was read: its problem, and which buffers each node's tensors live in.

    ``storage`` maps the name of a node to the ids of its buffers: one for a tensor, several for a tuple, none if it has
    memory elsewhere. ``notes`` say what was assumed.
    """

    problem: Problem
    storage: dict[str, tuple[str, ...]]
    notes: list[str] = field(default_factory=list)

    def plan(self, strategy: str = "auto", **options: Any) -> Plan:
        """A checked plan for the graph; the options are those of :func:`memplan.plan`."""
        return plan(self.problem, strategy, **options)

    def offsets(self, made: Plan) -> dict[str, int]:
        """Where each node's storage begins in the arena, for the nodes with one buffer."""
        ids = [buffer["id"] for buffer in self.problem.buffers]
        places = {name: int(offset) for name, offset in zip(ids, made.offsets)}
        return {node: places[buffers[0]] for node, buffers in self.storage.items() if len(buffers) == 1}


def read(graph: Any, *, inputs: bool = False, outputs: bool = True, alignment: int = ALIGNMENT) -> Graph:
    """The lives of a graph's tensors.

    ``graph`` is a ``torch.fx.GraphModule``, a ``torch.fx.Graph`` or a ``torch.export.ExportedProgram``, whose nodes
    know their shapes: exported, made with ``make_fx``, or propagated with ``ShapeProp``. ``outputs=False`` leaves out
    what the graph returns, for a caller that brings memory for it.
    """
    module = getattr(graph, "graph_module", graph)
    nodes = list(getattr(getattr(module, "graph", module), "nodes", ()))
    if not nodes:
        raise ProblemError(f"{type(graph).__name__} has no nodes; expected a graph of torch.fx", code="fx::no-graph")
    return _Reader(module, nodes).read(inputs, outputs, alignment)


class _Storage:
    """Memory that one or more tensors live in. Storages that turn out to be the same are united."""

    def __init__(self, name: str, size: int, born: int) -> None:
        # Bytes, and the first and last step at which something of it is written or read.
        self.name, self.size, self.born, self.last = name, size, born, born
        # "arena" is memory to be planned; "input" and "outside" are there before and after the graph runs ("outside":
        # weights and constants).
        self.kind = "arena"
        # The storage that this one has become a part of, if it has been united with another one.
        self.same: _Storage | None = None

    def root(self) -> _Storage:
        """The storage that stands for all those that this one is united with."""
        storage = self
        while storage.same is not None:
            storage = storage.same
        return storage

    def unite(self, other: _Storage) -> None:
        """Makes two storages one that is as large and lives as long as both; the older one keeps its name."""
        one, two = sorted((self.root(), other.root()), key=lambda storage: storage.born)
        if one is two:
            return
        two.same = one
        one.size, one.last = max(one.size, two.size), max(one.last, two.last)
        one.kind = next(kind for kind in ("outside", "input", "arena") if kind in (one.kind, two.kind))


class _Reader:
    """Walks through the nodes of a graph in their order and finds the storages of their results."""

    def __init__(self, module: Any, nodes: list[Any]) -> None:
        self.module, self.nodes = module, nodes
        # What each node returns, flattened: a storage for each tensor, None for numbers and other values.
        self.results: dict[Any, list[_Storage | None]] = {}
        # Storages by the storage object of PyTorch, for nodes whose values were kept.
        self.by_key: dict[Any, _Storage] = {}
        self.all: list[_Storage] = []
        self.notes: list[str] = []
        # What the graph returns; it stays alive after the last node.
        self.returned: set[_Storage] = set()

    def read(self, inputs: bool, outputs: bool, alignment: int) -> Graph:
        """The problem of the graph; the arguments are those of the function :func:`read`."""
        for step, node in enumerate(self.nodes):
            arguments = [storage for one in _inputs(node) for storage in self.results[one] if storage is not None]
            for storage in arguments:
                root = storage.root()
                root.last = max(root.last, step)
            if node.op == "output":
                self.returned.update(arguments)
                self.results[node] = []
            else:
                self.results[node] = self._made(node, step, arguments)
        returned = {storage.root() for storage in self.returned}
        for storage in returned:
            storage.last = len(self.nodes)
        kinds = {"arena", "input"} if inputs else {"arena"}
        planned = [one for one in self.all if one.same is None and one.kind in kinds]
        if not outputs:
            planned = [one for one in planned if one not in returned]
        return self._graph(planned, alignment)

    def _graph(self, planned: list[_Storage], alignment: int) -> Graph:
        """The problem in which these storages are the buffers, and the buffers of each node."""
        buffers = []
        for one in planned:
            # Inputs are there before the first node runs, whatever their place among the nodes.
            first = 0 if one.kind == "input" else one.born
            buffers.append(Buffer(one.name, one.size, (first, one.last + 1), alignment=alignment))
        chosen = set(planned)
        storage: dict[str, tuple[str, ...]] = {}
        for node, results in self.results.items():
            roots = dict.fromkeys(result.root() for result in results if result is not None)
            storage[node.name] = tuple(root.name for root in roots if root in chosen)
        return Graph(Problem(buffers, name="fx"), storage, self.notes)

    def _made(self, node: Any, step: int, arguments: list[_Storage]) -> list[_Storage | None]:
        """The storages of what a node returns; new ones for what it makes."""
        values = _values(node)
        if values is not None and all(_storage_key(value) is not None for value in values if _is_tensor(value)):
            return [self._of_value(node, step, index, value) for index, value in enumerate(values)]
        # An item of a tuple has the storage that the tuple has at that place.
        if _name(node) == "getitem" and len(node.args) == 2 and isinstance(node.args[1], int):
            whole = self.results[node.args[0]] if hasattr(node.args[0], "all_input_nodes") else []
            if len(whole) > 1 and -len(whole) <= node.args[1] < len(whole):
                return [whole[node.args[1]]]
        made = [self._new(node, step, index, size) for index, size in enumerate(_sizes(node, values))]
        if _is_outside(node):
            return list(made)
        for victim in self._aliased(node, arguments):
            for one in made:
                one.unite(victim)
        return list(made)

    def _of_value(self, node: Any, step: int, index: int, value: Any) -> _Storage | None:
        """The storage that a value names; a new one if no earlier node had it."""
        if not _is_tensor(value):
            return None
        key = _storage_key(value)
        if key not in self.by_key:
            self.by_key[key] = self._new(node, step, index, _bytes(node, value.untyped_storage().nbytes()))
        return self.by_key[key]

    def _new(self, node: Any, step: int, index: int, size: int) -> _Storage:
        """A new storage for the result of a node with this number; results are counted from 0."""
        storage = _Storage(node.name if index == 0 else f"{node.name}.{index}", size, step)
        if _is_outside(node):
            storage.kind = "input" if node.op == "placeholder" else "outside"
        self.all.append(storage)
        return storage

    def _aliased(self, node: Any, arguments: list[_Storage]) -> Iterable[_Storage]:
        """The arguments that a node's result may share memory with, where no value says so."""
        schema = getattr(node.target, "_schema", None)
        if schema is not None:
            return [storage for one in _aliased_by_schema(node, schema) for storage in self.results[one] if storage]
        name = _name(node)
        first = [storage for one in _inputs(node)[:1] for storage in self.results[one] if storage]
        if node.op == "call_module":
            target = self._submodule(node.target)
            name = type(target).__name__
            if getattr(target, "inplace", False) or name in VIEW_MODULES:
                return first
            is_known = type(target).__module__.startswith("torch.nn")
        else:
            in_place = (name.endswith("_") and not name.endswith("__")) or (name.startswith("i") and name in _IN_PLACE)
            if in_place or name in VIEWS or name == "getitem" or node.kwargs.get("inplace"):
                return first
            if name in VIEWS_OF_ALL:
                return arguments
            # Of the packages, only PyTorch itself: in `torchvision` there are functions that return their argument.
            package = (getattr(node.target, "__module__", None) or "").split(".")[0]
            is_known = node.op == "call_method" or package in ("torch", "_operator", "math")
        if is_known:
            return []
        self.notes.append(f"{node.name}: nothing is known about {name}; its result may be one of its arguments")
        return arguments

    def _submodule(self, path: str) -> Any:
        """The module that a node calls, by its path such as ``layers.0.norm``; None if there is none."""
        found = self.module
        for part in path.split("."):
            found = getattr(found, part, None)
        return found


# What `a += b` and the like are called in a trace; they write their result into the first argument.
_IN_PLACE = frozenset(("iadd", "isub", "imul", "itruediv", "ifloordiv", "ipow", "iand", "ior", "ixor"))


def _inputs(node: Any) -> list[Any]:
    return list(node.all_input_nodes)


def _is_outside(node: Any) -> bool:
    """Whether a node stands for an input of the graph, or for a weight or constant."""
    return node.op in ("placeholder", "get_attr")


def _name(node: Any) -> str:
    """The name of the function or method that a node calls."""
    return node.target if isinstance(node.target, str) else getattr(node.target, "__name__", str(node.target))


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "dtype") and hasattr(value, "shape")


def _flat(value: Any) -> Iterator[Any]:
    """The parts of nested tuples and lists, in their order."""
    if isinstance(value, (tuple, list)) and not _is_tensor(value):
        for part in value:
            yield from _flat(part)
    else:
        yield value


def _values(node: Any) -> list[Any] | None:
    """What the node returned when it was traced, flattened; nothing if the trace did not keep it."""
    value = node.meta.get("val")
    return None if value is None else list(_flat(value))


def _storage_key(value: Any) -> Any:
    """What is equal for tensors that share their storage; None for a tensor that does not say what its storage is."""
    if not hasattr(value, "untyped_storage"):
        return None
    storage = value.untyped_storage()
    return getattr(storage, "_cdata", id(storage))


def _sizes(node: Any, values: list[Any] | None) -> list[int]:
    """Bytes of each tensor that a node returns, from its values or from what ShapeProp noted."""
    if values is None:
        # A TensorMetadata is a tuple with the fields of a tensor.
        values = list(_flat(node.meta.get("tensor_meta"))) if node.meta.get("tensor_meta") is not None else []
    if not values and node.op.startswith("call_"):
        message = f"the shape of {node.name} is not known"
        raise ProblemError(message, code="fx::no-shape", help="export the model, or run ShapeProp on the graph first")
    sizes = []
    for value in values:
        if _is_tensor(value):
            count = 1
            for dimension in value.shape:
                count *= _bytes(node, dimension)
            sizes.append(count * value.dtype.itemsize)
    return sizes


def _bytes(node: Any, number: Any) -> int:
    """A number that must be known before the program runs."""
    if isinstance(number, int):
        return number
    try:
        symbolic = getattr(number, "node", None)
        if symbolic is not None and not symbolic.is_constant():
            raise TypeError
        return int(number)
    except (TypeError, ValueError, AttributeError):
        message = f"the size of {node.name} depends on {number}"
        raise ProblemError(message, code="fx::symbolic", help="export with static shapes") from None


def _aliased_by_schema(node: Any, schema: Any) -> list[Any]:
    """The argument nodes whose memory a result is, as the operator's schema says with (a) or (a!)."""
    marks: set[str] = set()
    for result in schema.returns:
        if result.alias_info is not None:
            marks |= set(result.alias_info.before_set) | set(result.alias_info.after_set)
    nodes = []
    for position, argument in enumerate(schema.arguments):
        if argument.alias_info is None or not (marks & (set(argument.alias_info.before_set) | {"*"})):
            continue
        given = node.args[position] if position < len(node.args) else node.kwargs.get(argument.name)
        nodes += [one for one in _flat(given) if hasattr(one, "all_input_nodes")]
    return nodes
