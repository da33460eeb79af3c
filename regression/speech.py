"""Speech segments of a WAV file by Silero VAD, from compiled networks beside onnxruntime.

    PYTHONPATH=build/python .venv/bin/python -m regression.speech speech.wav silero_vad.onnx silero_vad_F32.pmodel ...

Ends with 1 when a network finds other segments. The files take 576 samples at 16 kHz (64 of them from before), and a
state: those that the zoo makes of its description silero_vad.
"""

from __future__ import annotations

import sys
import wave
from collections.abc import Callable

import numpy as np
import onnxruntime
from pto_mlir.runtime import InferenceSession

RATE, CHUNK, BEFORE = 16000, 512, 64
BEGIN, END = 0.5, 0.35  # probabilities at which a segment begins and ends, Silero's own

Network = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]  # input and state to probability and state


def samples(path: str) -> np.ndarray:
    """The first channel of a file of 16 bits at 16 kHz, with half a second of silence on both ends."""
    with wave.open(path) as file:
        if file.getsampwidth() != 2:
            raise SystemExit(f"error: {path}: has {8 * file.getsampwidth()} bits a sample, 16 are supported")
        sound = np.frombuffer(file.readframes(file.getnframes()), np.int16)[:: file.getnchannels()] / 32768
        places = np.arange(int(len(sound) * RATE / file.getframerate())) * file.getframerate() / RATE
    return np.pad(np.interp(places, np.arange(len(sound)), sound), RATE // 2).astype(np.float32)


def probabilities(sound: np.ndarray, network: Network) -> np.ndarray:
    """Of speech, one for each whole chunk."""
    sound, state = np.pad(sound, (BEFORE, 0)), np.zeros((2, 1, 128), np.float32)
    made = []
    for begin in range(0, len(sound) - BEFORE - CHUNK + 1, CHUNK):
        output, state = network(sound[None, begin : begin + BEFORE + CHUNK], state)
        made.append(float(output[0, 0]))
    return np.array(made)


def segments(chances: np.ndarray) -> list[tuple[int, int]]:
    """Begin and end of each, in chunks."""
    found: list[tuple[int, int]] = []
    begin = None
    for place, chance in enumerate([*chances, 0.0]):
        if begin is None and chance >= BEGIN:
            begin = place
        elif begin is not None and chance < END:
            found.append((begin, place))
            begin = None
    return found


def main(arguments: list[str]) -> int:
    if len(arguments) < 3:
        print((__doc__ or "").strip(), file=sys.stderr)
        return 1
    sound, reference = samples(arguments[0]), onnxruntime.InferenceSession(arguments[1])
    rate = np.array(RATE, np.int64)
    want = probabilities(sound, lambda x, state: reference.run(None, {"input": x, "state": state, "sr": rate}))
    print(f"onnxruntime: {len(segments(want))} segments in {len(want)} chunks: {segments(want)}")
    same = True
    for file in arguments[2:]:
        session = InferenceSession(file)
        got = probabilities(sound, lambda x, state: session.run(None, {"input": x, "state": state}))
        same &= segments(got) == segments(want)
        verdict = "the same segments" if segments(got) == segments(want) else f"OTHER segments: {segments(got)}"
        print(f"{file}: {verdict}; probabilities differ by at most {np.abs(got - want).max():.1e}")
    return int(not same)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
