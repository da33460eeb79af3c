"""Image pre-processing as model_transform's options describe it (TPU-MLIR's names and meanings)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from .errors import UserError

IMAGE_SUFFIXES = {".jpg", ".jpeg", ".png", ".bmp", ".webp"}


def open_image(path: str | Path, mode: str):
    """The image in a mode of PIL."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as file:
            return file.convert(mode)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (UnidentifiedImageError, OSError) as error:
        raise UserError(f"{path}: not a readable image: {error}") from None


@dataclass
class Preprocess:
    """resize -> (pad) -> channel order -> (x - mean) * scale, in float32, as N x C x H x W (or N x H x W x C)."""

    resize_dims: list[int] = field(default_factory=list)  # height, width; the model's when empty
    keep_aspect_ratio: bool = False
    pad_value: float = 0.0  # in pixel units, before mean and scale
    pad_type: str = "center"  # center | normal (right and bottom)
    mean: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    scale: list[float] = field(default_factory=lambda: [1.0, 1.0, 1.0])
    pixel_format: str = "bgr"  # bgr | rgb | gray
    channel_format: str = "nchw"  # nchw | nhwc

    def to_dict(self) -> dict:
        return asdict(self)

    def load(self, path: str | Path, shape: list[int]) -> np.ndarray:
        """Reads an image for an input of `shape` and returns it as float32 of exactly that shape (batch repeated)."""
        from PIL import Image

        image = open_image(path, "L" if self.pixel_format == "gray" else "RGB")
        nhwc = self.channel_format == "nhwc"
        if len(shape) != 4:
            raise UserError(f"{path}: an image needs an input of 4 dimensions, this one has shape {shape}")
        channels = shape[3] if nhwc else shape[1]
        size = shape[1:3] if nhwc else shape[2:4]
        height, width = self.resize_dims or size
        if channels != len(image.getbands()):
            raise UserError(f"{path}: {self.pixel_format} has {len(image.getbands())} channels, the input {channels}")
        if [height, width] != list(size):
            raise UserError(f"--resize_dims {height},{width} does not match the input's height and width {size}")
        new_h, new_w = height, width
        if self.keep_aspect_ratio:
            ratio = min(width / image.width, height / image.height)
            new_h = min(height, max(1, round(image.height * ratio)))
            new_w = min(width, max(1, round(image.width * ratio)))
        data = np.asarray(image.resize((new_w, new_h), Image.Resampling.BILINEAR), dtype=np.float32)
        data = data.reshape(new_h, new_w, channels)
        if self.pixel_format == "bgr":
            data = data[:, :, ::-1]
        canvas = np.full((height, width, channels), self.pad_value, dtype=np.float32)
        top = (height - new_h) // 2 if self.pad_type == "center" else 0
        left = (width - new_w) // 2 if self.pad_type == "center" else 0
        canvas[top : top + new_h, left : left + new_w] = data
        mean, scale = (np.array(self._per_channel(what, channels), np.float32) for what in ("mean", "scale"))
        canvas = (canvas - mean) * scale
        if not nhwc:
            canvas = canvas.transpose(2, 0, 1)
        return np.ascontiguousarray(np.broadcast_to(canvas, shape), dtype=np.float32)

    def _per_channel(self, what: str, channels: int) -> list[float]:
        value = getattr(self, what)
        if len(value) == 1:
            return value * channels
        if len(value) < channels:
            raise UserError(f"--{what}: expects {channels} numbers, got {len(value)}")
        return value[:channels]
