"""Fetches Silero's voice activity detector (MIT) from its package, in any of the six forms that it has there.

silero_vad.py NAME OUT.onnx
"""

import sys
from pathlib import Path

from fetch import fetch_members

PACKAGE = "silero-vad==6.2.3"
FOLDER = "silero_vad/data/"
NETS = {
    "silero_vad": "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3",
    "silero_vad_16k_op15": "7ed98ddbad84ccac4cd0aeb3099049280713df825c610a8ed34543318f1b2c49",
    "silero_vad_16k_sequence": "9ccdacc4719d8aa7e45a77536bfabec45a03ba1f2fad5e241ab4060b24238a85",
    "silero_vad_half": "1e0b195ad4806595ef4466f419d16fca7e4afcfc6669b8c0b5f76ea87547c769",
    "silero_vad_op18_ifless": "7671cd04b004e9076da0d4a7b1a5aec36adf161c39230c1cb94a4fd5db6bbd28",
    "silero_vad_openvino_16k": "7776b81ad1b0350c15d7f1555943b9232eb53e9ca5d989c6d0cea9ebc8664d87",
}


def main() -> int:
    if len(sys.argv) != 3 or sys.argv[1] not in NETS:
        sys.exit(f"usage: silero_vad.py {{{','.join(NETS)}}} OUT.onnx")
    fetch_members(PACKAGE, {f"{FOLDER}{sys.argv[1]}.onnx": (Path(sys.argv[2]), NETS[sys.argv[1]])})
    return 0


if __name__ == "__main__":
    sys.exit(main())
