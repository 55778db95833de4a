"""What the interpreter of TensorFlow Lite Micro takes from its arena, request by request.

    from tflm_arena import observe
    observe(model)      # {"head": 26624, "tail": 4208, "scratch": [8192, 16384], "persistent": [[80, 16], ...]}

`print_allocations` gives sums that are rounded up. Two virtual functions see every request before that: one for scratch memory,
one for memory that stays (the tail of the arena). Their places in the tables of virtual functions are pointed at Python functions here, which
note the arguments and call the original. No compiler and no change of the runtime is needed.

Kernels may abort the process on a model they do not like, so that every model is loaded in a process of its own.
"""

import contextlib
import ctypes
import json
import mmap
import os
import re
import tempfile

from tflite_micro.python.tflite_micro import _runtime, runtime

SCRATCH_TABLE = "_ZTVN6tflite5micro23MicroInterpreterContextE"
SCRATCH_ENTRY = "_ZN6tflite5micro23MicroInterpreterContext27RequestScratchBufferInArenaEmPi"
TAIL_TABLE = "_ZTVN6tflite5micro35RecordingSingleArenaBufferAllocatorE"
TAIL_ENTRY = "_ZThn8_N6tflite5micro35RecordingSingleArenaBufferAllocator24AllocatePersistentBufferEmm"
# More entries than any of the two tables has.
MOST_ENTRIES = 64

ARENA = 16_000_000


def address(library, symbol):
    return ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value


def writable(place):
    """Lets the page of a place be written to: tables of virtual functions are read-only."""
    page = place & -mmap.PAGESIZE
    change = ctypes.CDLL(None, use_errno=True).mprotect
    change.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    if change(page, 2 * mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE) != 0:
        raise OSError(ctypes.get_errno(), "mprotect")


def replace(library, table, entry, replacement):
    """Points the entries of a table that lead to a function at another one."""
    original = address(library, entry)
    start = address(library, table)
    found = 0
    for number in range(MOST_ENTRIES):
        place = start + 8 * number
        slot = ctypes.c_uint64.from_address(place)
        if slot.value == original:
            writable(place)
            slot.value = ctypes.cast(replacement, ctypes.c_void_p).value
            found += 1
        if found and slot.value == 0:
            break
    if not found:
        raise LookupError(f"{entry} is not in {table}: this is another version of the runtime")


class Listener:
    """The requests of the interpreter that is being made."""

    def __init__(self):
        self.scratch = []
        self.persistent = []
        library = ctypes.CDLL(_runtime.__file__)
        on_scratch = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
        on_tail = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
        ask_scratch = on_scratch(address(library, SCRATCH_ENTRY))
        ask_tail = on_tail(address(library, TAIL_ENTRY))

        def scratch(this, size, index):
            self.scratch.append(size)
            return ask_scratch(this, size, index)

        def tail(this, size, alignment):
            self.persistent.append([size, alignment])
            return ask_tail(this, size, alignment)

        # Kept, or they would be collected while the runtime still calls them.
        self.kept = [on_scratch(scratch), on_tail(tail), ask_scratch, ask_tail]
        replace(library, SCRATCH_TABLE, SCRATCH_ENTRY, self.kept[0])
        replace(library, TAIL_TABLE, TAIL_ENTRY, self.kept[1])


@contextlib.contextmanager
def streams_into(file):
    """The report and the errors are written by C++ to the process's own streams."""
    saved = [os.dup(1), os.dup(2)]
    os.dup2(file.fileno(), 1), os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(saved[0], 1), os.dup2(saved[1], 2)
        for one in saved:
            os.close(one)


def load(model, arena):
    """Loads a model in this process."""
    listener = Listener()
    with tempfile.TemporaryFile() as said:
        try:
            with streams_into(said):
                interpreter = runtime.Interpreter.from_bytes(bytes(model), arena_size=arena)
                interpreter.print_allocations()
        except Exception as error:
            said.seek(0)
            return {"error": said.read().decode(errors="replace").strip() or str(error)}
        said.seek(0)
        report = said.read()
    head, tail = (int(re.search(rb"%s (\d+) bytes" % word, report).group(1)) for word in (b"head", b"tail"))
    return {"head": head, "tail": tail, "scratch": listener.scratch, "persistent": listener.persistent}


def observe(model, arena=ARENA):
    """What a model takes, or why the runtime does not run it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "w") as pipe:
            pipe.write(json.dumps(load(model, arena)))
            pipe.flush()
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    return json.loads(answer) if answer else {"error": f"the runtime ended the process ({status})"}
