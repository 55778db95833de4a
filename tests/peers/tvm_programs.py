"""Programs that TVM makes: what stands before its StorageRewrite while it compiles networks, tensor expressions and schedules.

    python tvm_programs.py [ABOUT]     prints one JSON object a line: {"name": …, "text": …, "tvm": … or null, "target": …}

`text` is one function as TVM prints it just before the pass, `tvm` the same function after the pass. Every text occurs once.
"""

import json
import sys

import tvm
from tvm import relax, s_tir, te, tirx, topi
from tvm.relax.frontend import nn
from tvm.s_tir import dlight


class Kept:
    """Prints every function once."""

    def __init__(self):
        self.seen = set()

    def add(self, name, target, function):
        text = function.script()
        if text in self.seen:
            return
        self.seen.add(text)
        module = tvm.IRModule({"main": function.with_attr("global_symbol", "main")})
        try:
            # A context of its own: in the one that is being watched, this pass would be seen as well.
            with tvm.transform.PassContext():
                after = tirx.transform.StorageRewrite()(module)["main"].script()
        except Exception:
            after = None
        print(json.dumps({"name": name, "text": text, "tvm": after, "target": target}), flush=True)


KEPT = Kept()


@tvm.ir.instrument.pass_instrument
class Capture:
    def __init__(self, name, target):
        self.origin, self.target = name, str(target)

    def run_before_pass(self, module, info):
        if info.name.endswith("StorageRewrite"):
            for variable, function in module.functions.items():
                if isinstance(function, tirx.PrimFunc):
                    KEPT.add(f"{self.origin}:{variable.name_hint}", self.target, function)


def compile_quietly(name, module, target):
    """Compiles for what the passes see on the way; that the target itself is missing here does not matter."""
    try:
        with tvm.transform.PassContext(instruments=[Capture(name, target)]):
            tvm.compile(module, target=target)
    except Exception:
        pass


class Mlp(nn.Module):
    def __init__(self, width, hidden, depth, act):
        self.layers = nn.ModuleList(
            [nn.Linear(width if i == 0 else hidden, hidden) for i in range(depth)] + [nn.Linear(hidden, width)]
        )
        self.act = act

    def forward(self, x: nn.Tensor):
        for layer in self.layers:
            x = self.act(layer(x))
        return nn.op.softmax(x)


class Block(nn.Module):
    def __init__(self, width, heads, norm):
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.norm = nn.RMSNorm(width, axes=-1) if norm == "rms" else nn.LayerNorm(width)
        self.width, self.heads = width, heads

    def forward(self, x: nn.Tensor):
        batch, length, _ = x.shape
        size = self.width // self.heads
        q, k, v = nn.op.split(self.qkv(self.norm(x)), 3, axis=-1)
        shape = (batch, length, self.heads, size)
        q, k, v = [nn.op.permute_dims(nn.op.reshape(t, *shape), [0, 2, 1, 3]) for t in (q, k, v)]
        scores = nn.op.softmax(nn.op.matmul(q, nn.op.permute_dims(k, [0, 1, 3, 2])), axis=-1)
        mixed = nn.op.reshape(nn.op.permute_dims(nn.op.matmul(scores, v), [0, 2, 1, 3]), batch, length, self.width)
        x = x + self.out(mixed)
        return x + self.down(nn.op.silu(self.up(self.norm(x))))


class Convolutions(nn.Module):
    def __init__(self, channels, stride):
        self.first = nn.Conv2D(3, channels, 3, stride=stride, padding=1)
        self.second = nn.Conv2D(channels, channels, 3, padding=1)
        self.norm = nn.GroupNorm(2, channels)

    def forward(self, x: nn.Tensor):
        x = nn.op.relu(self.first(x))
        return nn.op.gelu(self.norm(self.second(x)))


def networks():
    for dtype in ("float32", "float16"):
        for width, hidden, depth in ((8, 16, 1), (12, 24, 2), (32, 64, 3)):
            for act in (nn.op.relu, nn.op.gelu, nn.op.silu):
                name = f"mlp{width}x{hidden}x{depth}{act.__name__}{dtype}"
                for batch in (2, "n"):
                    yield f"{name}b{batch}", Mlp(width, hidden, depth, act), [batch, width], dtype
    for width, heads, length in ((8, 2, 4), (16, 4, 6), (32, 2, "n")):
        for norm in ("rms", "layer"):
            yield f"block{width}{norm}{length}", Block(width, heads, norm), [1, length, width], "float32"
    for channels, stride in ((4, 1), (6, 2), (8, 1)):
        yield f"conv{channels}s{stride}", Convolutions(channels, stride), [1, 3, 8, 8], "float32"


def relax_programs(enough):
    for name, module, shape, dtype in networks():
        if enough():
            return
        module.to(dtype)
        try:
            module, _ = module.export_tvm({"forward": {"x": nn.spec.Tensor(shape, dtype)}})
        except Exception:
            continue
        compile_quietly(f"relax:{name}", module, "llvm")
        passes = [relax.transform.LegalizeOps(), relax.transform.AnnotateTIROpPattern()]
        passes += [relax.transform.FuseOps(), relax.transform.FuseTIR()]
        try:
            fused = tvm.transform.Sequential(passes)(module)
        except Exception:
            continue
        compile_quietly(f"relax-fused:{name}", fused, "llvm")
        lower_kernels(f"dlight:{name}", fused)


def lower_kernels(name, module):
    """Schedules for a GPU, lowered as far as the pass."""
    target = tvm.target.Target("nvidia/geforce-rtx-3070")
    rules = [dlight.gpu.Matmul(), dlight.gpu.GEMV(), dlight.gpu.Reduction(), dlight.gpu.Fallback()]
    try:
        with target:
            scheduled = dlight.ApplyDefaultSchedule(*rules)(module)
    except Exception:
        return
    for variable, function in scheduled.functions.items():
        if isinstance(function, tirx.PrimFunc):
            compile_quietly(f"{name}:{variable.name_hint}", tvm.IRModule({"main": function.with_attr("global_symbol", "main")}), target)


