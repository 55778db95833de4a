"""Draws docs/images/torch-caching.svg and torch-planned.svg from the recorded step unet_sizes.csv.

The first picture places the step by the rules of PyTorch's caching allocator: segments of 2 MiB for small blocks, of
20 MiB or more for large ones, best fit, blocks split and merged inside of their segment only. The step runs twice, and
the second run is drawn, as in a program that has been running for a while. The second picture is memplan's plan.

    python tests/data/cuda/pictures.py        # with memplan installed
"""

import csv
import pathlib
import subprocess
import sys
import tempfile

import memplan

HERE = pathlib.Path(__file__).resolve().parent
IMAGES = HERE.parents[2] / "docs" / "images"
MIB = 1 << 20
# Smaller buffers would be invisible, and make the pictures large.
DRAWN = 16 * MIB


class Caching:
    """PyTorch's rules; a block is (bytes, address, segment), a segment (address, bytes, whether it is for small blocks)."""

    def __init__(self):
        self.reserved = 0
        self.free = []

    def take(self, size):
        small = size <= MIB
        fitting = [block for block in self.free if block[0] >= size and block[2][2] == small]
        if not fitting:
            whole = 2 * MIB if small else 20 * MIB if size < 10 * MIB else -(-size // (2 * MIB)) * 2 * MIB
            fitting = [(whole, self.reserved, (self.reserved, whole, small))]
            self.free += fitting
            self.reserved += whole
        block = length, address, segment = min(fitting)
        self.free.remove(block)
        if length - size >= (512 if small else MIB + 1):
            self.free.append((length - size, address + size, segment))
            return size, address, segment
        return block

    def give(self, block):
        length, address, segment = block
        for other in [other for other in self.free if other[2] == segment]:
            if other[1] + other[0] == address or other[1] == address + length:
                self.free.remove(other)
                length, address = length + other[0], min(address, other[1])
        self.free.append((length, address, segment))


def run(rows, allocator):
    """Addresses of all buffers of a step."""
    moments = [(lower, 1, number) for number, (_, lower, _) in enumerate(rows)]
    moments += [(upper, 0, number) for number, (_, _, upper) in enumerate(rows)]
    blocks, addresses = {}, {}
    for _, begins, number in sorted(moments):
        if begins:
            blocks[number] = allocator.take(rows[number][0])
            addresses[number] = blocks[number][1]
        else:
            allocator.give(blocks.pop(number))
    return addresses


def draw(rows, offsets, name):
    table = [(number, *rows[number], offsets[number]) for number in range(len(rows)) if rows[number][0] >= DRAWN]
    with tempfile.TemporaryDirectory() as folder:
        for file, columns in ((f"{name}.csv", 5), ("step.csv", 4)):
            with open(pathlib.Path(folder) / file, "w", newline="") as out:
                writer = csv.writer(out)
                writer.writerow(["id", "size", "lower", "upper", "offset"][:columns])
                writer.writerows(row[:columns] for row in table)
        command = [sys.executable, "-m", "memplan", "show", "step.csv", f"{name}.csv", "-o", IMAGES / f"torch-{name}.svg"]
        subprocess.run(command, cwd=folder, check=True)


def main():
    with open(HERE / "unet_sizes.csv", newline="") as file:
        rows = [(int(row["size"]), int(row["lower"]), int(row["upper"])) for row in csv.DictReader(file)]
    allocator = Caching()
    run(rows, allocator)
    draw(rows, run(rows, allocator), "caching")
    plan = memplan.plan(rows)
    draw(rows, list(plan.offsets), "planned")
    print(f"{allocator.reserved} bytes reserved, {plan.extent} planned, {plan.lower_bound} in use at the peak")


if __name__ == "__main__":
    main()
