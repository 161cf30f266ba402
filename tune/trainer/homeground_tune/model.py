"""Loads tokenizer and model as the settings say, with a fresh adapter, one to go on from, or none."""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from .faults import Fault, Refused
from .settings import LoraSettings, Settings


@dataclass(frozen=True)
class Device:
    cuda: bool
    bf16: bool


def choose_device(settings: Settings) -> Device:
    """Raises Refused where a GPU was asked for and torch finds none."""
    cuda = settings.device != "cpu" and torch.cuda.is_available()
    if settings.device == "cuda" and not cuda:
        found = f"none that torch {torch.__version__} can use (built for CUDA {torch.version.cuda})"
        raise Refused(
            "invalid-settings", [Fault("device", "a CUDA GPU", found, "look at `nvidia-smi`: the driver may be too old; or use device cpu")]
        )
    return Device(cuda, cuda and settings.precision != "fp32" and torch.cuda.is_bf16_supported())


def local_folder(base: str) -> str:
    """The folder itself, or a hub's model fetched whole. Raises Refused where the hub cannot be reached."""
    if Path(base).is_dir():
        return base
    from huggingface_hub import snapshot_download

    try:
        return snapshot_download(base)
    except Exception as error:
        found = f"{type(error).__name__} while {base} was fetched"
        raise Refused(
            "invalid-settings",
            [Fault("model.base", "a folder, or a model that a hub hands out", found, "fetch the model by hand and name its folder")],
        ) from error


def load_tokenizer(folder: str):
    return AutoTokenizer.from_pretrained(folder)


def load_model(folder: str, settings: Settings, device: Device):
    """On CUDA adapters train over bf16 weights, whole models keep fp32 weights under bf16 autocast; on a CPU all is fp32."""
    lora = settings.method == "lora"
    options: dict = {"dtype": torch.bfloat16 if device.bf16 and lora else torch.float32}
    if settings.model.quantization == "4bit":
        options["quantization_config"] = four_bit()
    if device.cuda:
        options["device_map"] = {"": torch.cuda.current_device()}
    model = AutoModelForCausalLM.from_pretrained(folder, **options)
    model.config.use_cache = False
    return model


def four_bit():
    try:
        import bitsandbytes  # noqa: F401
    except ImportError as error:
        found = "bitsandbytes is not installed"
        raise Refused(
            "invalid-settings", [Fault("model.quantization", "bitsandbytes for 4bit", found, "run `homeground tune setup --quantize`")]
        ) from error
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True, bnb_4bit_compute_dtype=torch.bfloat16
    )


def adapter_for(model, settings: Settings):
    """What TRL takes as (model, peft_config): an adapter to go on from is put on the model here, a fresh one is left to TRL."""
    if settings.model.adapter is not None:
        from peft import PeftModel

        return PeftModel.from_pretrained(model, settings.model.adapter, is_trainable=True), None
    return model, lora_config(settings.lora, model) if settings.method == "lora" else None


def lora_config(lora: LoraSettings, model):
    from peft import LoraConfig

    targets = lora.targets if lora.targets == "all-linear" else [name.strip() for name in lora.targets.split(",")]
    which: dict = {"target_modules": targets}
    if lora.last_layers is not None:
        layers = model.config.num_hidden_layers
        # PEFT wants names where it is told which layers.
        names = linear_names(model) if lora.targets == "all-linear" else targets
        which = {"target_modules": names, "layers_to_transform": list(range(max(0, layers - lora.last_layers), layers))}
    return LoraConfig(r=lora.rank, lora_alpha=lora.alpha, lora_dropout=lora.dropout, task_type="CAUSAL_LM", **which)


def linear_names(model) -> list[str]:
    """Last names of the linear modules inside layers: q_proj, down_proj, …"""
    return sorted(
        {name.split(".")[-1] for name, module in model.named_modules() if ".layers." in name and isinstance(module, torch.nn.Linear)}
    )


def quiet() -> None:
    """Libraries' advice is for library users; ours has our own events."""
    warnings.filterwarnings("ignore")
    for name in ("transformers", "trl", "peft", "accelerate", "datasets"):
        logging.getLogger(name).setLevel(logging.ERROR)
