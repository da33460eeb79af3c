"""Exports a torchvision network with seeded random weights, and computes it in float64.

    /usr/bin/python3 torchvision_net.py export NAME OUT.onnx
    /usr/bin/python3 torchvision_net.py float64 NAME IN.npz OUT.npz

Runs by itself under Debian's Python (packages python3-torch and python3-torchvision), never inside the project's
environment. Batch-norm statistics come from one seeded batch: with the initial ones the activations of MobileNetV2
vanish below float16.
"""

import argparse
import os
import sys
import warnings

import numpy as np

SEED = 2026
NETS = {"resnet18": 13, "resnet50": 13, "resnet152": 13, "mobilenet_v2": 13, "vit_b_16": 17}  # opset of the export


def build(name):
    """The network in evaluation mode; the same weights on every call and in both commands."""
    import torch
    import torchvision

    torch.set_num_threads(max(1, len(os.sched_getaffinity(0))))
    torch.manual_seed(SEED)
    net = getattr(torchvision.models, name)(weights=None)
    norms = [m for m in net.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    if norms:
        for norm in norms:
            norm.momentum = 1.0
        net.train()
        for module in net.modules():
            if isinstance(module, torch.nn.Dropout):
                module.eval()
        with torch.no_grad():
            net(torch.randn(4, 3, 224, 224, generator=torch.Generator().manual_seed(SEED)))
    else:
        # torchvision leaves the head of a transformer at zero: every class would get the same score.
        torch.nn.init.normal_(net.heads.head.weight, std=0.1)
    return net.eval()


def export(name, path):
    """Writes the ONNX file: input `input` 1x3x224x224, output `output` 1x1000."""
    import torch

    net = build(name)
    x = torch.randn(1, 3, 224, 224, generator=torch.Generator().manual_seed(SEED + 1))
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        torch.onnx.export(net, x, temporary, opset_version=NETS[name], input_names=["input"], output_names=["output"])
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def float64(name, source, target):
    """Reads `input` from an .npz and writes `output`, all of it computed in float64 with the float32 weights."""
    import torch

    with np.load(source, allow_pickle=False) as data:
        x = torch.from_numpy(data["input"].astype(np.float64))
    with torch.no_grad():
        y = build(name).double()(x)
    np.savez(target, output=y.numpy())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], allow_abbrev=False)
    parser.add_argument("command", choices=["export", "float64"])
    parser.add_argument("net", choices=sorted(NETS))
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    wanted = 1 if args.command == "export" else 2
    if len(args.files) != wanted:
        parser.error(f"{args.command} takes {wanted} file name{'s' * (wanted > 1)}")
    warnings.filterwarnings("ignore")
    try:
        import torch  # noqa: F401
        import torchvision  # noqa: F401
    except ImportError as error:
        print(
            f"error: {error}; as root: apt-get install -y --no-install-recommends python3-torch python3-torchvision",
            file=sys.stderr,
        )
        return 3
    (export if args.command == "export" else float64)(args.net, *args.files)
    return 0


if __name__ == "__main__":
    sys.exit(main())
