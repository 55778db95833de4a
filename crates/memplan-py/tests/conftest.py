"""What the tests share: small problems and a folder of inputs."""

import os
import random

import pytest

# A plan that a check rejects is a failure in every test, also in the processes that they start.
os.environ["MEMPLAN_STRICT"] = "1"

SMALL = "id,lower,upper,size\na,0,2,64\nb,1,3,32\nc,2,4,48\nd,3,5,16\n"

MLIR = """func.func @f(%in: memref<16xf32>) {
  %a = memref.alloc() : memref<16xf32>
  memref.copy %in, %a : memref<16xf32> to memref<16xf32>
  memref.copy %a, %in : memref<16xf32> to memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  memref.copy %in, %b : memref<16xf32> to memref<16xf32>
  memref.copy %b, %in : memref<16xf32> to memref<16xf32>
  return
}
"""


def hard_records(count=250, seed=7):
    """Records that no instant strategy packs to the bound."""
    draw = random.Random(seed)
    records = []
    for _ in range(count):
        lower = draw.randrange(2 * count // 5)
        records.append((draw.randrange(1, 997), lower, lower + 1 + draw.randrange(24)))
    return records


def puzzle(count=800, steps=2000, height=10_000_019, seed=2):
    """A rectangle cut into pieces: every step is full to the brim, and packing it again takes long."""
    draw = random.Random(seed)
    pieces = [(0, steps, 0, height)]
    while len(pieces) < count:
        # Any piece, however small: pieces of one size would be put together again in no time.
        left, right, bottom, top = pieces.pop(draw.randrange(len(pieces)))
        if draw.random() < 0.5 and right - left > 1:
            cut = draw.randrange(left + 1, right)
            pieces += [(left, cut, bottom, top), (cut, right, bottom, top)]
        elif top - bottom > 1:
            cut = draw.randrange(bottom + 1, top)
            pieces += [(left, right, bottom, cut), (left, right, cut, top)]
        else:
            pieces.append((left, right, bottom, top))
    draw.shuffle(pieces)
    return [(top - bottom, left, right) for left, right, bottom, top in pieces]


@pytest.fixture
def inputs(tmp_path):
    """A folder with three good inputs, a bad one, and one that is none."""
    folder = tmp_path / "inputs"
    folder.mkdir()
    (folder / "a.csv").write_text(SMALL)
    (folder / "b.mlir").write_text(MLIR)
    rows = "".join(f"{index},{lower},{upper},{size}\n" for index, (size, lower, upper) in enumerate(hard_records(60)))
    (folder / "c.csv").write_text("id,lower,upper,size\n" + rows)
    (folder / "d.csv").write_text("id,lower,uppr,size\na,0,2,64\n")
    (folder / "notes.txt").write_text("not an input")
    return folder
