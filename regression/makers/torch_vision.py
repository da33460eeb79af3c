"""Networks on pictures, written in torch: U-Net, a YOLO-style detector, Swin on video, a U-Net of a diffusion model."""

from __future__ import annotations

import math

import torch
import torchvision
from torch import nn
from torch.nn import functional


def conv(into: int, out: int, kernel: int = 3, stride: int = 1, activation=nn.SiLU) -> nn.Sequential:
    """Convolution, batch norm, activation."""
    return nn.Sequential(
        nn.Conv2d(into, out, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(out), activation()
    )


class UNet(nn.Module):
    """Ronneberger's: double convolutions, max pools down, transposed convolutions up, skip connections concatenated."""

    def __init__(self, widths=(32, 64, 128, 256)):
        super().__init__()
        double = lambda a, b: nn.Sequential(conv(a, b, activation=nn.ReLU), conv(b, b, activation=nn.ReLU))  # noqa: E731
        self.down = nn.ModuleList(double(a, b) for a, b in zip((3, *widths), widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in zip(widths, widths[1:]))
        self.join = nn.ModuleList(double(2 * a, a) for a in widths[:-1])
        self.head = nn.Conv2d(widths[0], 2, 1)

    def forward(self, x):
        kept = []
        for level in self.down:
            x = level(functional.max_pool2d(x, 2) if kept else x)
            kept.append(x)
        for up, join, skip in zip(reversed(self.up), reversed(self.join), reversed(kept[:-1])):
            x = join(torch.cat([skip, up(x)], 1))
        return self.head(x)


class Split(nn.Module):
    """The C2f block of YOLOv8: halves, bottlenecks in a row, everything concatenated."""

    def __init__(self, into: int, out: int, count: int):
        super().__init__()
        self.first, self.last = conv(into, out, 1), conv((2 + count) * out // 2, out, 1)
        half = out // 2
        self.middle = nn.ModuleList(nn.Sequential(conv(half, half), conv(half, half)) for _ in range(count))

    def forward(self, x):
        parts = list(self.first(x).chunk(2, 1))
        for block in self.middle:
            parts.append(parts[-1] + block(parts[-1]))
        return self.last(torch.cat(parts, 1))


class Pool(nn.Module):
    """Spatial pyramid pooling: three max pools of 5 in a row."""

    def __init__(self, width: int):
        super().__init__()
        self.first, self.last = conv(width, width // 2, 1), conv(2 * width, width, 1)

    def forward(self, x):
        parts = [self.first(x)]
        for _ in range(3):
            parts.append(functional.max_pool2d(parts[-1], 5, 1, 2))
        return self.last(torch.cat(parts, 1))


class Yolo(nn.Module):
    """YOLOv8's structure: backbone, neck of two directions, a head per scale with distances as distributions, decoded,
    and the best boxes by class-aware NMS."""

    WIDTHS, CLASSES, BINS, STRIDES = (16, 32, 64, 128, 256), 20, 16, (8, 16, 32)

    def __init__(self):
        super().__init__()
        a, b, c, d, e = self.WIDTHS
        self.stem = nn.Sequential(conv(3, a, 3, 2), conv(a, b, 3, 2), Split(b, b, 1), conv(b, c, 3, 2), Split(c, c, 2))
        self.four = nn.Sequential(conv(c, d, 3, 2), Split(d, d, 2))
        self.five = nn.Sequential(conv(d, e, 3, 2), Split(e, e, 1), Pool(e))
        self.up4, self.up3 = Split(d + e, d, 1), Split(c + d, c, 1)
        self.to4, self.down4 = conv(c, c, 3, 2), Split(c + d, d, 1)
        self.to5, self.down5 = conv(d, d, 3, 2), Split(d + e, e, 1)
        head = lambda w, out: nn.Sequential(conv(w, 64), conv(64, 64), nn.Conv2d(64, out, 1))  # noqa: E731
        self.box = nn.ModuleList(head(w, 4 * self.BINS) for w in (c, d, e))
        self.score = nn.ModuleList(head(w, self.CLASSES) for w in (c, d, e))
        with torch.no_grad():
            for score in self.score:  # scores of 1 less a rounding of f32 would leave the choice of NMS to roundings
                score[-1].weight /= 8
        self.register_buffer("bins", torch.arange(self.BINS, dtype=torch.float32))

    def features(self, x):
        three = self.stem(x)
        four = self.four(three)
        five = self.five(four)
        up = lambda t: functional.interpolate(t, scale_factor=2.0, mode="nearest")  # noqa: E731
        four = self.up4(torch.cat([up(five), four], 1))
        three = self.up3(torch.cat([up(four), three], 1))
        four = self.down4(torch.cat([self.to4(three), four], 1))
        return three, four, self.down5(torch.cat([self.to5(four), five], 1))

    def forward(self, x):
        boxes, scores = [], []
        for level, box, score, stride in zip(self.features(x), self.box, self.score, self.STRIDES):
            rows, columns = level.shape[2:]
            y, x = torch.meshgrid(*(torch.arange(n, dtype=torch.float32) + 0.5 for n in (rows, columns)), indexing="ij")
            centre = torch.stack([x, y], -1).reshape(1, -1, 2)
            sides = box(level).view(-1, 4, self.BINS, rows * columns).softmax(2)
            sides = torch.einsum("nsbp,b->nps", sides, self.bins)
            boxes.append(torch.cat([centre - sides[..., :2], centre + sides[..., 2:]], -1) * stride)
            scores.append(score(level).flatten(2).transpose(1, 2).sigmoid())
        boxes, scores = torch.cat(boxes, 1)[0], torch.cat(scores, 1)[0]
        if not torch.onnx.is_in_onnx_export():
            return boxes
        best, classes = scores.max(1)
        keep = torchvision.ops.batched_nms(boxes, best, classes, 0.5)[:50]
        return boxes[keep], best[keep], classes[keep]


class WindowAttention(nn.Module):
    """Swin's attention in windows of time, height, width, with relative positions and, shifted, a mask."""

    def __init__(self, width: int, heads: int, window, shift):
        super().__init__()
        self.heads, self.window, self.shift = heads, window, shift
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        extents = [2 * w - 1 for w in window]
        self.table = nn.Parameter(0.5 * torch.randn(math.prod(extents), heads))
        places = torch.stack(torch.meshgrid(*map(torch.arange, window), indexing="ij")).flatten(1)
        offset = (places[:, :, None] - places[:, None]).permute(1, 2, 0) + torch.tensor(window) - 1
        self.register_buffer("index", (offset * torch.tensor([extents[1] * extents[2], extents[2], 1])).sum(-1))

    def windows(self, x):
        b, t, h, w, c = x.shape
        i, j, k = self.window
        x = x.view(b, t // i, i, h // j, j, w // k, k, c).permute(0, 1, 3, 5, 2, 4, 6, 7)
        return x.reshape(-1, i * j * k, c)

    def mask(self, extents):
        number = torch.zeros(1, *extents, 1)
        count = 0
        parts = [
            (slice(-w), slice(-w, -s), slice(-s, None)) if s else (slice(None),)
            for w, s in zip(self.window, self.shift)
        ]
        for a in parts[0]:
            for b in parts[1]:
                for c in parts[2]:
                    number[:, a, b, c] = count
                    count += 1
        number = self.windows(number).squeeze(-1)
        return (number[:, None] != number[:, :, None]).float() * -100.0

    def forward(self, x):
        b, t, h, w, c = x.shape
        if any(self.shift):
            x = torch.roll(x, [-s for s in self.shift], (1, 2, 3))
        tokens = self.windows(x)
        n, rows = tokens.shape[:2]
        q, k, v = self.qkv(tokens).view(n, rows, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        scores = (q * (c // self.heads) ** -0.5) @ k.transpose(-2, -1) + self.table[self.index].permute(2, 0, 1)
        if any(self.shift):
            scores = scores + self.mask((t, h, w))[:, None]
        tokens = self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(n, rows, c))
        i, j, k = self.window
        x = tokens.view(b, t // i, h // j, w // k, i, j, k, c).permute(0, 1, 4, 2, 5, 3, 6, 7).reshape(b, t, h, w, c)
        return torch.roll(x, list(self.shift), (1, 2, 3)) if any(self.shift) else x


class SwinBlock(nn.Module):
    """Norm, windows, residual; norm, two layers with GELU, residual."""

    def __init__(self, width: int, heads: int, shift):
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = WindowAttention(width, heads, (2, 4, 4), shift)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.mlp(self.second(x))


class Swin3D(nn.Module):
    """Video Swin: patches of 2x4x4, two stages of plain and shifted windows, patches merged between them."""

    def __init__(self, width: int = 48):
        super().__init__()
        self.patches, self.norm = nn.Conv3d(3, width, (2, 4, 4), (2, 4, 4)), nn.LayerNorm(width)
        self.stages = nn.ModuleList(
            nn.Sequential(SwinBlock(w, w // 16, (0, 0, 0)), SwinBlock(w, w // 16, (1, 2, 2)))
            for w in (width, 2 * width)
        )
        self.merged = nn.LayerNorm(4 * width)
        self.reduce = nn.Linear(4 * width, 2 * width, bias=False)
        self.last, self.head = nn.LayerNorm(2 * width), nn.Linear(2 * width, 100)

    def forward(self, x):
        x = self.stages[0](self.norm(self.patches(x).permute(0, 2, 3, 4, 1)))
        corners = [x[:, :, i::2, j::2] for j in (0, 1) for i in (0, 1)]
        x = self.stages[1](self.reduce(self.merged(torch.cat(corners, -1))))
        return self.head(self.last(x).mean((1, 2, 3)))


class Residual(nn.Module):
    """GroupNorm, SiLU, convolution, with the time step added in between."""

    def __init__(self, into: int, out: int, time: int):
        super().__init__()
        self.first = nn.Sequential(nn.GroupNorm(32, into), nn.SiLU(), nn.Conv2d(into, out, 3, 1, 1))
        self.time = nn.Sequential(nn.SiLU(), nn.Linear(time, out))
        self.second = nn.Sequential(nn.GroupNorm(32, out), nn.SiLU(), nn.Conv2d(out, out, 3, 1, 1))
        self.skip = nn.Identity() if into == out else nn.Conv2d(into, out, 1)

    def forward(self, x, time):
        return self.skip(x) + self.second(self.first(x) + self.time(time)[:, :, None, None])


class Attention(nn.Module):
    """Attention of `heads` heads over its own tokens or a context's."""

    def __init__(self, width: int, context: int, heads: int = 4):
        super().__init__()
        self.heads = heads
        self.q, self.out = nn.Linear(width, width, bias=False), nn.Linear(width, width)
        self.k, self.v = nn.Linear(context, width, bias=False), nn.Linear(context, width, bias=False)

    def forward(self, x, context):
        part = lambda t: t.view(t.shape[0], t.shape[1], self.heads, -1).transpose(1, 2)  # noqa: E731
        q, k, v = part(self.q(x)), part(self.k(context)), part(self.v(context))
        weights = (q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2))


class SpatialTransformer(nn.Module):
    """GroupNorm, pixels as tokens: attention to themselves, to the context, and a gated layer."""

    def __init__(self, width: int, context: int):
        super().__init__()
        self.norm, self.into, self.out = nn.GroupNorm(32, width), nn.Conv2d(width, width, 1), nn.Conv2d(width, width, 1)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.own, self.cross = Attention(width, width), Attention(width, context)
        self.gate, self.last = nn.Linear(width, 8 * width), nn.Linear(4 * width, width)

    def forward(self, x, context):
        b, c, h, w = x.shape
        y = self.into(self.norm(x)).flatten(2).transpose(1, 2)
        z = self.norms[0](y)
        y = y + self.own(z, z)
        y = y + self.cross(self.norms[1](y), context)
        value, gate = self.gate(self.norms[2](y)).chunk(2, -1)
        y = y + self.last(value * functional.gelu(gate))
        return x + self.out(y.transpose(1, 2).reshape(b, c, h, w))


class DiffusionUNet(nn.Module):
    """Stable Diffusion's U-Net with two levels: time embedding, residual and transformer blocks, skips, resampling."""

    def __init__(self, width: int = 64, context: int = 128):
        super().__init__()
        self.width = width
        self.time = nn.Sequential(nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, 4 * width))
        residual = lambda a, b: Residual(a, b, 4 * width)  # noqa: E731
        self.first, self.down = nn.Conv2d(4, width, 3, 1, 1), nn.Conv2d(width, width, 3, 2, 1)
        self.one, self.two = residual(width, width), residual(width, 2 * width)
        self.see_one, self.see_two = SpatialTransformer(width, context), SpatialTransformer(2 * width, context)
        self.middle = residual(2 * width, 2 * width)
        self.up = nn.Conv2d(2 * width, 2 * width, 3, 1, 1)
        self.three, self.see_three = residual(3 * width, width), SpatialTransformer(width, context)
        self.head = nn.Sequential(nn.GroupNorm(32, width), nn.SiLU(), nn.Conv2d(width, 4, 3, 1, 1))

    def forward(self, sample, timestep, context):
        rates = torch.exp(-math.log(10000.0) * torch.arange(self.width // 2) / (self.width // 2))
        angle = timestep[:, None].float() * rates
        time = self.time(torch.cat([angle.cos(), angle.sin()], -1))
        kept = self.see_one(self.one(self.first(sample), time), context)
        x = self.see_two(self.two(self.down(kept), time), context)
        x = functional.interpolate(self.middle(x, time), scale_factor=2.0, mode="nearest")
        x = torch.cat([self.up(x), kept], 1)
        return self.head(self.see_three(self.three(x, time), context))
