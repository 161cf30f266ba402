"""The training arguments that every recipe shares, from our settings to Hugging Face's names."""

from __future__ import annotations

from ..memory import checkpoints_gradients
from ..model import Device
from ..model_files import ModelShape
from ..read_settings import world_size
from ..settings import Settings


def shared_arguments(settings: Settings, shape: ModelShape, device: Device, *, evaluates: bool) -> dict:
    """Keyword arguments for any of TRL's configs."""
    optimizer = settings.optimizer
    recompute = checkpoints_gradients(settings, shape, cuda=device.cuda)
    return {
        "output_dir": settings.output,
        "per_device_train_batch_size": optimizer.per_device_batch,
        "per_device_eval_batch_size": optimizer.per_device_batch,
        "gradient_accumulation_steps": max(1, optimizer.batch_size // (optimizer.per_device_batch * world_size())),
        "learning_rate": optimizer.learning_rate,
        "num_train_epochs": optimizer.epochs,
        "max_steps": optimizer.max_steps or -1,
        "warmup_steps": optimizer.warmup_share,
        "lr_scheduler_type": optimizer.schedule,
        "weight_decay": optimizer.weight_decay,
        "max_grad_norm": optimizer.gradient_clip,
        "gradient_checkpointing": recompute,
        "gradient_checkpointing_kwargs": {"use_reentrant": False} if recompute else None,
        "bf16": device.bf16,
        "use_cpu": not device.cuda,
        "seed": settings.seed,
        "data_seed": settings.seed,
        "logging_steps": 1,
        "logging_nan_inf_filter": False,
        "save_strategy": "steps",
        "save_steps": settings.checkpoints.every_steps,
        # The one before is kept until the new one is whole.
        "save_total_limit": max(2, settings.checkpoints.keep),
        "eval_strategy": "epoch" if evaluates else "no",
        "eval_on_start": evaluates,
        "report_to": "none",
        "disable_tqdm": True,
    }
