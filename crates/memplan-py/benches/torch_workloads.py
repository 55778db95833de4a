"""The workloads of torch_gpu.py: nine programs as people train and run them, in plain PyTorch.

Each function builds its model and returns two others: ``load(n)`` makes the data of the n-th step in pinned host memory,
as a data loader does beside the training, and ``step(data, mark)`` runs the step and returns its loss. ``mark`` is the
mark of a planned step (``with mark("step"):``) or does nothing. The data depend on the number alone, so that every run of
a workload does the same. With a ``rate`` of 0 nothing is learnt: a step with the same number does exactly the same again.
"""

import random

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

VOCABULARY = 32768
RATE = 1e-4


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.inner, self.outer = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, cache=None):
        batch, length, width = x.shape
        parts = self.inner(x).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        causal = cache is None or not cache
        if cache is not None:
            # The cache grows by one token with each step, and so does its copy.
            key = torch.cat([cache[0], key], 2) if cache else key
            value = torch.cat([cache[1], value], 2) if cache else value
            cache[:] = [key, value]
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=causal)
        return self.outer(mixed.transpose(1, 2).reshape(batch, length, width))


class Experts(nn.Module):
    """Eight experts, two for each token: how many tokens an expert gets depends on the data."""

    def __init__(self, width, count=8, chosen=2):
        super().__init__()
        self.gate, self.chosen = nn.Linear(width, count), chosen
        layers = [nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)) for _ in range(count)]
        self.experts = nn.ModuleList(layers)

    def forward(self, x):
        tokens = x.reshape(-1, x.shape[-1])
        weights, picks = self.gate(tokens).softmax(-1).topk(self.chosen, -1)
        result = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            rows, column = (picks == number).nonzero(as_tuple=True)
            part = expert(tokens[rows]) * weights[rows, column, None]
            result = result.index_add(0, rows, part.to(result.dtype))
        return result.view_as(x)


class Block(nn.Module):
    def __init__(self, width, heads, experts):
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        plain = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.feed = Experts(width) if experts else plain

    def forward(self, x, cache=None):
        x = x + self.attention(self.first(x), cache)
        return x + self.feed(self.second(x))


class Gpt(nn.Module):
    def __init__(self, layers, width, heads, experts=False, checkpointed=False):
        super().__init__()
        self.checkpointed = checkpointed
        self.tokens, self.places = nn.Embedding(VOCABULARY, width), nn.Embedding(4096, width)
        self.blocks = nn.ModuleList(Block(width, heads, experts) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, VOCABULARY, bias=False)

    def forward(self, tokens, caches=None, start=0):
        places = torch.arange(start, start + tokens.shape[1], device=tokens.device)
        x = self.tokens(tokens) + self.places(places)
        for number, block in enumerate(self.blocks):
            if self.checkpointed:
                x = checkpoint(block, x, use_reentrant=False)
            else:
                x = block(x, caches[number] if caches else None)
        return self.head(self.norm(x))


