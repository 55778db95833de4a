"""Modules as JAX prints them, and what JAX itself says is in them.

Prints one JSON object a line: the `text`, and the `ops` in the order of the text as `[name, operands, results]`.
"""

import json

import jax
import jax.numpy as jnp
import numpy
from jax import export, lax


def spec(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def loops(x):
    total, parts = lax.scan(lambda carry, row: (carry + row, carry * row), x[0], x)
    count, _ = lax.while_loop(lambda state: state[0] < 10, lambda state: (state[0] + 1, state[1] * 2), (0, total))
    return lax.cond(count > 3, lambda p: p + 1, lambda p: p * 2, parts), lax.fori_loop(0, 4, lambda i, v: v + i, total)


def reductions(x):
    return jnp.max(x), jnp.argmax(x), jnp.sum(x, 0), jnp.cumsum(x), jnp.sort(x), lax.top_k(x, 2), jax.nn.softmax(x)


def indexing(x, i):
    slices = lax.dynamic_slice(x, (i[0], 0), (2, 2)), lax.dynamic_update_slice(x, jnp.ones((2, 2)), (i[0], 0))
    return x[i], x.at[i].add(1.0), jnp.pad(x, ((1, 2), (0, 1))), x[::-1], x.T, jnp.concatenate([x, x]), slices


def numbers(x):
    small = x.astype(jnp.bfloat16), x.astype(jnp.float8_e4m3fn), lax.reduce_precision(x, 5, 10)
    return lax.clamp(0.0, x, 1.0), lax.erf(x), jnp.isnan(x), lax.complex(x, x), lax.bitcast_convert_type(x, jnp.int32), small


def windows(x, kernel):
    pooled = lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    return lax.conv_general_dilated(x, kernel, (1, 1), "SAME"), pooled


def chosen(i, x):
    return lax.switch(i, [lambda y: y, lambda y: y * 2, lambda y: -y], x)


def linear(x):
    return jnp.linalg.cholesky(x), jnp.linalg.qr(x), jnp.linalg.eigh(x), jnp.fft.fft(x[0]), jnp.einsum("ij,kj->ik", x, x)


def gradient(x):
    return jax.grad(lambda y: jnp.sum(jnp.tanh(y @ y)))(x)


def random_numbers(key):
    return jax.random.normal(key, (4,)), jax.random.uniform(key, (3, 3)), jax.random.permutation(key, 8)


def everywhere(x):
    return lax.psum(x, "x")


CASES = {
    "loops": (loops, spec(5, 3)),
    "reductions": (reductions, spec(4, 5)),
    "indexing": (indexing, spec(8, 4), spec(3, dtype=jnp.int32)),
    "numbers": (numbers, spec(4, 4)),
    "windows": (windows, spec(1, 3, 8, 8), spec(4, 3, 3, 3)),
    "chosen": (chosen, spec(dtype=jnp.int32), spec(4)),
    "linear": (linear, spec(4, 4)),
    "gradient": (gradient, spec(4, 4)),
    "random_numbers": (random_numbers, spec(2, dtype=jnp.uint32)),
}


def ops_of(operation, found):
    found.append([operation.name, len(operation.operands), len(operation.results)])
    # `stablehlo.reduce(…) applies stablehlo.add` does not show its region.
    if " applies " in str(operation).split("\n", 1)[0]:
        return
    for region in operation.regions:
        for block in region:
            for child in block:
                ops_of(child.operation, found)


def emit(name, module, text):
    found = []
    ops_of(module.operation, found)
    print(json.dumps({"name": name, "text": text, "ops": found}))


def main():
    for name, (function, *arguments) in CASES.items():
        lowered = jax.jit(function).lower(*arguments)
        module = lowered.compiler_ir("stablehlo")
        emit(name, module, str(module))
        emit(f"{name} with places", module, lowered.as_text(debug_info=True))
    mesh = jax.sharding.Mesh(numpy.array(jax.devices()[:1]), ("x",))
    spread = jax.sharding.PartitionSpec("x")
    sharded = jax.shard_map(everywhere, mesh=mesh, in_specs=spread, out_specs=jax.sharding.PartitionSpec())
    module = jax.jit(sharded).lower(spec(4, 4)).compiler_ir("stablehlo")
    emit("sharded", module, str(module))
    batch = export.symbolic_shape("batch, 4")
    symbolic = jax.jit(lambda x: (x.sum(0), jnp.concatenate([x, x]), x.reshape(-1)))
    text = export.export(symbolic)(jax.ShapeDtypeStruct(batch, jnp.float32)).mlir_module()
    print(json.dumps({"name": "symbolic", "text": text, "ops": None}))


if __name__ == "__main__":
    main()
