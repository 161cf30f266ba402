"""The one settings file of a training run, as typed dataclasses. Field names in the file are camelCase; docs/tune.md explains each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Recipe = Literal["sft", "dpo", "kto", "grpo", "distill"]


def limited(default: float | int | None, *, minimum: float | None = None, above: float | None = None, maximum: float | None = None):
    """A number with its limits: `minimum` and `maximum` are allowed values, `above` is not."""
    return field(default=default, metadata={"minimum": minimum, "above": above, "maximum": maximum})


@dataclass(frozen=True)
class ModelSettings:
    # A folder in Hugging Face's layout, or the name of a model at a hub that this machine can reach.
    base: str
    # `auto`: the model's own, or TRL's training variant of it; a name of TRL's templates (`qwen3_instruct_2507`); a .jinja file.
    chat_template: str = "auto"
    # An adapter to go on from, e.g. the one of an `sft` run before `grpo`.
    adapter: str | None = None
    quantization: Literal["none", "4bit"] = "none"


@dataclass(frozen=True)
class DataSettings:
    # JSON Lines files (or .gz) that `homeground dataset` wrote.
    train: list[str] = field(default_factory=list)
    validation: list[str] = field(default_factory=list)
    max_tokens: int = limited(4096, minimum=8)
    # `drop` leaves a longer row out and says so, `cut` keeps its first maxTokens tokens, `refuse` stops.
    too_long: Literal["drop", "cut", "refuse"] = "drop"


@dataclass(frozen=True)
class LoraSettings:
    rank: int = limited(16, minimum=1)
    alpha: int = limited(32, minimum=1)
    dropout: float = limited(0.0, minimum=0, maximum=0.9)
    # `all-linear`, or names of modules joined by commas.
    targets: str = "all-linear"
    # Adapts only the last so many layers: the backward pass ends there, which saves time and memory. Null adapts all.
    last_layers: int | None = limited(None, minimum=1)


@dataclass(frozen=True)
class OptimizerSettings:
    learning_rate: float = limited(2e-4, above=0, maximum=1)
    # Rows an optimizer step; perDeviceBatch of them at once on each device.
    batch_size: int = limited(8, minimum=1)
    per_device_batch: int = limited(1, minimum=1)
    epochs: float = limited(3.0, above=0)
    # Overrides epochs.
    max_steps: int | None = limited(None, minimum=1)
    warmup_share: float = limited(0.03, minimum=0, maximum=1)
    schedule: Literal["cosine", "linear", "constant", "constant_with_warmup"] = "cosine"
    weight_decay: float = limited(0.0, minimum=0)
    gradient_clip: float = limited(1.0, above=0)
    # Recomputes activations to save memory; `auto`: on CUDA for models above 1 billion parameters.
    gradient_checkpointing: Literal["auto", "on", "off"] = "auto"
    # Computes what the rows of a batch begin with in common once (sft). For many short rows behind one long beginning.
    share_prefix: Literal["on", "off"] = "off"


@dataclass(frozen=True)
class CheckpointSettings:
    every_steps: int = limited(50, minimum=1)
    keep: int = limited(2, minimum=1)


@dataclass(frozen=True)
class PreferenceSettings:
    """For `dpo` and `kto`."""

    beta: float = limited(0.1, above=0)


@dataclass(frozen=True)
class RolloutSettings:
    """For `grpo`: where rollouts come from and how many."""

    # Base URL of Homeground's rollout service, and the hash of the environment that it plays; `homeground tune grpo` fills both in.
    service: str = ""
    environment: str = ""
    # Rollouts a task.
    group: int = limited(8, minimum=2, maximum=10_000)
    tasks_per_step: int = limited(1, minimum=1, maximum=10_000)
    temperature: float = limited(1.0, above=0)
    # Of one model turn, and of a whole rollout (prompt and all turns).
    turn_tokens: int = limited(256, minimum=1)
    rollout_tokens: int = limited(4096, minimum=16)
    # What generates: `vllm`, in this process, where it is installed (adapters on one GPU); its share of the GPU's memory.
    generation: Literal["transformers", "vllm"] = "transformers"
    vllm_memory_share: float = limited(0.4, above=0, maximum=0.95)
    # Model calls that are generated at once.
    max_batch: int = limited(32, minimum=1)
    # The run stops when for so long no rollout comes back and none asks the policy.
    timeout_seconds: float = limited(300.0, above=0)
    beta: float = limited(0.0, minimum=0)
    # Share of off-tape rollouts over five steps above which the run stops (where tools are mocked, simulated or live: warns); null never stops.
    off_tape_limit: float | None = limited(0.3, minimum=0, maximum=1)
    # Share of failed rollouts over five steps above which the run warns.
    error_limit: float = limited(0.05, minimum=0, maximum=1)
    # Tasks whose last groups were scored all alike rest for some turns.
    curriculum: bool = True


@dataclass(frozen=True)
class DistillSettings:
    # Folder of the teacher; it shares the student's vocabulary.
    teacher: str = ""
    turn_tokens: int = limited(128, minimum=1)
    temperature: float = limited(1.0, above=0)


@dataclass(frozen=True)
class Settings:
    recipe: Recipe
    model: ModelSettings
    output: str
    format: Literal[1] = 1
    data: DataSettings = field(default_factory=DataSettings)
    method: Literal["lora", "full"] = "lora"
    lora: LoraSettings = field(default_factory=LoraSettings)
    optimizer: OptimizerSettings = field(default_factory=OptimizerSettings)
    checkpoints: CheckpointSettings = field(default_factory=CheckpointSettings)
    preference: PreferenceSettings = field(default_factory=PreferenceSettings)
    rollouts: RolloutSettings = field(default_factory=RolloutSettings)
    distill: DistillSettings = field(default_factory=DistillSettings)
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    device: Literal["auto", "cpu", "cuda"] = "auto"
    seed: int = limited(0, minimum=0, maximum=2**32 - 1)
    # The run stops when no step ends for so long.
    stall_minutes: float = limited(15.0, above=0)
    # The estimate of memory only warns.
    ignore_memory_estimate: bool = False
