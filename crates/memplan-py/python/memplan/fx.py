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

Many functions return a view where they can and a copy where they must: ``reshape``, ``to``, ``einsum``, a dropout. Their
result has a buffer of its own, and what it may be a view of stays alive as long as it does. That is right in both
cases. So it is with a module or function about which nothing is known, and a note says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterator

from ._errors import ProblemError
from ._plan import Plan, plan
from ._problem import Buffer, Problem

__all__ = ["Graph", "read"]

# Functions and methods of PyTorch whose result always is memory of their first argument.
VIEWS = frozenset(
    """adjoint alias as_strided broadcast_to chunk conj detach diagonal dsplit expand expand_as hsplit imag matrix_H
    movedim moveaxis narrow permute real select slice split split_with_sizes squeeze swapaxes swapdims t tensor_split
    transpose unbind unflatten unsqueeze view view_as view_as_complex view_as_real vsplit""".split()
)

# Attributes of tensors that are memory of the tensor.
VIEW_ATTRIBUTES = frozenset("H T data imag mH mT real".split())

# Functions and methods whose result may be memory of their first argument, or a copy. A conversion returns its argument
# if there is nothing to convert, and so does a dropout that does not train.
MAY_BE_FIRST = frozenset(
    """_reshape_alias _unsafe_view align_as align_to alpha_dropout as_subclass as_tensor asarray bfloat16 bool byte
    ccol_indices cdouble cfloat chalf channel_shuffle char coalesce col_indices conj_physical contiguous cpu crow_indices
    cuda dequantize diag double dropout dropout1d dropout2d dropout3d feature_alpha_dropout feature_dropout flatten float
    half identity indices int lift lift_fresh linalg_diagonal long native_channel_shuffle native_dropout pin_memory
    pixel_shuffle pixel_unshuffle pos positive ravel refine_names rename reshape reshape_as resolve_conj resolve_neg
    row_indices short sum_to_size to to_dense to_sparse type type_as unfold unsafe_chunk unsafe_split
    unsafe_split_with_sizes values xpu""".split()
)

# Functions whose results may be memory of any of their arguments.
MAY_BE_ANY = frozenset(
    """align_tensors atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod chain_matmul einsum
    meshgrid""".split()
)

# Modules that return a view of their argument, and those that may.
VIEW_MODULES = frozenset("Identity Unflatten".split())
MAYBE_MODULES = frozenset(
    """AlphaDropout ChannelShuffle Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout Flatten PixelShuffle
    PixelUnshuffle""".split()
)

