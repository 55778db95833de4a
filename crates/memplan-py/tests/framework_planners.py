"""How other frameworks place buffers, on plain lives: (size, first step, first step in which it is dead).

tinygrad's planner is the installed package's own code. ggml's is written here after its description in ggml-alloc.c;
no package brings it. Inductor's is called in test_inductor.py, where PyTorch is installed, and recorded.
"""

import csv
import pathlib

import memplan.tinygrad

ROOT = pathlib.Path(__file__).resolve().parents[3]
CORPUS = ROOT / "corpus" / "real"
TRANSFORMER = ROOT / "tests" / "data" / "tinygrad" / "transformer_inference.csv"

# Programs whose lives are recorded, by the name they have in tables.
PROGRAMS = {
    "GPT, inference": TRANSFORMER,
    "DenseNet-121": CORPUS / "iree_densenet121.csv",
    "MobileNet v2, int8": CORPUS / "vela_mobilenet_v2_quantized_1x3x224x224.csv",
    "Person detection, int8": CORPUS / "vela_person_detect.csv",
    "MaxText, training step": CORPUS / "xla_maxtext_train_step.csv",
    "ResNet, training step": CORPUS / "xla_resnet_train_step.csv",
    "Transformer, training step": CORPUS / "xla_transformer_train_step.csv",
}


def read_lives(path):
    """The lives in a file of the corpus."""
    with open(path, encoding="utf-8") as file:
        return [(int(row["size"]), int(row["lower"]), int(row["upper"])) for row in csv.DictReader(file)]


def round_up(size, block):
    return -(-size // block) * block


def tinygrad_extent(lives):
    """What tinygrad's planner needs: its two-level segregated fit over blocks of 256 bytes, in the order of events."""
    block = memplan.tinygrad.BLOCK
    own = [memplan.tinygrad._Life("CPU", False, round_up(size, block), lower, upper) for size, lower, upper in lives]
    offsets = memplan.tinygrad._own_offsets(tuple(own))
    return max(offset + life.size for offset, life in zip(offsets, own))


def ggml_extent(lives, alignment=32):
    """What ggml's graph allocator needs.

    It walks the graph: the results of a step are allocated, then what is read for the last time there is freed. A
    result takes the smallest free block that it fits into; the block at the end, which has no upper edge, comes last.
    """
    free = [[0, 1 << 62]]  # offset and size, by offset
    offsets, extent = {}, 0
    for step in range(max(upper for _, _, upper in lives)):
        for index, (size, lower, _) in enumerate(lives):
            if lower != step:
                continue
            size = round_up(size, alignment)
            fitting = [block for block in free[:-1] if block[1] >= size]
            block = min(fitting, key=lambda block: block[1], default=free[-1])
            offsets[index] = block[0]
            extent = max(extent, block[0] + size)
            block[0], block[1] = block[0] + size, block[1] - size
            if block[1] == 0:
                free.remove(block)
        for index, (size, _, upper) in enumerate(lives):
            if upper == step + 1:
                _give_back(free, offsets[index], round_up(size, alignment))
    return extent


def _give_back(free, offset, size):
    """Puts bytes among the free blocks and joins them with the blocks that they touch."""
    free.append([offset, size])
    free.sort()
    joined = [free[0]]
    for block in free[1:]:
        if sum(joined[-1]) == block[0]:
            joined[-1][1] += block[1]
        else:
            joined.append(block)
    free[:] = joined
