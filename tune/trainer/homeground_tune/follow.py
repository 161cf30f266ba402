"""Ties a Hugging Face trainer to our events: steps, evaluations and checkpoints are told, a loss that is no number stops, a signal saves first."""

from __future__ import annotations

import math
import signal
from pathlib import Path

from transformers import TrainerCallback

from .checkpoints import mark_complete
from .events import Events
from .faults import Failed

NAMES = {
    "loss": "loss",
    "grad_norm": "gradientNorm",
    "learning_rate": "learningRate",
    "epoch": "epoch",
    "mean_token_accuracy": "tokenAccuracy",
    "entropy": "entropy",
    "reward": "reward",
    "reward_std": "rewardSpread",
    "frac_reward_zero_std": "zeroVarianceShare",
    "rewards/accuracies": "preferenceAccuracy",
    "rewards/margins": "preferenceMargin",
}

# TRL sums attention masks for it, which are no counts where a batch shares its beginning; `rows` tells the tokens.
UNTOLD = {"num_tokens"}


class Follower(TrainerCallback):
    def __init__(self, events: Events) -> None:
        self.events = events
        self.interrupted = False
        # What a recipe adds to its next step event.
        self.extra: dict[str, object] = {}
        self.first_loss: float | None = None
        self.last_loss: float | None = None
        self.first_reward: float | None = None
        self.last_reward: float | None = None
        self.evaluations: list[float] = []
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, self.on_signal)

    def on_signal(self, *_: object) -> None:
        self.interrupted = True

    def on_log(self, args, state, control, logs=None, **_: object) -> None:
        logs = logs or {}
        if "eval_loss" in logs:
            self.evaluations.append(logs["eval_loss"])
            self.events.emit("evaluation", step=state.global_step, loss=logs["eval_loss"])
        elif "loss" in logs:
            fields = {
                NAMES.get(name, name): value for name, value in logs.items() if isinstance(value, (int, float)) and name not in UNTOLD
            }
            self.events.emit("step", step=state.global_step, steps=state.max_steps, **{**fields, **self.extra})
            self.extra = {}
            self.first_loss = logs["loss"] if self.first_loss is None else self.first_loss
            self.last_loss = logs["loss"]
            if logs.get("reward") is not None:
                self.first_reward = logs["reward"] if self.first_reward is None else self.first_reward
                self.last_reward = logs["reward"]
            if not math.isfinite(logs["loss"]):
                raise Failed(
                    f"the loss is not a number any more at step {state.global_step}",
                    "lower optimizer.learningRate; checkpoints up to here are kept",
                )

    def on_step_end(self, args, state, control, **_: object):
        if self.interrupted:
            control.should_save = True
            control.should_training_stop = True
        return control

    def on_save(self, args, state, control, **_: object) -> None:
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        if args.should_save and folder.is_dir():
            mark_complete(folder)
            self.events.emit("checkpoint", step=state.global_step, path=str(folder))
