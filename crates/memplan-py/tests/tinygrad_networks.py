"""Small networks in tinygrad, as users write them: each makes its weights anew and returns what it computes.

``size`` scales widths: 1 is quick enough to execute on a CPU, larger ones are only planned (tinygrad's NULL device).
All run through TinyJit, three calls each: the first two plan with realize(), the capture plans the whole step.
"""

from tinygrad import Tensor, TinyJit, nn
from tinygrad.helpers import Context


def repeated(step, inputs):
    """The bytes that a jitted step returns for three inputs; the NULL device computes none."""
    jitted = TinyJit(step)
    outputs = []
    for one in inputs:
        output = jitted(one)
        outputs.append(b"" if output.device == "NULL" else output.numpy().tobytes())
    return outputs


def batches(*shape):
    return [Tensor.rand(*shape).realize() for _ in range(3)]


def mlp(size):
    layers = [nn.Linear(64 * size, 64 * size) for _ in range(4)]

    def step(x):
        for layer in layers:
            x = layer(x).relu()
        return x.log_softmax().realize()

    return repeated(step, batches(8, 64 * size))


def convnet(size):
    layers = [nn.Conv2d(3, 8 * size, 3), nn.Conv2d(8 * size, 16 * size, 3), nn.Conv2d(16 * size, 16 * size, 3)]
    head = nn.Linear(16 * size, 10)

    def step(x):
        for layer in layers:
            x = layer(x).relu().max_pool2d(2)
        return head(x.mean((2, 3))).realize()

    return repeated(step, batches(2, 3, 32, 32))


class Residual:
    """Two convolutions and the input, through a 1x1 convolution where the shape changes."""

    def __init__(self, channels_in, channels_out, stride):
        self.first = nn.Conv2d(channels_in, channels_out, 3, stride=stride, padding=1, bias=False)
        self.second = nn.Conv2d(channels_out, channels_out, 3, padding=1, bias=False)
        self.norms = [nn.BatchNorm(channels_out), nn.BatchNorm(channels_out)]
        changes = stride != 1 or channels_in != channels_out
        self.shortcut = nn.Conv2d(channels_in, channels_out, 1, stride=stride, bias=False) if changes else None

    def __call__(self, x):
        y = self.norms[0](self.first(x)).relu()
        y = self.norms[1](self.second(y))
        return (y + (self.shortcut(x) if self.shortcut else x)).relu()


def resnet(size):
    stem = nn.Conv2d(3, 8 * size, 3, padding=1)
    blocks = [Residual(8 * size, 8 * size, 1), Residual(8 * size, 16 * size, 2), Residual(16 * size, 32 * size, 2)]
    head = nn.Linear(32 * size, 10)

    def step(x):
        x = stem(x).relu()
        for block in blocks:
            x = block(x)
        return head(x.mean((2, 3))).realize()

    return repeated(step, batches(2, 3, 32, 32))


class Attention:
    def __init__(self, width, heads):
        self.heads = heads
        self.queries, self.keys, self.values, self.out = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.norms = [nn.LayerNorm(width), nn.LayerNorm(width)]
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def __call__(self, x):
        batch, length, width = x.shape
        y = self.norms[0](x)
        parts = [f(y).reshape(batch, length, self.heads, -1).transpose(1, 2) for f in (self.queries, self.keys, self.values)]
        y = Tensor.scaled_dot_product_attention(*parts, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(self.up(self.norms[1](x)).gelu())


class Transformer:
    def __init__(self, size, layers=2):
        self.words = nn.Embedding(50, 32 * size)
        self.blocks = [Attention(32 * size, 4) for _ in range(layers)]
        self.norm, self.head = nn.LayerNorm(32 * size), nn.Linear(32 * size, 50, bias=False)

    def __call__(self, words):
        x = self.words(words)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def sentences(size):
    return [Tensor.randint(2, 16 * size, high=50).realize() for _ in range(3)]


def transformer(size):
    net = Transformer(size)
    return repeated(lambda words: net(words).realize(), sentences(size))


def transformer_training(size):
    net = Transformer(size, layers=1)
    optimizer = nn.optim.SGD(nn.state.get_parameters(net), lr=1e-3)

    def step(words):
        with Context(TRAINING=1):
            optimizer.zero_grad()
            loss = net(words[:, :-1]).sparse_categorical_crossentropy(words[:, 1:])
            loss.backward()
            return loss.realize(*optimizer.schedule_step())

    return repeated(step, sentences(size))


def unet(size):
    """Down twice, up twice; every level of the way up also reads the level of the way down."""
    downs = [nn.Conv2d(3, 8 * size, 3, padding=1), nn.Conv2d(8 * size, 16 * size, 3, padding=1)]
    middle = nn.Conv2d(16 * size, 32 * size, 3, padding=1)
    ups = [nn.Conv2d(48 * size, 16 * size, 3, padding=1), nn.Conv2d(24 * size, 8 * size, 3, padding=1)]
    head = nn.Conv2d(8 * size, 2, 1)

    def step(x):
        kept = []
        for layer in downs:
            x = layer(x).relu()
            kept.append(x)
            x = x.max_pool2d(2)
        x = middle(x).relu()
        for layer, skip in zip(ups, reversed(kept)):
            x = x.interpolate(skip.shape[2:], mode="nearest").cat(skip, dim=1)
            x = layer(x).relu()
        return head(x).realize()

    return repeated(step, batches(1, 3, 32, 32))


NETWORKS = {
    "MLP": mlp,
    "convnet": convnet,
    "ResNet": resnet,
    "transformer inference": transformer,
    "transformer training": transformer_training,
    "U-Net": unet,
}
