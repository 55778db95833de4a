"""Measures what the kernels of TensorFlow Lite Micro ask for, and writes the table that memplan plans with.

    python tests/peers/measure_tflm.py crates/memplan-models/src/tflite/kernels.toml

Every operator that the installed runtime registers is given to it alone in a model, with all element types that it accepts and in several shapes
(tflm_recipes.py). What the kernel asks for, request by request (tflm_arena.py), is explained by a constant or by a multiple of one count of the
shapes that holds in every case. What cannot be explained is left out of the table: memplan then says that it does not know.
"""

import collections
import importlib.metadata
import itertools
import pathlib
import sys

from tflm_arena import observe
from tflm_recipes import F32, HANDLE, NAMES, OPERATORS, RECIPES, RESOURCE, Case, T, cases

# Operators with any number of inputs or outputs of one type: only the first types tell kernels apart.
VARIADIC = {"CONCATENATION": 1, "PACK": 1, "ADD_N": 1, "IF": 0, "WHILE": 0}
# Operators that run graphs: their kernels copy bytes, of whatever type.
CONTROL = {"IF", "WHILE", "CALL_ONCE"}
# Sizes of the runtime's own records on the machine that measures.
EVAL_TENSOR, NODE, SUBGRAPH, SCRATCH, TENSOR, QUANTIZATION, RESOURCE_RECORD = 24, 64, 24, 8, 64, 24, 40
# What the allocator itself takes before the first request.
ALLOCATOR = 448


