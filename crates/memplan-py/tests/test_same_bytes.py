"""One problem through C, Python and the command line: the same offsets.

The C library is found through MEMPLAN_CAPI (the path of libmemplan_capi.so).
"""

import ctypes
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import memplan
from conftest import hard_records

NO_OFFSET = 2**64 - 1


class Buffer(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint64),
        ("alignment", ctypes.c_uint64),
        ("start", ctypes.c_uint64),
        ("end", ctypes.c_uint64),
        ("fixed_offset", ctypes.c_uint64),
        ("space", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
    ]


class Problem(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("buffer_size", ctypes.c_size_t),
        ("buffers", ctypes.POINTER(Buffer)),
        ("buffer_count", ctypes.c_size_t),
        ("space_size", ctypes.c_size_t),
        ("spaces", ctypes.c_void_p),
        ("space_count", ctypes.c_size_t),
    ]


class Options(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("strategy", ctypes.c_char_p),
        ("seed", ctypes.c_uint64),
        ("time_limit_ms", ctypes.c_uint64),
        ("work_limit", ctypes.c_uint64),
        ("threads", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("should_stop", ctypes.c_void_p),
        ("user_data", ctypes.c_void_p),
    ]


def c_library():
    path = os.environ.get("MEMPLAN_CAPI")
    if not path:
        if os.environ.get("MEMPLAN_REQUIRE_PEERS"):
            pytest.fail("needs MEMPLAN_CAPI, the path of libmemplan_capi.so")
        pytest.skip("skipped: needs MEMPLAN_CAPI, the path of libmemplan_capi.so")
    return ctypes.CDLL(path)


def plan_in_c(library, records, strategy, work):
    count = len(records)
    buffers = (Buffer * count)(*[Buffer(size, 1, lower, upper, NO_OFFSET, 0, 0) for size, lower, upper in records])
    problem = Problem(ctypes.sizeof(Problem), ctypes.sizeof(Buffer), buffers, count, 0, None, 0)
    options = Options(ctypes.sizeof(Options), strategy.encode(), 0, 0, work, 0, 0, None, None)
    offsets = (ctypes.c_uint64 * count)()
    status = library.memplan_plan(ctypes.byref(problem), ctypes.byref(options), offsets, None)
    assert status in (0, 1)
    return list(offsets)


@pytest.mark.parametrize("strategy", ["auto", "search", "first-fit", "greedy-by-size"])
def test_the_same_offsets_everywhere(strategy, tmp_path):
    library = c_library()
    records = hard_records(120)
    rows = "".join(f"{index},{lower},{upper},{size}\n" for index, (size, lower, upper) in enumerate(records))
    (tmp_path / "p.csv").write_text("id,lower,upper,size\n" + rows)
    command = [sys.executable, "-m", "memplan", "plan", "p.csv", "--json", "-s", strategy, "--work", "2000"]
    printed = json.loads(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout)
    from_numpy = memplan.plan(np.array(records), strategy, work=2000)
    from_file = memplan.plan(memplan.read(tmp_path / "p.csv"), strategy, work=2000)
    expected = [buffer["offset"] for buffer in printed["buffers"]]
    assert list(from_numpy.offsets) == list(from_file.offsets) == expected
    assert plan_in_c(library, records, strategy, 2000) == expected
    assert [buffer["offsets"] for buffer in from_file.to_dict()["buffers"]] == [
        buffer["offsets"] for buffer in printed["buffers"]
    ]


def test_a_model_on_two_memories_is_planned_alike(tmp_path):
    """Python, its comparison and the command line give the same plan, also where there is a choice of memories."""
    model = pathlib.Path(__file__).resolve().parents[3] / "tests" / "data" / "tflite" / "unet.tflite"
    spaces = ["sram=24KiB:16", "psram=1MiB:16"]
    problem = memplan.read(model).on(spaces=spaces)
    planned = memplan.plan(problem, strict=True)
    arguments = [argument for space in spaces for argument in ("--space", space)]
    command = [sys.executable, "-m", "memplan", "plan", str(model), *arguments, "--strict", "--json"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(answer.stdout) == json.loads(planned.to_json())
    assert {buffer["space"] for buffer in json.loads(planned.to_json())["buffers"]} == {"sram", "psram"}
    compared = memplan.compare(problem, strict=True)
    assert [entry.extent for entry in compared.entries if (entry.strategy, entry.assign) == ("auto", "offsets")] == [
        planned.extent
    ]


def test_a_model_on_two_memories_is_planned_alike_in_c():
    library = c_library()
    model = pathlib.Path(__file__).resolve().parents[3] / "tests" / "data" / "tflite" / "unet.tflite"
    spaces = ["sram=24KiB:16", "psram=1MiB:16"]
    texts = (ctypes.c_char_p * len(spaces))(*[space.encode() for space in spaces])
    result = ctypes.c_void_p()
    status = library.memplan_plan_file(str(model).encode(), texts, len(spaces), None, ctypes.byref(result))
    assert status in (0, 1)
    in_c = json.loads(ctypes.string_at(result))
    library.memplan_free_text(result)
    planned = memplan.plan(memplan.read(model).on(spaces=spaces), strict=True)
    assert in_c == json.loads(planned.to_json())
    assert {buffer["space"] for buffer in in_c["buffers"]} == {"sram", "psram"}


def test_a_model_on_two_memories_is_planned_alike_in_a_sweep():
    model = pathlib.Path(__file__).resolve().parents[3] / "tests" / "data" / "tflite" / "unet.tflite"
    spaces = ["sram=24KiB:16", "psram=1MiB:16"]
    [row] = memplan.sweep(model, spaces=spaces, strict=True, workers=1)
    planned = memplan.plan(memplan.read(model).on(spaces=spaces), strict=True)
    assert (row["error"], row["extent"], row["status"]) == (None, planned.extent, planned.status)


def test_a_model_is_written_as_the_command_line_writes_it(tmp_path):
    model = pathlib.Path(__file__).resolve().parents[3] / "tests" / "data" / "tflite" / "unet.tflite"
    written = tmp_path / "planned.tflite"
    command = [sys.executable, "-m", "memplan", "plan", str(model), "--reuse-inputs", "-o", str(written)]
    subprocess.run(command, capture_output=True, check=True)
    planned = memplan.plan(memplan.read(model, reuse_inputs=True), strict=True)
    assert planned.to_model() == written.read_bytes()
    planned.save(tmp_path / "again.tflite")
    assert (tmp_path / "again.tflite").read_bytes() == written.read_bytes()
    with pytest.raises(memplan.RefusedError):
        memplan.plan([(64, 0, 2)]).to_model()
