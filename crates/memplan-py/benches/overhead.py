"""What Python adds to planning 10^5 buffers: numpy arrays in, offsets out, against the same call in C.

    pip install . && cargo build --release -p memplan-capi
    MEMPLAN_CAPI=target/release/libmemplan_capi.so python crates/memplan-py/benches/overhead.py

Both sides build the problem from arrays, plan it with the same strategy and check the plan.
"""

import ctypes
import os
import sys
import time

import numpy as np

import memplan

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests"))
from test_same_bytes import NO_OFFSET, Buffer, Options, Problem  # noqa: E402

COUNT, ROUNDS = 100_000, 9


def records():
    draw = np.random.default_rng(1)
    size = np.exp(draw.uniform(np.log(16), np.log(1 << 20), COUNT)).astype(np.int64)
    lower = draw.integers(0, COUNT, COUNT)
    return size, lower, lower + draw.integers(1, 100, COUNT)


def main():
    library = ctypes.CDLL(os.environ["MEMPLAN_CAPI"])
    size, lower, upper = records()
    array = np.stack([size, lower, upper], axis=1)
    layout = np.dtype([(n, "u8") for n in ("size", "alignment", "start", "end", "fixed")] + [("space", "u4"), ("r", "u4")])
    table = np.zeros(COUNT, layout)
    table["size"], table["alignment"], table["start"], table["end"], table["fixed"] = size, 1, lower, upper, NO_OFFSET
    pointer = table.ctypes.data_as(ctypes.POINTER(Buffer))
    problem = Problem(ctypes.sizeof(Problem), ctypes.sizeof(Buffer), pointer, COUNT, 0, None, 0)
    for strategy in ("first-fit", "best-fit"):
        options = Options(ctypes.sizeof(Options), strategy.encode(), 0, 0, 0, 0, 0, None, None)
        offsets = np.zeros(COUNT, np.uint64)
        native, python = [], []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            status = library.memplan_plan(
                ctypes.byref(problem), ctypes.byref(options), offsets.ctypes.data_as(ctypes.c_void_p), None
            )
            native.append(time.perf_counter() - start)
            start = time.perf_counter()
            found = memplan.plan(array, strategy).offsets
            python.append(time.perf_counter() - start)
            assert status in (0, 1) and (found == offsets).all()
        one, other = min(native), min(python)
        print(f"{strategy}: C {one * 1e3:.1f} ms, Python {other * 1e3:.1f} ms, overhead {100 * (other / one - 1):+.1f} %")


if __name__ == "__main__":
    main()
