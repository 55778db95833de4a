"""Records a memory snapshot of one step on a GPU: python record.py convnet|inference|streams|wrapped."""

import json
import sys

import torch

mode = sys.argv[1]
torch.manual_seed(0)


class Block(torch.nn.Module):
    """One layer of a transformer."""

    def __init__(self, width, heads):
        super().__init__()
        self.attention = torch.nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm2(x))))


def transformer():
    return torch.nn.Sequential(*[Block(256, 4) for _ in range(3)]), torch.randn(8, 128, 256, device="cuda")


def convnet():
    layers = []
    for channels_in, channels_out in [(3, 32), (32, 64), (64, 128), (128, 128)]:
        layers += [torch.nn.Conv2d(channels_in, channels_out, 3, padding=1), torch.nn.BatchNorm2d(channels_out)]
        layers += [torch.nn.ReLU(), torch.nn.MaxPool2d(2)]
    return torch.nn.Sequential(*layers), torch.randn(16, 3, 64, 64, device="cuda")


model, x = (convnet if mode == "convnet" else transformer)()
model = model.cuda()
optimizer = torch.optim.Adam(model.parameters())
side = torch.cuda.Stream()


def step():
    optimizer.zero_grad()
    y = model(x)
    loss = y.square().mean()
    if mode == "streams":
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            extra = y.detach() * 2
            total = extra.sum()  # noqa: F841
        extra.record_stream(torch.cuda.current_stream())
        y.record_stream(side)
        del extra
    loss.backward()
    optimizer.step()


# The first step makes the optimizer's state; the second one is like all others.
step()
torch.cuda.synchronize()
if mode == "inference":
    model.eval()
torch.cuda.reset_peak_memory_stats()
torch.cuda.memory._record_memory_history(
    max_entries=200 if mode == "wrapped" else 100000, context="alloc", stacks="python"
)
if mode == "inference":
    with torch.no_grad():
        model(x)
else:
    step()
torch.cuda.synchronize()
torch.cuda.memory._dump_snapshot(f"{mode}.pickle")
print(json.dumps({"max": torch.cuda.max_memory_allocated(), "reserved": torch.cuda.max_memory_reserved()}))
