"""Exports small networks written in torch, true in structure to well-known ones, with seeded random weights.

    /usr/bin/python3 torch_nets.py export NAME OUT.onnx

Runs by itself under Debian's Python (package python3-torch), never inside the project's environment. Extents are such
that a network runs in seconds; the structures are in torch_vision.py and torch_sequences.py.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field

import seeded


@dataclass
class Net:
    """A network: the function of `module` that builds it, the inputs with which it is traced as (name, shape, greatest
    integer or 0 for noise), its outputs, and options of the export."""

    module: str
    function: str
    inputs: list[tuple[str, tuple[int, ...], int]]
    outputs: list[str]
    opset: int = 17
    options: dict = field(default_factory=dict)


LAYERS, HEADS, HEAD = 4, 4, 64  # of the decoder with a past
PAST = [(f"past.{i}.{part}", (1, HEADS, 48, HEAD), 0) for i in range(LAYERS) for part in ("key", "value")]
NETS: dict[str, Net] = {
    "unet": Net("torch_vision", "UNet", [("input", (1, 3, 128, 128), 0)], ["mask"]),
    "yolo": Net("torch_vision", "Yolo", [("input", (1, 3, 256, 256), 0)], ["boxes", "scores", "labels"]),
    "swin3d": Net("torch_vision", "Swin3D", [("input", (1, 3, 8, 64, 64), 0)], ["output"]),
    "diffusion_unet": Net(
        "torch_vision",
        "DiffusionUNet",
        [("sample", (1, 4, 32, 32), 0), ("timestep", (1,), 1000), ("context", (1, 77, 128), 0)],
        ["noise"],
    ),
    "wav2vec2": Net("torch_sequences", "Wav2Vec2", [("audio", (1, 16000), 0)], ["logits"]),
    "whisper": Net("torch_sequences", "Whisper", [("mel", (1, 80, 400), 0), ("tokens", (1, 24), 1000)], ["logits"]),
    "t5": Net("torch_sequences", "T5", [("input_ids", (1, 40), 1000), ("decoder_ids", (1, 16), 1000)], ["logits"]),
    "gpt2": Net(
        "torch_sequences",
        "GPT2",
        [("input_ids", (1, 4), 1000), *PAST],
        ["logits", *(name.replace("past", "present") for name, _, _ in PAST)],
    ),
    "mamba": Net("torch_sequences", "Mamba", [("input_ids", (1, 32), 1000)], ["logits"]),
    "lstm_tagger": Net("torch_sequences", "LSTMTagger", [("input_ids", (1, 50), 1000)], ["tags"]),
}


def example(inputs) -> tuple:
    """Seeded noise and integers."""
    import torch

    made = []
    for i, (_, shape, most) in enumerate(inputs):
        generator = torch.Generator().manual_seed(seeded.SEED + i)
        made.append(torch.randint(most, shape, generator=generator) if most else seeded.normal(shape, i))
    return tuple(made)


def export(name: str, path: str) -> None:
    """Writes the ONNX file."""
    import importlib

    import torch

    net = NETS[name]
    torch.manual_seed(seeded.SEED)
    build: Callable = getattr(importlib.import_module(net.module), net.function)
    module = build()
    inputs = example(net.inputs)
    if len(inputs) == 1 and inputs[0].is_floating_point():
        seeded.set_statistics(module, seeded.normal((4, *inputs[0].shape[1:])))
    seeded.export(module.eval(), inputs, path, [i[0] for i in net.inputs], net.outputs, net.opset, **net.options)


if __name__ == "__main__":
    sys.exit(seeded.main(__doc__, NETS, export))
