"""Fetches the PP-OCR text direction classifier (Apache-2.0) and draws a line of text, upright and turned by 180
degrees.

fetch_cls.py FOLDER      leaves cls.onnx, upright.png and turned.png there; what is there already is not fetched again
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "regression" / "makers"))

import pp_ocr


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
    ImageDraw.Draw(image).text(
        ((width - right + left) / 2 - left, (height - bottom + top) / 2 - top), text, fill=(30, 30, 60), font=font
    )
    for name, picture in (("upright", image), ("turned", image.rotate(180))):
        temporary = folder / f"{name}.{os.getpid()}.tmp.png"
        picture.save(temporary)
        temporary.replace(folder / f"{name}.png")  # whole at any time: another process may read it


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(f"usage: {Path(__file__).name} FOLDER")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    pp_ocr.fetch("cls", folder / "cls.onnx")
    draw_pictures(folder)
    print(f"{folder}/cls.onnx (SHA-256 checked), upright.png, turned.png")


if __name__ == "__main__":
    main()
