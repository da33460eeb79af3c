"""The graph of all-MiniLM-L6-v2 that our maker builds, against the encoder written down in numpy, in float64, on random
weights."""

import sys
from math import erf

import numpy as np
import onnxruntime as ort
from conftest import ROOT

sys.path.insert(0, str(ROOT / "regression" / "makers"))
import minilm  # noqa: E402

WORDS = 200


def random_weights() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(11)
    weights = {}

    def matrix(name, *shape):
        weights[name] = (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)

    def norm(name):
        weights[f"{name}.weight"] = rng.uniform(0.5, 1.5, 384).astype(np.float32)
        weights[f"{name}.bias"] = rng.standard_normal(384).astype(np.float32)

    def dense(name, out, into):
        matrix(f"{name}.weight", out, into)
        weights[f"{name}.bias"] = (0.1 * rng.standard_normal(out)).astype(np.float32)

    for part, rows in (("word", WORDS), ("position", 512), ("token_type", 2)):
        matrix(f"embeddings.{part}_embeddings.weight", rows, 384)
    norm("embeddings.LayerNorm")
    for i in range(6):
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            dense(f"encoder.layer.{i}.attention.{part}", 384, 384)
        dense(f"encoder.layer.{i}.intermediate.dense", 1536, 384)
        dense(f"encoder.layer.{i}.output.dense", 384, 1536)
        norm(f"encoder.layer.{i}.attention.output.LayerNorm")
        norm(f"encoder.layer.{i}.output.LayerNorm")
    return weights


def encoder(weights, ids, types, mask):
    """BERT (Devlin et al. 2018, section 3; post-norm, erf gelu), mean pooling and unit length, as the model card
    describes."""
    w = {name: value.astype(np.float64) for name, value in weights.items()}
    batch, tokens = ids.shape

    def norm(x, p):
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12) * w[f"{p}.weight"] + w[f"{p}.bias"]

    def dense(x, p):
        return x @ w[f"{p}.weight"].T + w[f"{p}.bias"]

    words, places, kinds = (w[f"embeddings.{part}_embeddings.weight"] for part in ("word", "position", "token_type"))
    x = norm(words[ids] + places[:tokens] + kinds[types], "embeddings.LayerNorm")
    for i in range(6):
        p = f"encoder.layer.{i}"
        q, k, v = (
            dense(x, f"{p}.attention.self.{n}").reshape(batch, tokens, 12, 32).transpose(0, 2, 1, 3)
            for n in ("query", "key", "value")
        )
        scores = np.where(mask[:, None, None, :] == 1, q @ k.swapaxes(2, 3) / np.sqrt(32), -np.inf)
        weight = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (weight / weight.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3).reshape(batch, tokens, 384)
        x = norm(x + dense(mixed, f"{p}.attention.output.dense"), f"{p}.attention.output.LayerNorm")
        wide = dense(x, f"{p}.intermediate.dense")
        x = norm(
            x + dense(wide / 2 * (1 + np.vectorize(erf)(wide / np.sqrt(2))), f"{p}.output.dense"),
            f"{p}.output.LayerNorm",
        )
    mean = (x * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    return x, mean / np.linalg.norm(mean, axis=1, keepdims=True)


def test_minilm_graph():
    weights = random_weights()
    session = ort.InferenceSession(minilm.build(weights).SerializeToString(), providers=["CPUExecutionProvider"])
    mask = (np.arange(128)[None] < np.array([[9], [128]])).astype(np.int64)
    rng = np.random.default_rng(12)
    ids, types = rng.integers(0, WORDS, mask.shape) * mask, rng.integers(0, 2, mask.shape)
    hidden, sentence = session.run(None, {"input_ids": ids, "token_type_ids": types, "attention_mask": mask})
    expected_hidden, expected_sentence = encoder(weights, ids, types, mask)
    assert np.abs(hidden - expected_hidden)[mask == 1].max() < 5e-5
    assert np.abs(sentence - expected_sentence).max() < 5e-6


def test_descriptions_name_what_their_makers_make():
    """Every description can be read, and its maker has the network that it asks for."""
    import silero_vad
    import torch_nets
    import torchvision_net

    from regression import zoo

    known = {"torchvision_net.py": torchvision_net, "torch_nets.py": torch_nets, "silero_vad.py": silero_vad}
    asked = {script: set() for script in known}
    for model in zoo.read_all([]):
        if maker := known.get(model.maker[0]):
            asked[model.maker[0]].add(model.maker[-1])
            assert model.maker[-1] in maker.NETS, model.name
        own = getattr(maker, "NETS", {}).get(model.maker[-1])
        if model.maker[0] == "torch_nets.py":
            assert [(i.name, tuple(i.shape)) for i in model.inputs] == [i[:2] for i in own.inputs], model.name
    assert asked["torch_nets.py"] == set(torch_nets.NETS) and asked["silero_vad.py"] == set(silero_vad.NETS)


def test_feeds_of_every_kind(tmp_path):
    """Seeded inputs: other seeds give others, integers stay below their bound, a value is what is compiled in."""
    from regression import zoo

    gpt2, whisper, silero = zoo.read_all(["gpt2", "whisper", "silero_vad"])
    feed = zoo.feed(gpt2, tmp_path)
    assert feed["input_ids"].dtype == np.int64 and 0 <= feed["input_ids"].min() <= feed["input_ids"].max() < 1000
    assert not np.array_equal(feed["past.0.key"], zoo.feed(gpt2, tmp_path, 1)["past.0.key"])
    assert set(zoo.feed(whisper, tmp_path)) == {"mel", "tokens"}
    voice = zoo.feed(silero, tmp_path)
    assert voice["sr"] == 16000 and voice["input"].shape == (1, 576) and 0.05 < np.abs(voice["input"]).max() < 2
    assert silero.transform_options == ["--input_shapes", "[[1,576],[2,1,128]]", "--input_values=sr=16000"]