# Where functions live of which all that may return their arguments stand above. In others, such as
# `torch.utils.checkpoint`, there are functions that run anything.
KNOWN_PLACES = frozenset(
    """_operator math torch torch._tensor torch.fft torch.functional torch.linalg torch.nn.functional torch.ops.aten
    torch.special""".split()
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
        # Older storages whose memory this may be: they stay alive as long as it does.
        self.sources: list[_Storage] = []

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
        # The youngest storages come first, so that each one's end is known before that of its sources.
        for storage in reversed(self.all):
            for source in storage.sources:
                root = source.root()
                root.last = max(root.last, storage.last)
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
        item = self._item(node)
        if item is not None:
            return item
        made = [None if size is None else self._new(node, step, index, size) for index, size in enumerate(_sizes(node))]
        if not _is_outside(node):
            self._share(node, made, arguments)
        return made

    def _item(self, node: Any) -> list[_Storage | None] | None:
        """The storages of an item or a slice of a tuple; nothing for other nodes."""
        if _name(node) != "getitem" or len(node.args) != 2 or not _is_node(node.args[0]):
            return None
        whole, index = node.args
        value = _result(whole)
        if _is_tensor(value) or not isinstance(value, (tuple, list)) or not isinstance(index, (int, slice)):
            return None
        if isinstance(index, int) and not -len(value) <= index < len(value):
            return None
        # Results are flat, and the parts of a tuple may be tuples themselves.
        results = iter(self.results[whole])
        parts = [[next(results, None) for _ in _flat(part)] for part in value]
        return list(_flat(parts[index]))

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

    def _share(self, node: Any, made: list[_Storage | None], arguments: list[_Storage]) -> None:
        """Notes which arguments the results of a node share memory with, where no value says so."""
        schema = getattr(node.target, "_schema", None)
        name = _name(node)
        # A schema calls it a view, too, if it only may be one.
        if schema is None or name in MAY_BE_FIRST or name in MAY_BE_ANY:
            sources, is_certain = self._sources(node, name, arguments)
            _join(made, sources, is_certain)
            return
        is_paired = len(schema.returns) == len(made)
        for position, result in enumerate(schema.returns):
            results = made[position : position + 1] if is_paired else made
            sources = self._storages(_aliased_by_schema(node, schema, result))
            _join(results, sources, is_paired or len(schema.returns) == 1)

    def _storages(self, given: Any) -> list[_Storage]:
        """The storages of a node, or of all nodes in a list of arguments."""
        nodes = [one for one in _flat(given) if _is_node(one)]
        return [storage for one in nodes for storage in self.results[one] if storage is not None]

    def _sources(self, node: Any, name: str, arguments: list[_Storage]) -> tuple[list[_Storage], bool]:
        """What the results of a node may be memory of, and whether they are so in any case."""
        named = node.kwargs.get("input", node.kwargs.get("self", next(iter(node.kwargs.values()), None)))
        first = self._storages(node.args[0] if node.args else named)
        # If the first argument is no tensor, any other may be meant.
        first, is_first = first or arguments, bool(first)
        asks_for_place = node.kwargs.get("inplace")
        if node.op == "call_module":
            target = self._submodule(node.target)
            name = type(target).__name__
            if getattr(target, "inplace", False) or name in VIEW_MODULES:
                return first, is_first
            if name in MAYBE_MODULES:
                return first, False
            is_known = type(target).__module__.startswith("torch.nn.modules.")
        else:
            if node.kwargs.get("out") is not None:
                return self._storages(node.kwargs["out"]), True
            is_in_place = name.endswith("_") or name in _IN_PLACE
            if is_in_place or name in VIEWS or asks_for_place is True:
                return first, is_first
            if name in ("getitem", "getattr") and len(node.args) > 1:
                return first, _is_view_item(node.args[1]) if name == "getitem" else node.args[1] in VIEW_ATTRIBUTES
            if name in MAY_BE_ANY:
                return arguments, False
            # Activations take `inplace` by position, too.
            place = getattr(node.target, "__module__", None) or ""
            flags = node.args[1:] if place == "torch.nn.functional" else ()
            if name in MAY_BE_FIRST or asks_for_place or any(flag is True for flag in flags):
                return first, False
            # Tuples are joined and repeated by `+` and `*`.
            if place == "_operator" and not _is_tensor(_result(node)):
                return arguments, False
            is_known = node.op == "call_method" or place in KNOWN_PLACES or place.startswith("torch._C.")
        if is_known:
            return [], False
        self.notes.append(f"{node.name}: nothing is known about {name}; its result may be one of its arguments")
        return arguments, False

    def _submodule(self, path: str) -> Any:
        """The module that a node calls, by its path such as ``layers.0.norm``; None if there is none."""
        found = self.module
        for part in path.split("."):
            found = getattr(found, part, None)
        return found


# What `a += b` and the like are called in a trace; they write their result into the first argument.
_IN_PLACE = frozenset("iadd isub imul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift".split())


def _join(made: list[_Storage | None], sources: list[_Storage], is_certain: bool) -> None:
    """Results are memory of their one source, if that is certain; otherwise they may be memory of any of them."""
    roots = list(dict.fromkeys(source.root() for source in sources))
    for one in made:
        if one is not None and is_certain and len(roots) == 1:
            one.unite(roots[0])
        elif one is not None:
            one.sources += roots


def _is_view_item(subscript: Any) -> bool:
    """Whether a tensor's items under this subscript are a view; lists, tensors and truth values select copies."""
    if isinstance(subscript, tuple):
        return all(map(_is_view_item, subscript))
    is_bool = isinstance(subscript, bool)
    return subscript is None or subscript is ... or (isinstance(subscript, (int, slice)) and not is_bool)


def _inputs(node: Any) -> list[Any]:
    return list(node.all_input_nodes)


def _is_outside(node: Any) -> bool:
    """Whether a node stands for an input of the graph, or for a weight or constant."""
    return node.op in ("placeholder", "get_attr")


def _name(node: Any) -> str:
    """The name of the function or method that a node calls, without its overload and the underscores of `__add__`."""
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", str(node.target))
    if node.op != "call_module":
        name = name.split(".")[0]
    return name[2:-2] if name.startswith("__") and name.endswith("__") else name


def _is_node(value: Any) -> bool:
    return hasattr(value, "all_input_nodes")


def _result(node: Any) -> Any:
    """What a node returned when it was traced: tensors, or what ShapeProp noted of them; None if nobody noted it."""
    value = node.meta.get("val")
    return node.meta.get("tensor_meta") if value is None else value


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


def _sizes(node: Any) -> list[int | None]:
    """Bytes of each tensor that a node returns, from its values or from what ShapeProp noted; None for other results."""
    # A TensorMetadata is a tuple with the fields of a tensor.
    result = _result(node)
    values = [] if result is None else list(_flat(result))
    if not values and node.op.startswith("call_"):
        message = f"the shape of {node.name} is not known"
        raise ProblemError(message, code="fx::no-shape", help="export the model, or run ShapeProp on the graph first")
    sizes: list[int | None] = []
    for value in values:
        if not _is_tensor(value):
            sizes.append(None)
            continue
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


def _aliased_by_schema(node: Any, schema: Any, result: Any) -> list[Any]:
    """The arguments whose memory a result is, as the operator's schema says with (a) or (a!)."""
    if result.alias_info is None:
        return []
    marks = set(result.alias_info.before_set) | set(result.alias_info.after_set)
    nodes = []
    for position, argument in enumerate(schema.arguments):
        if argument.alias_info is None or not (marks & (set(argument.alias_info.before_set) | {"*"})):
            continue
        given = node.args[position] if position < len(node.args) else node.kwargs.get(argument.name)
        nodes.append(given)
    return nodes
