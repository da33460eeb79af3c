"""Fetches the PP-OCR networks (Apache-2.0) from the wheel that carries them.

pp_ocr.py {det,rec,cls} OUT.onnx
"""

import sys
from pathlib import Path

from fetch import fetch_members

PACKAGE = "rapidocr-onnxruntime==1.4.4"
FOLDER = "rapidocr_onnxruntime/models/"
NETS = {
    "det": ("ch_PP-OCRv4_det_infer.onnx", "d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9"),
    "rec": ("ch_PP-OCRv4_rec_infer.onnx", "48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b"),
    "cls": ("ch_ppocr_mobile_v2.0_cls_infer.onnx", "e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c"),
}


def fetch(net: str, path: Path) -> None:
    """Leaves the network at `path`; nothing is fetched when it is there already."""
    member, digest = NETS[net]
    fetch_members(PACKAGE, {FOLDER + member: (path, digest)})


def main() -> int:
    if len(sys.argv) != 3 or sys.argv[1] not in NETS:
        sys.exit(f"usage: pp_ocr.py {{{','.join(NETS)}}} OUT.onnx")
    fetch(sys.argv[1], Path(sys.argv[2]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
