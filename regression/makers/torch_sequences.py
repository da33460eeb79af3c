"""Networks on sequences, written in torch: wav2vec 2.0, Whisper, T5, GPT-2 with a past, Mamba, an LSTM tagger."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional

WORDS = 1000


class Attention(nn.Module):
    """Attention of several heads; to a context when there is one; with a bias or mask added to the scores."""

    def __init__(self, width: int, heads: int, bias: bool = True, scaled: bool = True):
        super().__init__()
        self.heads, self.scale = heads, (width // heads) ** -0.5 if scaled else 1.0
        self.q, self.k, self.v, self.out = (nn.Linear(width, width, bias=bias) for _ in range(4))

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        q, k, v = self.split(self.q(x) * self.scale), self.split(self.k(context)), self.split(self.v(context))
        scores = q @ k.transpose(-2, -1)
        weights = (scores if mask is None else scores + mask).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2))


class Block(nn.Module):
    """A transformer layer with norms in front (or behind) and, in decoders, attention to the encoder."""

    def __init__(self, width: int, heads: int, cross: bool = False, before: bool = True):
        super().__init__()
        self.before, self.attention = before, Attention(width, heads)
        self.cross = Attention(width, heads) if cross else None
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3 if cross else 2))
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, context=None, mask=None):
        if not self.before:
            x = self.norms[0](x + self.attention(x))
            return self.norms[1](x + self.mlp(x))
        x = x + self.attention(self.norms[0](x), mask=mask)
        if self.cross is not None:
            x = x + self.cross(self.norms[1](x), context)
        return x + self.mlp(self.norms[-1](x))


def causal(length: int):
    return torch.full((length, length), -10000.0).triu(1)


class Wav2Vec2(nn.Module):
    """Seven 1-D convolutions on the waveform (the first with GroupNorm), a grouped convolution of 128 for positions, an
    encoder, characters."""

    KERNELS, STRIDES = (10, 3, 3, 3, 3, 2, 2), (5, 2, 2, 2, 2, 2, 2)

    def __init__(self, channels: int = 128, width: int = 192):
        super().__init__()
        layers = []
        for i, (kernel, stride) in enumerate(zip(self.KERNELS, self.STRIDES)):
            layers.append(nn.Conv1d(1 if i == 0 else channels, channels, kernel, stride, bias=False))
            layers += [nn.GroupNorm(channels, channels)] * (i == 0) + [nn.GELU()]
        self.features, self.norm, self.project = (
            nn.Sequential(*layers),
            nn.LayerNorm(channels),
            nn.Linear(channels, width),
        )
        self.position = nn.Conv1d(width, width, 128, padding=64, groups=16)
        self.first, self.blocks = (
            nn.LayerNorm(width),
            nn.ModuleList(Block(width, 4, before=False) for _ in range(3)),
        )
        self.head = nn.Linear(width, 32)

    def forward(self, audio):
        audio = (audio - audio.mean(-1, keepdim=True)) / (audio.var(-1, keepdim=True, unbiased=False) + 1e-7).sqrt()
        x = self.project(self.norm(self.features(audio[:, None]).transpose(1, 2)))
        x = self.first(x + functional.gelu(self.position(x.transpose(1, 2))[..., :-1]).transpose(1, 2))
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Whisper(nn.Module):
    """Two 1-D convolutions on the spectrogram, sinusoids, an encoder; a causal decoder with tied words."""

    def __init__(self, width: int = 192, heads: int = 6, layers: int = 3):
        super().__init__()
        self.one, self.two = nn.Conv1d(80, width, 3, padding=1), nn.Conv1d(width, width, 3, 2, 1)
        rates = torch.exp(-math.log(10000.0) / (width // 2 - 1) * torch.arange(width // 2))
        angles = torch.arange(1500)[:, None] * rates
        self.register_buffer("sinusoids", torch.cat([angles.sin(), angles.cos()], 1))
        self.encoder = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.decoder = nn.ModuleList(Block(width, heads, cross=True) for _ in range(layers))
        self.words = nn.Parameter(0.1 * torch.randn(WORDS, width))
        self.places = nn.Parameter(0.1 * torch.randn(448, width))
        self.between, self.last = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, mel, tokens):
        x = functional.gelu(self.two(functional.gelu(self.one(mel)))).transpose(1, 2)
        x = x + self.sinusoids[: x.shape[1]]
        for block in self.encoder:
            x = block(x)
        context, mask = self.between(x), causal(tokens.shape[1])
        y = self.words[tokens] + self.places[: tokens.shape[1]]
        for block in self.decoder:
            y = block(y, context, mask)
        return self.last(y) @ self.words.T


class RMSNorm(nn.Module):
    """x over its root mean square, scaled."""

    def __init__(self, width: int):
        super().__init__()
        self.weight = nn.Parameter(1 + 0.2 * torch.randn(width))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


class T5Stack(nn.Module):
    """Layers with RMS norms, relative positions in buckets shared by all of them, no scaling, gated GELU."""

    def __init__(self, width: int, heads: int, layers: int, decoder: bool):
        super().__init__()
        self.decoder, self.bias = decoder, nn.Embedding(32, heads)
        attention = lambda: Attention(width, heads, bias=False, scaled=False)  # noqa: E731
        self.own, self.cross = nn.ModuleList(), nn.ModuleList()
        self.gate, self.up, self.down, self.norms = (nn.ModuleList() for _ in range(4))
        for _ in range(layers):
            self.own.append(attention())
            if decoder:
                self.cross.append(attention())
            self.gate.append(nn.Linear(width, 2 * width, bias=False))
            self.up.append(nn.Linear(width, 2 * width, bias=False))
            self.down.append(nn.Linear(2 * width, width, bias=False))
            self.norms.append(nn.ModuleList(RMSNorm(width) for _ in range(3)))
        self.last = RMSNorm(width)
        for layer in (*self.own, *self.cross):  # without a scale, as T5 draws them
            nn.init.normal_(layer.q.weight, std=width**-0.5 * (width // heads) ** -0.5)

    def buckets(self, length: int):
        place = torch.arange(length)
        distance = place[None, :] - place[:, None]
        count, base = 32, torch.zeros_like(distance)
        if self.decoder:
            distance = -distance.clamp(max=0)
        else:
            count, base = 16, (distance > 0).long() * 16
            distance = distance.abs()
        exact = count // 2
        far = exact + (torch.log(distance.float() / exact) / math.log(128 / exact) * (count - exact)).long()
        return base + torch.where(distance < exact, distance, far.clamp(max=count - 1))

    def forward(self, x, context=None):
        bias = self.bias(self.buckets(x.shape[1])).permute(2, 0, 1)[None]
        if self.decoder:
            bias = bias + causal(x.shape[1])
        for i, norms in enumerate(self.norms):
            x = x + self.own[i](norms[0](x), mask=bias)
            if self.decoder:
                x = x + self.cross[i](norms[1](x), context)
            y = norms[2](x)
            x = x + self.down[i](functional.gelu(self.gate[i](y)) * self.up[i](y))
        return self.last(x)


class T5(nn.Module):
    """Encoder and decoder of T5 1.1, with one table of words."""

    def __init__(self, width: int = 128, heads: int = 4, layers: int = 3):
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.encoder, self.decoder = T5Stack(width, heads, layers, False), T5Stack(width, heads, layers, True)
        self.head = nn.Linear(width, WORDS, bias=False)

    def forward(self, input_ids, decoder_ids):
        return self.head(self.decoder(self.words(decoder_ids), self.encoder(self.words(input_ids))))


class GPT2(nn.Module):
    """A decoder that takes keys and values of the past and gives them with the new ones; GELU by tanh."""

    def __init__(self, width: int = 256, heads: int = 4, layers: int = 4):
        super().__init__()
        self.heads, self.layers = heads, layers
        self.words, self.places = nn.Embedding(WORDS, width), nn.Embedding(1024, width)
        self.qkv = nn.ModuleList(nn.Linear(width, 3 * width) for _ in range(layers))
        self.out = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.up = nn.ModuleList(nn.Linear(width, 4 * width) for _ in range(layers))
        self.down = nn.ModuleList(nn.Linear(4 * width, width) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 * layers + 1))
        self.register_buffer("allowed", torch.ones(1024, 1024).tril().bool()[None, None])

    def forward(self, input_ids, *past):
        before = past[0].shape[2]
        total = before + input_ids.shape[1]
        x = self.words(input_ids) + self.places(torch.arange(before, total))
        present = []
        for i in range(self.layers):
            parts = self.qkv[i](self.norms[2 * i](x)).chunk(3, -1)
            q, k, v = (p.view(p.shape[0], p.shape[1], self.heads, -1).transpose(1, 2) for p in parts)
            k, v = torch.cat([past[2 * i], k], 2), torch.cat([past[2 * i + 1], v], 2)
            present += [k, v]
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
            scores = torch.where(self.allowed[:, :, before:total, :total], scores, torch.tensor(-3.4e38))
            x = x + self.out[i]((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
            y = self.up[i](self.norms[2 * i + 1](x))
            y = 0.5 * y * (1 + torch.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * y.pow(3))))
            x = x + self.down[i](y)
        return self.norms[-1](x) @ self.words.weight.T, *present


def scan(decay, drive, read):
    """The selective scan: h = decay h + drive, y = h read, one step after the other; a trace unrolls it."""
    state, outputs = torch.zeros_like(decay[:, 0]), []
    for i in range(decay.shape[1]):
        state = decay[:, i] * state + drive[:, i]
        outputs.append((state @ read[:, i, :, None])[..., 0])
    return torch.stack(outputs, 1)


class MambaLayer(nn.Module):
    """Projection, depthwise causal convolution, scan with step, input and output computed from the tokens, gate."""

    def __init__(self, width: int, inner: int, state: int = 16, rank: int = 8):
        super().__init__()
        self.state, self.rank, self.norm = state, rank, RMSNorm(width)
        self.into, self.out = nn.Linear(width, 2 * inner, bias=False), nn.Linear(inner, width, bias=False)
        self.conv = nn.Conv1d(inner, inner, 4, padding=3, groups=inner)
        self.select, self.step = nn.Linear(inner, rank + 2 * state, bias=False), nn.Linear(rank, inner)
        self.log_rate = nn.Parameter(torch.log(torch.arange(1, state + 1).float()).repeat(inner, 1))
        self.skip = nn.Parameter(torch.ones(inner))

    def forward(self, x):
        y, gate = self.into(self.norm(x)).chunk(2, -1)
        y = functional.silu(self.conv(y.transpose(1, 2))[..., : y.shape[1]].transpose(1, 2))
        low, write, read = self.select(y).split([self.rank, self.state, self.state], -1)
        step = functional.softplus(self.step(low))
        decay = torch.exp(-step[..., None] * self.log_rate.exp())
        drive = (step * y)[..., None] * write[:, :, None]
        y = scan(decay, drive, read) + self.skip * y
        return x + self.out(y * functional.silu(gate))


class Mamba(nn.Module):
    """Words, layers, norm, tied words."""

    def __init__(self, width: int = 64, layers: int = 2):
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.layers = nn.Sequential(*(MambaLayer(width, 2 * width) for _ in range(layers)))
        self.last = RMSNorm(width)

    def forward(self, input_ids):
        return self.last(self.layers(self.words(input_ids))) @ self.words.weight.T


class LSTMTagger(nn.Module):
    """Words, two bidirectional LSTM layers, a score per tag and word."""

    def __init__(self, width: int = 64, hidden: int = 128, tags: int = 17):
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.lstm = nn.LSTM(width, hidden, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * hidden, tags)

    def forward(self, input_ids):
        return self.head(self.lstm(self.words(input_ids))[0]).log_softmax(-1)
