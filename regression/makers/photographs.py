"""Fetches photographs out of scikit-image's wheel (BSD-3-Clause; the pictures are in the public domain or CC0).

photographs.py FOLDER
"""

import sys
from pathlib import Path

from fetch import fetch_members

PACKAGE = "scikit-image==0.26.0"
SCENES = {
    "astronaut.png": "88431cd9653ccd539741b555fb0a46b61558b301d4110412b5bc28b5e3ea6cb5",
    "chelsea.png": "596aa1e7cb875eb79f437e310381d26b338a81c2da23439704a73c4651e8c4bb",
    "coffee.png": "cc02f8ca188b167c775a7101b5d767d1e71792cf762c33d6fa15a4599b5a8de7",
    "rocket.jpg": "c2dd0de7c538df8d111e479619b129464d0269d0ae5fd18ca91d33a7fdfea95c",
}
PAGE = {
    "page.png": "341a6f0a61557662b02734a9b6e56ec33a915b2c41886b97509dedf2a43b47a3"
}  # printed text, taken at an angle


def fetch(folder: Path) -> None:
    """Leaves all of them in the folder; nothing is fetched when they are there."""
    fetch_members(
        PACKAGE, {f"skimage/data/{name}": (folder / name, digest) for name, digest in (SCENES | PAGE).items()}
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: photographs.py FOLDER")
    fetch(Path(sys.argv[1]))