def plus(tensor, length, amount, dtype):
    return te.compute((length,), lambda i: tensor[i] + tirx.const(amount, dtype), f"plus{amount}")


def expressions():
    """Tensor expressions of many kinds; sizes are numbers or symbols."""
    n, m = te.var("n"), te.var("m")
    for length in (8, 30, n):
        for dtype in ("float32", "float16", "int32", "int8"):
            a = te.placeholder((length,), dtype, "a")
            chain = a
            for step in range(4):
                chain = plus(chain, length, step + 1, dtype)
            yield f"chain{length}{dtype}", [a, chain]
            b = te.compute((length,), lambda i: a[length - 1 - i] * a[i], "b")
            c = te.compute((length,), lambda i: b[length - 1 - i] + a[i], "c")
            yield f"reverse{length}{dtype}", [a, te.compute((length,), lambda i: c[i] + b[i], "d")]
    for rows, columns in ((4, 6), (16, 16), (n, 8), (n, m)):
        x = te.placeholder((rows, columns), "float32", "x")
        yield f"softmax{rows}x{columns}", [x, topi.nn.softmax(x)]
        yield f"logsoftmax{rows}x{columns}", [x, topi.nn.log_softmax(x)]
        yield f"mean{rows}x{columns}", [x, topi.exp(x - topi.sum(x, axis=1, keepdims=True))]
        yield f"transpose{rows}x{columns}", [x, topi.tanh(topi.transpose(topi.sigmoid(x)))]
        yield f"argmax{rows}x{columns}", [x, topi.argmax(topi.exp(x), axis=1)]
        yield f"cast{rows}x{columns}", [x, topi.cast(topi.cast(topi.exp(x), "int8") + tirx.const(1, "int8"), "float32")]
        w = te.placeholder((columns, 5), "float32", "w")
        k = te.reduce_axis((0, columns), "k")
        y = te.compute((rows, 5), lambda i, j: te.sum(x[i, k] * w[k, j], axis=k), "y")
        yield f"matmul{rows}x{columns}", [x, w, topi.nn.relu(topi.tanh(y))]
        yield f"twomatmul{rows}x{columns}", [x, w, topi.nn.softmax(topi.nn.relu(y + y))]
    for size in (6, 9):
        image = te.placeholder((1, 2, size, size), "float32", "image")
        kernel = te.placeholder((3, 2, 3, 3), "float32", "kernel")
        conv = topi.nn.conv2d(image, kernel, 1, 1, 1)
        yield f"conv{size}", [image, kernel, topi.nn.relu(conv)]
        yield f"pool{size}", [image, topi.nn.pool2d(topi.exp(image), (2, 2), (2, 2), (1, 1), (0, 0, 0, 0), "max")]
        yield f"pad{size}", [image, topi.nn.pad(topi.exp(image), (0, 0, 1, 1), (0, 0, 1, 1))]
    scan = te.placeholder((12,), "float32", "scan")
    yield "cumsum", [scan, topi.cumsum(topi.exp(scan))]
    yield "topk", [scan, topi.sort(topi.exp(scan))]
    yield "concat", [scan, topi.exp(topi.concatenate((topi.exp(scan), topi.tanh(scan))))]
    bits = te.placeholder((16,), "int32", "bits")
    shifted = te.compute((16,), lambda i: (bits[i] << 2) & 255, "shifted")
    yield "bits", [bits, te.compute((16,), lambda i: (shifted[15 - i] >> 1) ^ 3, "back")]


def expression_programs(enough):
    for name, tensors in expressions():
        if enough():
            return
        try:
            function = te.create_prim_func(tensors)
        except Exception:
            continue
        compile_quietly(f"te:{name}", tvm.IRModule({"main": function}), "llvm")
        scheduled_programs(name, function)


def scheduled_programs(name, function):
    """The same with loops changed: split, vectorized, parallel, unrolled, computed where they are used, cached."""

    def variant(kind, change):
        schedule = s_tir.Schedule(tvm.IRModule({"main": function}))
        try:
            for block in schedule.get_child_blocks(schedule.get_sblock("root")):
                try:
                    change(schedule, block)
                except Exception:
                    pass
        except Exception:
            return
        compile_quietly(f"s_tir:{kind}:{name}", schedule.mod, "llvm")

    def innermost(schedule, block):
        return schedule.get_loops(block)[-1]

    def split(schedule, block):
        schedule.split(innermost(schedule, block), [None, 4])

    def vectorize(schedule, block):
        schedule.vectorize(schedule.split(innermost(schedule, block), [None, 4])[1])

    def parallel(schedule, block):
        schedule.parallel(schedule.get_loops(block)[0])

    def unroll(schedule, block):
        schedule.unroll(schedule.split(innermost(schedule, block), [None, 2])[1])

    def inner(schedule, block):
        consumers = schedule.get_consumers(block)
        if consumers:
            schedule.compute_at(block, schedule.get_loops(consumers[0])[0])

    def cached(schedule, block):
        schedule.cache_write(block, 0, "local")

    def fused(schedule, block):
        schedule.fuse(*schedule.get_loops(block))

    for change in (split, vectorize, parallel, unroll, inner, cached, fused):
        variant(change.__name__, change)


def main():
    about = int(sys.argv[1]) if len(sys.argv) > 1 else 10**9
    expression_programs(lambda: len(KEPT.seen) >= about * 2 // 3)
    relax_programs(lambda: len(KEPT.seen) >= about)


if __name__ == "__main__":
    main()
