"""What makers of torch networks with seeded weights share: the seed, the statistics of batch norms, the export, the
command line."""

from __future__ import annotations

import argparse
import os
import sys
import warnings

import numpy as np

SEED = 2026


def normal(shape, seed: int = 0):
    """Seeded normal noise."""
    import torch

    return torch.randn(*shape, generator=torch.Generator().manual_seed(SEED + seed))


def pictures(shape):
    """Seeded noise of several scales, which is as smooth as photographs are: mean 0, deviation 1 at each pixel."""
    import torch

    sides, total = shape[-2:], normal(shape) * 0.2
    for seed, (scale, weight) in enumerate(((4, 0.3), (16, 0.6), (64, 1.2)), 1):
        coarse = normal((*shape[:-2], *(max(2, side // scale) for side in sides)), seed)
        total += weight * torch.nn.functional.interpolate(coarse, sides, mode="bilinear", align_corners=True)
    return (total - total.mean()) / total.std()


def set_statistics(net, batch) -> None:
    """Batch-norm statistics from one seeded batch: with the initial ones activations vanish below float16."""
    import torch

    norms = [m for m in net.modules() if isinstance(m, (torch.nn.BatchNorm2d, torch.nn.BatchNorm3d))]
    if not norms:
        return
    for norm in norms:
        norm.momentum = 1.0
    net.train()
    for module in net.modules():
        if "Dropout" in type(module).__name__ or "StochasticDepth" in type(module).__name__:
            module.eval()
    with torch.no_grad():
        net(batch)


def export(net, inputs, path: str, names, outputs, opset: int, **options) -> None:
    """torch.onnx.export, whole or not at all."""
    import torch

    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        torch.onnx.export(
            net, inputs, temporary, opset_version=opset, input_names=names, output_names=outputs, **options
        )
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def has_torch() -> bool:
    """Whether torch and torchvision are there; says how to install them where they are not."""
    try:
        import torch  # noqa: F401
        import torchvision  # noqa: F401
    except ImportError as error:
        print(
            f"error: {error}; as root: apt-get install -y --no-install-recommends python3-torch python3-torchvision",
            file=sys.stderr,
        )
        return False
    return True


def main(text: str, nets, export, float64=None) -> int:
    """`export NET OUT.onnx` and, where there is one, `float64 NET IN.npz OUT.npz`; 3 without torch."""
    parser = argparse.ArgumentParser(description=text.split("\n\n")[0], allow_abbrev=False)
    parser.add_argument("command", choices=["export", "float64"] if float64 else ["export"])
    parser.add_argument("net", choices=sorted(nets))
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    wanted = 1 if args.command == "export" else 2
    if len(args.files) != wanted:
        parser.error(f"{args.command} takes {wanted} file name{'s' * (wanted > 1)}")
    warnings.filterwarnings("ignore")
    if not has_torch():
        return 3
    import torch

    if args.command == "export":
        export(args.net, *args.files)
        return 0
    with np.load(args.files[0], allow_pickle=False) as data:
        feed = {name: torch.from_numpy(data[name].astype(np.float64)) for name in data.files}
    np.savez(args.files[1], **float64(args.net, feed))
    return 0