def text(model, batch, lengths, rate):
    """Training on random tokens; several lengths are micro-batches whose gradients add up."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)

    def load(number):
        generator = torch.Generator().manual_seed(number)
        sizes = [(batch, length + 1) for length in lengths(number)]
        return [torch.randint(VOCABULARY, size, generator=generator).pin_memory() for size in sizes]

    def part(tokens):
        tokens = tokens.cuda(non_blocking=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            logits = model(tokens[:, :-1])
            loss = functional.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())
        loss.backward()
        return float(loss.detach())

    def whole(data, mark):
        with mark("step"):
            optimizer.zero_grad()
            loss = part(data[0])
            optimizer.step()
        return loss

    def accumulated(data, mark):
        # Gradients live through all parts: a part is a step, and so is the optimizer's. The first part makes the
        # gradients, the others add to them, which is another sequence.
        optimizer.zero_grad()
        total = 0.0
        for position, tokens in enumerate(data):
            with mark("part" if position else "first part"):
                total += part(tokens)
        with mark("optimizer"):
            optimizer.step()
        return total

    return load, accumulated if len(lengths(0)) > 1 else whole


def fixed(number):
    return [1024]


def varying(number):
    draw = random.Random(number)
    return [draw.randrange(256, 1025) for _ in range(4)]


def gpt(*shape, **options):
    """On the device from the beginning: making 10^9 random weights on the host takes longer than the steps."""
    with torch.device("cuda"):
        return Gpt(*shape, **options)


def gpt_350m(batch=8, rate=RATE):
    return text(gpt(24, 1024, 16), batch, fixed, rate)


def gpt_350m_ckpt(batch=16, rate=RATE):
    return text(gpt(24, 1024, 16, checkpointed=True), batch, fixed, rate)


def gpt_350m_accum_var(batch=8, rate=RATE):
    return text(gpt(24, 1024, 16), batch, varying, rate)


def gpt_1b_ckpt(batch=8, rate=RATE):
    return text(gpt(24, 2048, 16, checkpointed=True), batch, fixed, rate)


def moe_8(batch=8, rate=RATE):
    return text(gpt(8, 768, 12, experts=True), batch, fixed, rate)


def moe_8_ckpt(batch=16, rate=RATE):
    return text(gpt(8, 768, 12, experts=True, checkpointed=True), batch, fixed, rate)


class Double(nn.Module):
    def __init__(self, inside, outside):
        super().__init__()
        layers = [nn.Conv2d(inside, outside, 3, padding=1), nn.GroupNorm(8, outside), nn.SiLU()]
        layers += [nn.Conv2d(outside, outside, 3, padding=1), nn.GroupNorm(8, outside), nn.SiLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)


class UNet(nn.Module):
    def __init__(self, base=64):
        super().__init__()
        widths = [base, 2 * base, 4 * base, 8 * base]
        self.down = nn.ModuleList(Double(a, b) for a, b in zip([3, *widths], widths))
        self.up = nn.ModuleList(Double(a + b, b) for a, b in zip(reversed(widths), reversed(widths[:-1])))
        self.last = nn.Conv2d(base, 3, 1)

    def forward(self, x):
        kept = []
        for layer in self.down:
            x = layer(x)
            kept.append(x)
            x = functional.avg_pool2d(x, 2)
        x = kept.pop()
        for layer in self.up:
            other = kept.pop()
            x = functional.interpolate(x, size=other.shape[2:], mode="nearest")
            x = layer(torch.cat([x, other], 1))
        return self.last(x)


def images(batch, sizes, rate):
    with torch.device("cuda"):
        model = UNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)

    def load(number):
        generator = torch.Generator().manual_seed(number)
        size = sizes(number)
        return torch.rand((batch, 3, size, size), generator=generator).pin_memory()

    def step(data, mark):
        with mark("step"):
            optimizer.zero_grad()
            x = data.cuda(non_blocking=True)
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = functional.mse_loss(model(x).float(), x)
            loss.backward()
            optimizer.step()
            return float(loss.detach())

    return load, step


def unet(batch=32, rate=RATE):
    return images(batch, lambda number: 256, rate)


def unet_sizes(batch=32, rate=RATE):
    return images(batch, lambda number: 16 * random.Random(number).randrange(8, 17), rate)


def generate(batch=32, rate=0.0):
    """96 tokens one by one after a prompt of 64, with a cache that grows; nothing is learnt at any rate."""
    model = gpt(24, 1024, 16).bfloat16()

    def load(number):
        generator = torch.Generator().manual_seed(number)
        return torch.randint(VOCABULARY, (batch, 64), generator=generator).pin_memory()

    def step(data, mark):
        with mark("step"), torch.no_grad():
            return answer(data.cuda(non_blocking=True))

    def answer(tokens):
        caches = [[] for _ in model.blocks]
        total = 0.0
        place = 0
        for _ in range(96):
            logits = model(tokens, caches, place)
            place += tokens.shape[1]
            tokens = logits[:, -1:].argmax(-1)
            total += logits[:, -1].float().logsumexp(-1).sum()
        return float(total)

    return load, step


WORKLOADS = {
    work.__name__: work
    for work in (
        gpt_350m,
        gpt_350m_ckpt,
        gpt_350m_accum_var,
        gpt_1b_ckpt,
        moe_8,
        moe_8_ckpt,
        unet,
        unet_sizes,
        generate,
    )
}
