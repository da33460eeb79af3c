"""Small seeded networks of the architectures of the package transformers as ONNX, by torch's exporter.

    EXE regression/makers/architectures.py OUT [--list] [NAME ..]

EXE has torch 2.9 or newer with onnxscript, and transformers 4.57. OUT gets NAME.onnx and NAME.npz, its inputs; one line
of JSON for each says whether it was made, else why not. `--list` prints the names. Each network has two layers, a width
of 64 and a vocabulary of 300; what its configuration does not shrink is as published.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import logging
import sys
import warnings
from pathlib import Path

import numpy as np

# Attributes of configurations, by all the names that they have.
SIZES = {
    64: "hidden_size d_model n_embd dim embedding_size emb_dim word_embed_proj_dim image_size max_source_positions "
    "moe_intermediate_size",
    2: "num_hidden_layers num_layers n_layer n_layers encoder_layers decoder_layers num_decoder_layers "
    "num_encoder_layers num_key_value_heads",
    4: "num_attention_heads num_heads n_head n_heads encoder_attention_heads decoder_attention_heads "
    "num_local_experts n_routed_experts num_experts attention_window",
    128: "intermediate_size d_ff ffn_dim encoder_ffn_dim decoder_ffn_dim hidden_dim n_inner ffn_hidden_size "
    "max_position_embeddings n_positions",
    16: "d_kv head_dim patch_size kv_lora_rank q_lora_rank qk_nope_head_dim v_head_dim hidden_size_per_layer_input",
    300: "vocab_size vocab_size_per_layer_input",
    32: "projection_dim num_mel_bins",
    8: "rotary_dim qk_rope_head_dim",
    1: "eos_token_id bos_token_id decoder_start_token_id sep_token_id cls_token_id mask_token_id",
    0: "pad_token_id layerdrop attention_probs_dropout_prob hidden_dropout_prob mask_time_prob",
}
LEAST_RANGE = 1e-4  # of weights before training
TOKENS, SAMPLES, FRAMES = 16, 4000, 128
VIDEO_FRAMES = {"timesformer": 8, "videomae": 16, "vivit": 32}
PARTS = ("text_config", "vision_config", "audio_config", "encoder", "decoder")


def shrink(config):
    """The configuration with small sizes, also those of its parts."""
    for size, names in SIZES.items():
        for name in names.split():
            value = getattr(config, name, None)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                setattr(config, name, size)
    kinds = getattr(config, "layer_types", None)
    if isinstance(kinds, list):
        config.layer_types = (kinds[:1] + kinds[-1:])[:2]
    # BLIP's weights of images are 1e-10 before training: they would fade out even in f32.
    if 0 < (getattr(config, "initializer_range", None) or 0) < LEAST_RANGE:
        config.initializer_range = 0.02
    for name in PARTS:
        if hasattr(getattr(config, name, None), "to_dict"):
            shrink(getattr(config, name))
    config.use_cache = False
    return config


def inputs(name, config, wanted):
    """Random inputs for the arguments of `forward` that networks of this kind take."""
    import torch

    random = torch.Generator().manual_seed(1)
    size = getattr(config, "image_size", None) or getattr(getattr(config, "vision_config", None), "image_size", 64)
    rows, columns = size if isinstance(size, (tuple, list)) else (size, size)
    image = torch.randn(1, getattr(config, "num_channels", 3) or 3, rows, columns, generator=random)
    ids = torch.randint(2, 290, (1, TOKENS), generator=random)
    made = {}
    if "input_ids" in wanted:
        made |= {"input_ids": ids} | ({"attention_mask": torch.ones_like(ids)} if "attention_mask" in wanted else {})
    if "decoder_input_ids" in wanted:
        made["decoder_input_ids"] = ids[:, : TOKENS // 2]
    if "pixel_values" in wanted:
        frames = VIDEO_FRAMES.get(name)
        made["pixel_values"] = image[:, None].repeat(1, frames, 1, 1, 1) if frames else image
    if "input_values" in wanted:
        frames = getattr(config, "max_length", 0) if "spectrogram" in name else 0
        shape = (1, frames, config.num_mel_bins) if frames else (1, SAMPLES)
        made["input_values"] = torch.randn(*shape, generator=random)
    if "input_features" in wanted and "input_ids" not in wanted:
        shape = (1, 32, FRAMES) if name == "whisper" else (1, FRAMES // 2, 32)
        made["input_features"] = torch.randn(*shape, generator=random)
    return made


def make(name, folder):
    """Writes folder/NAME.onnx and .npz. Raises whatever transformers and torch raise."""
    import torch
    from transformers import AutoConfig, AutoModel

    torch.manual_seed(0)
    config = shrink(AutoConfig.for_model(name))
    network = AutoModel.from_config(config).eval()
    feed = inputs(name, config, inspect.signature(network.forward).parameters)

    class Outputs(torch.nn.Module):
        """The first three tensors of numbers."""

        def __init__(self):
            super().__init__()
            self.network = network

        def forward(self, *values):
            found = self.network(**dict(zip(feed, values, strict=True)), return_dict=True)
            return tuple(v for v in found.values() if isinstance(v, torch.Tensor) and v.is_floating_point())[:3]

    file = str(folder / f"{name}.onnx")
    with torch.no_grad(), contextlib.redirect_stdout(io.StringIO()):
        torch.onnx.export(
            Outputs().eval(), tuple(feed.values()), file, input_names=list(feed), dynamo=True, external_data=False
        )
    np.savez(folder / f"{name}.npz", **{key: value.numpy() for key, value in feed.items()})


def main() -> int:
    folder, *names = sys.argv[1:]
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    if "--list" in names:
        from transformers import CONFIG_MAPPING

        print("\n".join(sorted(CONFIG_MAPPING)))
        return 0
    for name in names:
        reason = ""
        try:
            make(name, Path(folder))
        except Exception as error:  # what cannot be built or exported is no case
            first = (str(error).strip().splitlines() or [""])[0]
            reason = f"{type(error).__name__}: {first}"[:200]
        print(json.dumps({"name": name, "reason": reason}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
