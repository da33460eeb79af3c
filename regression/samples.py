"""What the models look at: rendered lines and pages of text, scenes, and sentences. All of it is made here and the same
on every machine."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from .wordpiece import WordPiece

SENTENCES = [
    "The cat sleeps on the warm windowsill.",
    "A kitten is napping in the sun.",
    "Dogs love to chase tennis balls in the park.",
    "The stock market fell sharply after the announcement.",
    "Investors sold shares as prices dropped.",
    "Interest rates were raised by the central bank.",
    "She baked a chocolate cake for the birthday party.",
    "The recipe calls for two eggs and a cup of flour.",
    "Fresh bread smells wonderful in the morning.",
    "The rocket lifted off into a clear blue sky.",
    "Astronauts repaired the telescope in orbit.",
    "A new planet was discovered around a distant star.",
    "The train to Berlin was delayed by forty minutes.",
    "Our flight got cancelled because of the storm.",
    "Heavy rain flooded several streets downtown.",
    "The goalkeeper saved a penalty in the last minute.",
    "Their team won the championship for the third time.",
    "He practises the violin two hours every day.",
    "The orchestra played a symphony by Mahler.",
    "Neural networks are trained with gradient descent.",
    "The compiler fuses element-wise operations into one kernel.",
    "Vaccines protect people from dangerous diseases.",
    "The doctor prescribed antibiotics for the infection.",
    "Parliament passed the law after a long debate.",
]

LINES = [
    "Hello 2026 PTO",
    "Invoice No. 40217",
    "Total: 318.50 EUR",
    "Regent Street 12",
    "Open 9:00 - 17:30",
    "Platform 4, Gate B",
    "Fragile - this side up",
    "Made in Norway",
    "Serial 7F-0093-K",
    "Best before 03/2027",
]


def _paper(rng, height: int, width: int) -> Image.Image:
    """Paper under uneven light, with grain."""
    light = 232 - 24 * np.linspace(0, 1, width)[None, :] * np.linspace(0.4, 1, height)[:, None]
    grain = rng.normal(0, 4, (height, width, 3))
    return Image.fromarray((light[..., None] + grain).clip(0, 255).astype(np.uint8))


def line(seed: int = 0, turned: bool = False) -> Image.Image:
    """A line of text on paper, 384 x 96; `turned` by 180 degrees."""
    image = _paper(np.random.default_rng(seed), 96, 384)
    text = LINES[seed % len(LINES)]
    font = ImageFont.load_default(size=48)
    while font.getlength(text) > 360:
        font = ImageFont.load_default(size=font.size - 2)
    left, top, right, bottom = font.getbbox(text)
    ImageDraw.Draw(image).text(
        ((384 - right + left) / 2 - left, (96 - bottom + top) / 2 - top), text, fill=(35, 30, 60), font=font
    )
    return image.rotate(180) if turned else image


def page(seed: int = 0, size: int = 640) -> tuple[Image.Image, list[str]]:
    """A page with eight lines of text in several sizes, and the lines from top to bottom."""
    rng = np.random.default_rng(100 + seed)
    image = _paper(rng, size, size)
    draw = ImageDraw.Draw(image)
    texts = [LINES[i] for i in rng.permutation(len(LINES))[:8]]
    for row, text in enumerate(texts):
        font = ImageFont.load_default(size=int(rng.integers(26, 40)))
        left = int(rng.integers(30, 90))
        draw.text(
            (left, 30 + row * (size - 60) // 8), text, fill=tuple(int(v) for v in rng.integers(10, 90, 3)), font=font
        )
    return image, texts


def tilted_page(seed: int = 0) -> Image.Image:
    """A page that was not laid straight: turned by four degrees, bicubic, on a grey table."""
    return page(seed)[0].rotate(4, Image.Resampling.BICUBIC, fillcolor=(150, 150, 150))


def page_with_turned_line(seed: int = 0) -> Image.Image:
    """A page whose last line stands on its head."""
    image = page(seed)[0]
    box = (0, 30 + 7 * 580 // 8 - 8, 640, 640)
    image.paste(image.crop(box).rotate(180), box)
    return image


def photo(seed: int = 0, size: int = 256) -> Image.Image:
    """A scene of soft light, shapes and textures: colours, edges and frequencies as a photograph has them."""
    rng = np.random.default_rng(200 + seed)
    y, x = np.mgrid[0:size, 0:size] / size
    scene = np.zeros((size, size, 3))
    for channel in range(3):
        for _ in range(6):
            fx, fy, phase = rng.normal(0, 3), rng.normal(0, 3), rng.uniform(0, 6.28)
            scene[..., channel] += np.cos(6.28 * (fx * x + fy * y) + phase) / (1 + np.hypot(fx, fy))
    image = Image.fromarray((127 + 50 * scene).clip(0, 255).astype(np.uint8))
    draw = ImageDraw.Draw(image)
    for _ in range(7):
        box = np.sort(rng.integers(0, size, (2, 2)), axis=0)
        shape = (draw.ellipse, draw.rectangle)[int(rng.integers(2))]
        shape([*map(int, box[0]), *map(int, box[1] + 1)], fill=tuple(int(v) for v in rng.integers(0, 256, 3)))
    grain = rng.normal(0, 6, (size, size, 3))
    return Image.fromarray((np.asarray(image) + grain).clip(0, 255).astype(np.uint8))


def photographs(cache: Path) -> tuple[list[Path], Path | None, str]:
    """Real photographs: scenes and a printed page, fetched once; without a network none, and the reason."""
    folder = cache / "photographs"
    maker = Path(__file__).with_name("makers") / "photographs.py"
    done = subprocess.run([sys.executable, str(maker), str(folder)], capture_output=True, text=True)
    if done.returncode != 0:
        return [], None, (done.stderr.strip().splitlines() or ["failed"])[-1]
    return sorted(p for p in folder.iterdir() if p.stem != "page"), folder / "page.png", ""


def photographed_page(path: Path, size: int = 640) -> Image.Image:
    """The photograph of a page, enlarged to the detector's width on a plain ground of its own median colour."""
    image = Image.open(path).convert("RGB")
    image = image.resize((size, round(image.height * size / image.width)), Image.Resampling.BICUBIC)
    ground = Image.new("RGB", (size, size), tuple(int(v) for v in np.median(np.asarray(image).reshape(-1, 3), 0)))
    ground.paste(image, (0, (size - image.height) // 2))
    return ground


def waveform(shape: list[int], seed: int = 0) -> np.ndarray:
    """A voice-like sound at 16 kHz: harmonics of a gliding pitch, swelling and fading, with hiss."""
    rng = np.random.default_rng(300 + seed)
    time = np.arange(int(np.prod(shape))) / 16000
    phase = 2 * np.pi * np.cumsum(140 + 25 * np.sin(2 * np.pi * 3 * time)) / 16000
    voice = sum(np.sin(k * phase + rng.uniform(0, 6.28)) / k for k in range(1, 20))
    sound = 0.15 * voice * (1 + np.sin(2 * np.pi * 4 * time)) + 0.01 * rng.standard_normal(time.size)
    return sound.reshape(shape).astype(np.float32)


def picture(model, kind: str, shape: list[int], seed: int) -> np.ndarray:
    """A line, page or photo through the model's pre-processing."""
    image = {"line": line, "page": lambda s: page(s)[0], "photo": photo}[kind](seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture.png"
        image.save(path)
        return model.preprocess.load(path, shape)


def sentences(zoo: Path, shape: list[int], seed: int) -> dict[str, np.ndarray]:
    """tokens, segments and mask of shape [batch, length]: as many of SENTENCES, beginning with number `seed`."""
    chosen = [SENTENCES[(seed + i) % len(SENTENCES)] for i in range(shape[0])]
    return WordPiece(zoo / "minilm_vocab.txt").batch(chosen, shape[1])
