"""Compiles .pto files in which some tokens were deleted, duplicated or replaced by others.

usage: mutants.py COUNT PREFIX FOLDER.. -- pto-compile      files in the folders are the originals; PREFIX names what
                                                            is written
       mutants.py seeds OUT FOLDER..                        writes the originals, one file each, into OUT: where
                                                            unittests/ProgramFuzz begins
       SEED=n in the environment chooses other mutants
"""

import os
import pathlib
import random
import re
import subprocess
import sys

split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
prefix, folders = sys.argv[2], sys.argv[3:split]
random.seed(int(os.environ.get("SEED", "0")))
TOKEN = re.compile(r"[A-Za-z_.]+|%\w+|-?\d+|[^\sA-Za-z0-9]")
EXTREMES = ["0", "-1", "1", "65536", "4294967296", "9223372036854775807", "99999999999999999999", "?", "\0", "\xff"]


def originals():
    for folder in folders:
        for path in sorted(pathlib.Path(folder).iterdir()):
            if path.suffix in (".pto", ".mlir"):
                for part in path.read_text().split("// -----"):
                    text = "\n".join(line for line in part.splitlines() if not line.strip().startswith("//"))
                    if text.strip() and len(text) < 12000:
                        yield text


texts = list(originals())
if sys.argv[1] == "seeds":
    for number, text in enumerate(texts):
        pathlib.Path(prefix, f"{number}.pto").write_text(text + "\n")
    print(f"{len(texts)} files")
    sys.exit()
count, tool = int(sys.argv[1]), sys.argv[split + 1]
pool = [token for text in texts for token in TOKEN.findall(text)]


def mutate(text):
    for _ in range(random.choice([1, 1, 2, 3])):
        token = random.choice(list(TOKEN.finditer(text)))
        kind = random.random()
        if kind < 0.25:
            new = ""
        elif kind < 0.5:
            new = random.choice(pool)
        elif kind < 0.75:
            new = random.choice([t for t in pool if t[0] == token.group()[0]] or [""])
        elif kind < 0.9:
            new = random.choice(EXTREMES)
        else:
            new = token.group() + " " + token.group()
        text = text[: token.start()] + new + text[token.end() :]
        if not TOKEN.search(text):
            break
    return text


bad = 0
source = pathlib.Path(prefix + ".pto")
for number in range(count):
    source.write_text(mutate(random.choice(texts)), encoding="latin-1")
    output = pathlib.Path(prefix + random.choice([".out.pto", ".out.pmodel"]))
    output.unlink(missing_ok=True)
    command = [
        tool,
        str(source),
        "-o",
        str(output),
        "--level",
        random.choice("123"),
        *random.choice([[], ["--processor", "a3"], ["--processor", "a5"]]),
    ]
    try:
        run = subprocess.run(command, capture_output=True, timeout=30)
        error = run.stderr.decode(errors="replace")
        good = (
            output.exists() if run.returncode == 0 else run.returncode == 1 and "error" in error and not output.exists()
        )
    except subprocess.TimeoutExpired:
        good, error = False, "took more than 30 seconds"
    if not good:
        bad += 1
        kept = f"{prefix}.bad{bad}.pto"
        source.replace(kept)
        print(f"{' '.join(command[2:])} on {kept}:\n{error[-600:]}")
print(f"{count} mutants of {len(texts)} files, {bad} not as expected")
sys.exit(bad != 0)
