"""Exports a torchvision network with seeded random weights, and computes it in float64.

    /usr/bin/python3 torchvision_net.py export NAME OUT.onnx
    /usr/bin/python3 torchvision_net.py float64 NAME IN.npz OUT.npz

Runs by itself under Debian's Python (packages python3-torch and python3-torchvision), never inside the project's
environment. Batch-norm statistics come from one seeded batch: with the initial ones the activations of MobileNetV2
vanish below float16.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import seeded

DETECTOR = {"weights": None, "weights_backbone": None}


@dataclass
class Net:
    """How a network is made and exported: its function below torchvision.models, what it is called with, the shape of
    its input, the opset, and what is done to the seeded weights."""

    function: str
    shape: tuple[int, ...] = (1, 3, 224, 224)
    opset: int = 13
    options: dict = field(default_factory=lambda: {"weights": None})
    outputs: tuple[str, ...] = ("output",)
    finish: Callable | None = None
    pictures: bool = False  # batch-norm statistics of smooth pictures: with those of noise, photographs give outputs
    # of hundreds, and deep networks magnify every rounding


def draw_head(net) -> None:
    """torchvision leaves the head of a transformer at zero: every class would get the same score."""
    import torch

    torch.nn.init.normal_(net.heads.head.weight, std=0.1)


def spread_scores(net, last: float = 1.0) -> None:
    """Fresh heads of detectors give every box nearly the same score; wider weights give an order to sort by. `last`: of
    the last layer of logits, relative to that."""
    import torch

    for name, module in net.named_modules():
        wide = "cls_logits" in name or "classification_head" in name or "cls_score" in name
        if wide and isinstance(module, (torch.nn.Linear, torch.nn.Conv2d)):
            torch.nn.init.normal_(
                module.weight, std=(2.0 / module.weight[0].numel()) ** 0.5 * (last if "cls_logits" in name else 1)
            )


NETS = {
    "resnet18": Net("resnet18"),
    "resnet50": Net("resnet50"),
    "resnet152": Net("resnet152"),
    "mobilenet_v2": Net("mobilenet_v2"),
    "vit_b_16": Net("vit_b_16", opset=17, finish=draw_head),
    "swin_t": Net("swin_t", opset=17),
    "convnext_tiny": Net("convnext_tiny", opset=17),
    "efficientnet_b0": Net("efficientnet_b0", pictures=True),
    "efficientnet_v2_s": Net("efficientnet_v2_s", pictures=True),
    "densenet121": Net("densenet121"),
    "inception_v3": Net(
        "inception_v3",
        (1, 3, 299, 299),
        options={"weights": None, "aux_logits": False, "init_weights": False},
        pictures=True,
    ),
    "regnet_y_400mf": Net("regnet_y_400mf", pictures=True),
    "shufflenet_v2_x1_0": Net("shufflenet_v2_x1_0"),
    "maxvit_t": Net("maxvit_t", opset=17),
    "deeplabv3": Net("segmentation.deeplabv3_mobilenet_v3_large", (1, 3, 224, 224), options=DETECTOR, pictures=True),
    "r3d_18": Net("video.r3d_18", (1, 3, 8, 112, 112)),
    "faster_rcnn": Net(
        "detection.fasterrcnn_mobilenet_v3_large_320_fpn",
        (3, 320, 320),
        options={**DETECTOR, "min_size": 320, "max_size": 320, "rpn_pre_nms_top_n_test": 150},
        outputs=("boxes", "labels", "scores"),
        finish=spread_scores,
    ),
    "retinanet": Net(
        "detection.retinanet_resnet50_fpn",
        (3, 256, 256),
        options={**DETECTOR, "min_size": 256, "max_size": 256, "topk_candidates": 200},
        outputs=("boxes", "scores", "labels"),
        finish=partial(spread_scores, last=0.05),  # with 1 the best scores are all 1
    ),
    "ssdlite": Net(
        "detection.ssdlite320_mobilenet_v3_large",
        (3, 320, 320),
        options=DETECTOR,
        outputs=("boxes", "scores", "labels"),
        finish=spread_scores,
    ),
}


def build(name: str):
    """The network in evaluation mode; the same weights on every call and in both commands."""
    import torch
    import torchvision

    torch.set_num_threads(max(1, len(os.sched_getaffinity(0))))
    torch.manual_seed(seeded.SEED)
    net, function = NETS[name], torchvision.models
    for part in NETS[name].function.split("."):
        function = getattr(function, part)
    module = function(**net.options)
    batch = net.shape if len(net.shape) > 3 else (1, *net.shape)
    statistics = seeded.pictures if net.pictures else seeded.normal
    seeded.set_statistics(module.backbone if len(net.shape) == 3 else module, statistics((4, *batch[1:])))
    if net.finish:
        net.finish(module)
    return module.eval()


def example(name: str):
    """The input with which a network is traced."""
    return seeded.normal(NETS[name].shape, 1)


def wrapped(name: str):
    """A module from one tensor to a tuple of tensors."""
    import torch

    class Wrapped(torch.nn.Module):
        def __init__(self, net):
            super().__init__()
            self.net = net

        def forward(self, input):
            if input.dim() == 3:
                boxes = self.net([input])[0]
                return tuple(boxes[key] for key in NETS[name].outputs)
            result = self.net(input)
            return result["out"] if isinstance(result, dict) else result

    return Wrapped(build(name)).eval()


def export(name: str, path: str) -> None:
    """Writes the ONNX file."""
    plain = NETS[name].function == name and len(NETS[name].shape) == 4
    net = build(name) if plain else wrapped(name)
    seeded.export(net, (example(name),), path, ["input"], list(NETS[name].outputs), NETS[name].opset)


def float64(name: str, feed: dict) -> dict:
    """`output` of `input`, all of it computed in float64 with the float32 weights."""
    import torch

    with torch.no_grad():
        return {"output": build(name).double()(feed["input"]).numpy()}


if __name__ == "__main__":
    sys.exit(seeded.main(__doc__, NETS, export, float64))
