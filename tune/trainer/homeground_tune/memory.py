"""How much memory a run needs, from the model's files alone, and a refusal with numbers when it cannot fit.

Parameters are counted from the safetensors headers. Weights, gradients and Adam's two moments are exact; activations are an estimate
(per token and layer about 34 hidden-size values without recomputation, 2 with it, plus the logits, held three times).
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from .faults import Fault, Refused
from .model_files import ModelShape
from .settings import Settings

GIB = 2**30


@dataclass(frozen=True)
class MemoryEstimate:
    weights: int
    training: int
    activations: int
    trainable: int

    @property
    def total(self) -> int:
        return self.weights + self.training + self.activations

    def event(self) -> dict:
        return {"weights": self.weights, "training": self.training, "activations": self.activations, "total": self.total}


def estimate(shape: ModelShape, settings: Settings, *, cuda: bool, tokens: int) -> MemoryEstimate:
    """`tokens`: the longest row that trains."""
    lora = settings.method == "lora"
    width = 0.6 if settings.model.quantization == "4bit" else (2 if cuda and lora else 4)
    weights = int(shape.parameters * width)
    trainable = shape.linear_edges * settings.lora.rank if lora else shape.parameters
    # Gradient and Adam's two moments in fp32, and for adapters their own fp32 weights.
    training = trainable * (16 if lora else 12)
    value = 2 if cuda else 4
    per_layer = 2 if checkpoints_gradients(settings, shape, cuda=cuda) else 34
    activations = settings.optimizer.per_device_batch * tokens * (shape.layers * shape.hidden * per_layer * value + shape.vocabulary * 12)
    extra = shape.parameters * (2 if cuda else 4) if settings.recipe in ("dpo", "kto", "distill") and not lora else 0
    return MemoryEstimate(weights + extra, training, activations, trainable)


def checkpoints_gradients(settings: Settings, shape: ModelShape, *, cuda: bool) -> bool:
    choice = settings.optimizer.gradient_checkpointing
    return choice == "on" or (choice == "auto" and cuda and shape.parameters > 1_000_000_000)


def refuse_if_too_big(need: MemoryEstimate, free: int, settings: Settings, place: str) -> None:
    if settings.ignore_memory_estimate or need.total <= free:
        return
    found = (
        f"{need.total / GIB:.1f} GiB needed (weights {need.weights / GIB:.1f}, training state {need.training / GIB:.1f}, "
        f"activations {need.activations / GIB:.1f}), {free / GIB:.1f} GiB free {place}"
    )
    action = "lower data.maxTokens or optimizer.perDeviceBatch, use method lora or quantization 4bit, or set ignoreMemoryEstimate"
    raise Refused("invalid-settings", [Fault("memory", "a run that fits", found, action)])


def free_memory(cuda: bool) -> int:
    """Bytes that a new allocation may take, on the GPU or in the machine."""
    if cuda:
        import torch

        return torch.cuda.mem_get_info()[0]
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def refuse_if_disk_full(settings: Settings, shape: ModelShape, trainable: int) -> None:
    """A checkpoint holds trained weights and Adam's moments; the output the weights again."""
    whole = shape.parameters if settings.method == "full" else trainable
    need = whole * 12 * (settings.checkpoints.keep + 1) + whole * 4 + 64 * 2**20
    free = shutil.disk_usage(settings.output).free
    if free < need:
        found = f"{need / GIB:.2f} GiB needed for {settings.checkpoints.keep + 1} checkpoints and the result, {free / GIB:.2f} GiB free"
        raise Refused(
            "invalid-settings", [Fault("output", "room on the disk", found, "free some, name another folder, or lower checkpoints.keep")]
        )
