"""End metric of the three PP-OCR networks together: the same text as the package's own pipeline reads."""

from __future__ import annotations

import json
import os
import subprocess
import venv
from pathlib import Path

import onnx
import samples
import zoo
from measure import onnxruntime_session
from ocr import Reader

from pto_mlir.runtime import InferenceSession

PACKAGES = ["rapidocr-onnxruntime==1.4.4", "onnxruntime", "opencv-python-headless<5", "pyclipper", "shapely", "PyYAML", "Pillow", "six", "tqdm"]


def pictures(folder: Path) -> list[Path]:
    """Pages of rendered text, one of them turned a little and one with its last line upside down."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, image in (("page", samples.page(0)[0]), ("tilted", samples.tilted_page(1)), ("turned", samples.page_with_turned_line(2))):
        paths.append(folder / f"{name}.png")
        image.save(paths[-1])
    return paths


def package_python(cache: Path) -> tuple[Path | None, str]:
    """Python of an environment that holds the package, made when it is not there; or why there is none."""
    folder = cache / "rapidocr-venv"
    python = folder / "bin" / "python"
    if (folder / "complete").is_file():
        return python, ""
    venv.create(folder, with_pip=True, clear=True)
    # Without dependencies: the package asks for OpenCV with a window system, which nothing here needs.
    for packages in (["--no-deps", PACKAGES[0]], PACKAGES[1:]):
        done = subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], capture_output=True, text=True)
        if done.returncode != 0:
            return None, f"pip install {' '.join(packages)}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}"
    (folder / "complete").touch()
    return python, ""


def package_texts(cache: Path, paths: list[Path]) -> tuple[list[list[str]] | None, str]:
    python, reason = package_python(cache)
    if python is None:
        return None, reason
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run([python, zoo.FOLDER / "reference_ocr.py", *paths], capture_output=True, text=True, env=env)
    if done.returncode != 0:
        return None, (done.stderr.strip().splitlines() or ["failed"])[-1]
    return json.loads(done.stdout.strip().splitlines()[-1]), ""


def characters(model: Path) -> list[str]:
    """The recogniser's classes from 1 on: its metadata lists them, the space comes last."""
    listed = {p.key: p.value for p in onnx.load(str(model)).metadata_props}["character"]
    return [*listed.splitlines(), " "]


def same_text(spec: dict) -> dict:
    """`spec`: cache, work, mode, cores, threads of the job. Beside the package our own pipeline runs with onnxruntime's networks."""
    cache, work = Path(spec["cache"]), Path(spec["work"])
    zoo_folder = cache / "zoo"

    def ours(name: str):
        session = InferenceSession(str(work / f"{name}_{spec['mode']}_{spec['cores']}.pmodel"), threads=spec["threads"])
        return lambda x: session.run(None, {session.get_inputs()[0].name: x})[0]

    def theirs(name: str):
        session = onnxruntime_session(zoo_folder / f"{name}.onnx")
        return lambda x: session.run(None, {session.get_inputs()[0].name: x})[0]

    classes = characters(zoo_folder / "rec.onnx")
    readers = [Reader(*(make(n) for n in ("det", "cls", "rec")), classes) for make in (ours, theirs)]
    paths = pictures(work / "pictures")
    texts, same_networks = ([reader.read(samples.Image.open(p)) for p in paths] for reader in readers)
    package, reason = package_texts(cache, paths)
    wanted = same_networks if package is None else package
    alike = sum(a == b for a, b in zip(texts, wanted))
    beside = f"the package's (skipped: {reason}); onnxruntime's networks" if package is None else "the package's pipeline"
    different = [f"{p.name}: {a} instead of {b}" for p, a, b in zip(paths, texts, wanted) if a != b]
    return {"passed": alike == len(paths), "details": {"ours": texts, "onnxruntime": same_networks, "package": package},
            "summary": f"text alike on {alike} of {len(paths)} pictures, {sum(map(len, texts))} lines, beside {beside}"
            + "".join(f"; {d}" for d in different)}  # fmt: skip