def tail(requests):
    """The tail of the arena that requests make: it grows down, each request to its alignment."""
    position = ALLOCATOR
    for size, alignment in requests:
        position = -(-(position + size) // alignment) * alignment
    return position


def framework(case, scratch):
    """What the runtime asks for around the requests of the operators: before and after them."""
    resources = sum(tensor is not None and tensor.type == RESOURCE for tensor in case.inputs) + (case.op == "VAR_HANDLE")
    present = [tensor for tensor in case.inputs if tensor is not None]
    bodies = body_tensors(case)
    before = [[16, 16], [RESOURCE_RECORD * resources, 16]] if resources else []
    before += [[16, 8], [SUBGRAPH * (1 + len(bodies)), 8]]
    before += [[EVAL_TENSOR * count, 8] for count in [len(present) + len(case.outputs), *bodies]]
    operators = 1 + sum(tensor.type == RESOURCE for tensor in present)
    before += [[NODE * count, 8] for count in [operators, *[0] * len(bodies)]]
    after = [[SCRATCH * scratch, 8]] if scratch else []
    after += [[size(tensor), 16] for tensor in present if tensor.variable]
    for tensors in ([tensor for tensor in present if tensor.is_given], case.outputs):
        after.append([8 * len(tensors), 16])
        for tensor in tensors:
            after.append([TENSOR, 8])
            if tensor.is_quantized:
                after += [[QUANTIZATION, 8], [4 + 4 * max(1, tensor.channels), 4]]
    return before, after


def body_tensors(case):
    if case.op == "CALL_ONCE":
        return [0]
    if case.op == "IF":
        return [len(case.outputs)] * 2
    return [len(case.inputs)] * 2 if case.op == "WHILE" else []


BITS = {"FLOAT32": 32, "INT8": 8, "INT16": 16, "INT32": 32, "UINT8": 8, "INT64": 64, "BOOL": 8, "UINT32": 32, "INT4": 4,
        "FLOAT16": 16, "FLOAT64": 64, "UINT64": 64, "RESOURCE": 32}  # fmt: skip


def count(shape):
    product = 1
    for dimension in shape:
        product *= dimension
    return product


def size(tensor):
    return -(-count(tensor.shape) * BITS[NAMES[tensor.type]] // 8)


def own_requests(case, observed):
    """The requests of the operator: what is left when those of the runtime are taken away."""
    before, after = framework(case, len(observed["scratch"]))
    requests = observed["persistent"]
    assert requests[: len(before)] == before, (case.label, requests, before)
    assert requests[len(requests) - len(after) :] == after, (case.label, requests, after)
    assert tail(requests) == observed["tail"], (case.label, requests)
    own = requests[len(before) : len(requests) - len(after)]
    for tensor in case.inputs:
        if tensor is not None and tensor.type == RESOURCE:
            own.remove([16, 8])
            own.remove([4, 16])
    return own


def counts(case):
    """Everything a kernel may count, the likelier first."""
    found = {}
    sides = [("output", case.outputs), ("input", case.inputs)]
    for side, tensors in sides:
        for place, tensor in enumerate(tensors):
            if tensor is not None:
                found[f"{side} {place}"] = count(tensor.shape)
    for side, tensors in sides:
        for place, tensor in enumerate(tensors):
            if tensor is None:
                continue
            name = f"{side} {place}"
            found[f"bytes of {name}"] = size(tensor)
            found[f"rank of {name}"] = len(tensor.shape)
            if tensor.shape:
                found[f"last dimension of {name}"] = tensor.shape[-1]
            for axis, dimension in enumerate(tensor.shape):
                found[f"dimension {axis} of {name}"] = dimension
    found["inputs"], found["outputs"] = len(case.inputs), len(case.outputs)
    return found


def explain(values, facts):
    """An amount that gives the values in all cases: a number, or a multiple of a count and a number."""
    if len(set(values)) == 1:
        return str(values[0])
    common = [name for name in facts[0] if all(name in fact for fact in facts)]
    for with_rest in (False, True):
        for name in common:
            column = [fact[name] for fact in facts]
            if len(set(column)) < 2:
                continue
            low, high = column.index(min(column)), column.index(max(column))
            factor, odd = divmod(values[high] - values[low], column[high] - column[low])
            rest = values[low] - factor * column[low]
            fits = not odd and factor > 0 and all(value == factor * number + rest for value, number in zip(values, column))
            # A line through two points only is no evidence.
            if fits and (rest == 0 or with_rest and len(set(column)) > 2):
                amount = name if factor == 1 else f"{factor} * {name}"
                return amount if rest == 0 else f"{amount} {'+' if rest > 0 else '-'} {abs(rest)}"
    return explain_product(values, facts, common)


def explain_product(values, facts, common):
    """A multiple of two dimensions."""
    dimensions = [name for name in common if "dimension" in name and len({fact[name] for fact in facts}) > 1]
    for one, other in itertools.combinations(dimensions, 2):
        products = [fact[one] * fact[other] for fact in facts]
        factor, odd = divmod(values[0], products[0])
        # Of few cases a product explains much by chance.
        if not odd and factor > 0 and len(set(products)) > 3 and all(v == factor * p for v, p in zip(values, products)):
            return f"{factor} * {one} * {other}"
    return None


def explain_lists(lists, facts):
    if len({len(one) for one in lists}) != 1:
        return None
    amounts = tuple(explain(list(column), facts) for column in zip(*lists))
    return None if None in amounts else amounts


def signature(case, detailed=()):
    """Element types of inputs and first output; `-` for an input that is left out. In detail: whether an input is constant and has a scale a channel."""

    def name(place, tensor):
        if tensor is None:
            return "-"
        if place not in detailed:
            return NAMES[tensor.type]
        marks = [("const", tensor.is_constant), ("channels", tensor.is_quantized and tensor.channels > 1)]
        return f"[{' '.join([word for word, is_so in marks if is_so] + [NAMES[tensor.type]])}]"

    inputs = [name(*one) for one in enumerate(case.inputs[: VARIADIC.get(case.op, len(case.inputs))])]
    output = "*" if case.op in CONTROL else NAMES[case.outputs[0].type] if case.outputs else "-"
    return f"{', '.join(inputs + ['...'] * (case.op in VARIADIC))} -> {output}".strip()


def kernel(group):
    """What a kernel asks for in all of its cases: parsed options, what it keeps, scratch memory; None for what no rule explains."""
    facts = [counts(case) for case, _, _ in group]
    parsed = {tuple(tuple(request) for request in own if request[1] < 16) for _, _, own in group}
    kept = [[request[0] for request in own if request[1] == 16] for _, _, own in group]
    scratch = explain_lists([observed["scratch"] for _, observed, _ in group], facts)
    persistent = explain_lists(kept, facts) if len(parsed) == 1 else None
    return parsed.pop() if persistent is not None else None, persistent, scratch


def flags(case):
    """Options that are on and off, by the number of their field."""
    fields = list(vars(case.options).values()) if case.options else []
    return tuple(tuple(number for number, value in enumerate(fields) if value is state) for state in (True, False))


def measure(name):
    """The kernels of an operator: what they ask for and when; and the cases that no rule explains."""
    seen, refused = [], 0
    for case in cases(name):
        observed = observe(case.model)
        if "error" in observed:
            refused += 1
        else:
            seen.append((case, observed, own_requests(case, observed)))
    kernels, unexplained = collections.defaultdict(list), []
    for group in grouped(seen, signature).values():
        rules, rest = explain_group(group)
        for rule, key in rules:
            kernels[rule].append(key)
        unexplained += rest
    return kernels, unexplained, len(seen), refused


def distinctions(places):
    """How cases of the same element types may be told apart, the simplest first."""
    yield lambda case: (signature(case), None)
    yield lambda case: (signature(case), flags(case))
    for place in range(places):
        yield lambda case, place=place: (signature(case, {place}), None)
    yield lambda case: (signature(case, range(places)), None)
    yield lambda case: (signature(case, range(places)), flags(case))


def explain_group(group):
    """Rules for cases of the same element types, by the first distinction under which all of them are explained."""
    for distinction in distinctions(len(group[0][0].inputs)):
        found = {key: kernel(part) for key, part in grouped(group, distinction).items()}
        if not any(None in rule for rule in found.values()):
            break
    rules = [((rule, on), key) for (key, on), rule in found.items() if rule[2] is not None]
    return rules, [key for key, rule in found.items() if None in rule]


def grouped(seen, key):
    groups = collections.defaultdict(list)
    for one in seen:
        groups[key(one[0])].append(one)
    return groups


HEADING = """# What the reference kernels of TensorFlow Lite Micro ask for besides their tensors.
#
# tests/peers/measure_tflm.py wrote this file: it gave models with one operator to the interpreter of {version}
# and explained what the kernels asked for by the shapes. Do not change it by hand; run the program again. What is
# not here was not measured or is not explained by shapes: memplan then says "at least".
# Optimised kernels (CMSIS-NN, Xtensa) ask for other amounts; measure yours and pass a table with --scratch.
"""


def toml(name, rule, signatures):
    """A kernel as the table has it."""

    def texts(values):
        return "[" + ", ".join(f'"{value}"' for value in values) + "]"

    (parsed, persistent, scratch), on = rule
    lines = ["[[kernel]]", f'op = "{name}"', f"types = {texts(signatures)}"]
    for word, fields in zip(("on", "off"), on or ()):
        if fields:
            lines.append(f"{word} = {list(fields)}")
    if persistent is not None:
        lines.append(f"parsed = {[list(request) for request in parsed]}")
        lines.append(f"persistent = {texts(persistent)}")
    lines.append(f"scratch = {texts(scratch)}")
    return "\n".join(lines)


def registered():
    """The builtin operators that the runtime registers: it says so if it does not find one."""
    names = sorted(OPERATORS, key=OPERATORS.get)
    lonely = {name: Case(name, [T([1], F32)], [T([1], F32)], HANDLE if name == "VAR_HANDLE" else None) for name in names if name != "CUSTOM"}
    return [name for name, case in lonely.items() if "Didn't find op" not in observe(case.model).get("error", "")]


def main(path):
    missing = [name for name in registered() if name not in RECIPES]
    if missing:
        print("no recipe for", ", ".join(missing))
    tables = []
    for name in sorted(RECIPES):
        kernels, unexplained, accepted, refused = measure(name)
        tables += [toml(name, rule, signatures) for rule, signatures in kernels.items()]
        rest = f", not explained: {sorted({str(key) for key in unexplained})}" if unexplained else ""
        print(f"{name}: {accepted} cases, {refused} refused by the runtime, {len(kernels)} rules{rest}", flush=True)
    version = f"tflite-micro {importlib.metadata.version('tflite-micro')}"
    pathlib.Path(path).write_text(HEADING.format(version=version) + "\n" + "\n\n".join(tables) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
