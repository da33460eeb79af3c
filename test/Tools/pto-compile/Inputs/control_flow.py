"""Runs the kernels of control-flow.pto and compares each with numpy.

usage: control_flow.py PREFIX pto-run        PREFIX.pmodel holds the kernels; files are written next to it
"""

import subprocess
import sys

import numpy as np

prefix, tool = sys.argv[1:]
f32 = np.float32
x = np.random.default_rng(7).standard_normal((4, 16)).astype(f32)
x[0, 0], x[2, 5] = 2.75, 3.5
np.save(f"{prefix}.x.npy", x)


def run(kernel, outputs, *scalars):
    """The outputs (each given by .npy type and shape) of the kernel on x; the same in checked mode."""
    answers = []
    for mode in ("functional", "checked"):
        command = [tool, f"{prefix}.pmodel", "--kernel", kernel, "--arg", f"{prefix}.x.npy", "--mode", mode]
        for i, shape in enumerate(outputs):
            command += ["--out", f"{prefix}.{i}.npy:{shape}"]
        for scalar in scalars:
            command += ["--arg", str(scalar)]
        subprocess.run(command, check=True, capture_output=False, stdout=subprocess.DEVNULL)
        answers.append([np.load(f"{prefix}.{i}.npy") for i in range(len(outputs))])
    for a, b in zip(*answers):
        np.testing.assert_array_equal(a, b)
    return answers[0]


flat = x.reshape(-1)
numbers, spread = run("numbers", ["7xf32", "4x16xf32"])
total = f32(0)
for value in flat[:8]:
    total = f32(total * f32(0.5)) + value
half = f32(np.float16(flat[0]) * np.float16(0.333))
np.testing.assert_array_equal(
    numbers,
    [total, flat[:8].max(), -flat[0], np.trunc(total), half, np.nextafter(flat[0], f32(10)), np.fmod(total, flat[0])],
)
np.testing.assert_array_equal(spread, np.full((4, 16), total))

for n in (0, 1, 2, 5):
    p, q = x.copy(), np.abs(x)
    for _ in range(n):
        q = q * f32(2)
        p = p + q
        p, q = q, p
    np.testing.assert_array_equal(run("tiles", ["4x16xf32"], n)[0], p if n % 2 == 0 else -q)

for limit in (2.5, 3.25):
    place = int(np.argmax(flat > f32(limit)))
    np.testing.assert_array_equal(run("search", ["2xi32"], limit)[0], [place, place])

guess = flat[0]
while (better := f32(f32(guess + f32(flat[0] / guess)) * f32(0.5))) < guess:
    guess = better
np.testing.assert_array_equal(run("root", ["1xf32"])[0], [guess])

shapes = np.stack([x, x, x])
for i, (rows, cols) in enumerate([(3, 5), (1, 12), (2, 12)]):
    shapes[i, :rows, :cols] += f32(100)
np.testing.assert_array_equal(run("shapes", ["12x16xf32"])[0], shapes.reshape(12, 16))

for k in (1, 2):
    np.testing.assert_array_equal(run("events", ["4x16xf32"], k)[0], np.maximum(x, 0))

np.testing.assert_array_equal(run("memrefs", ["64xf32"])[0], np.abs(flat))
print("7 kernels as numpy says")
