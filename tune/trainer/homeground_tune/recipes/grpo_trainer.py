"""TRL's GRPOTrainer with what it lacks for rollouts of a harness: several rows a rollout, and a look at sampled against trained log-probabilities."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import TrainerCallback
from trl import GRPOTrainer

from ..rollouts.collect import Collector
from ..rollouts.curriculum import Curriculum
from ..rollouts.further_rows import with_further_rows


class HarnessTrainer(GRPOTrainer):
    """Rollouts come from the collector; all else is TRL's."""

    def __init__(self, *, collector: Collector, **arguments: object) -> None:
        super().__init__(rollout_func=collector, reward_funcs=rollout_reward, **arguments)
        self.collector = collector
        self.trained_logprobs: torch.Tensor | None = None
        self.gaps: list[tuple[float, float, int]] = []

    def _generate_and_score_completions(self, inputs):
        batch = super()._generate_and_score_completions(inputs)
        further, self.collector.further = self.collector.further, []
        if further and ("ref_per_token_logps" in batch or "old_per_token_logps" in batch):
            message = f"{len(further)} rows of rollouts that rewrote their history are not trained: with rollouts.beta above 0 each would need a reference"
            self.collector.guards.warn("split-rows", message)
        elif further:
            batch = with_further_rows(batch, further, pad_token=self._tokenizer.pad_token_id, multiple=self.args.steps_per_generation)
        tokens = (batch["completion_mask"] * batch["tool_mask"]).sum()
        batch["num_items_in_batch"] = self.accelerator.gather(tokens).sum()
        return batch

    def _get_per_token_logps_and_entropies(self, *given, **named):
        result = super()._get_per_token_logps_and_entropies(*given, **named)
        self.trained_logprobs = result[0].detach()
        return result

    def _compute_loss(self, model, inputs):
        """Costs nothing more: the weights are still those that were sampled from."""
        loss = super()._compute_loss(model, inputs)
        mask = (inputs["completion_mask"] * inputs["tool_mask"]).bool()
        gap = (self.trained_logprobs - inputs["sampling_per_token_logps"]).abs()[mask]
        if gap.numel() > 0:
            self.gaps.append((gap.sum().item(), gap.max().item(), gap.numel()))
        return loss

    def log(self, logs: dict, start_time: float | None = None) -> None:
        if self.gaps and "loss" in logs:
            mean = sum(total for total, _, _ in self.gaps) / sum(tokens for _, _, tokens in self.gaps)
            largest = max(most for _, most, _ in self.gaps)
            self.gaps = []
            self.collector.follower.extra |= {"logprobGap": {"mean": mean, "max": largest}}
            self.collector.guards.note_gap(mean, largest)
        super().log(logs, start_time)


def rollout_reward(rollout_reward: list[float | None], **_: object) -> list[float | None]:
    """Scored in the harness: the text that TRL would hand over here is no conversation any more."""
    return rollout_reward


class CurriculumKeeper(TrainerCallback):
    """The curriculum goes into each checkpoint and comes back from the one that a run goes on from. Stands before the follower, which seals checkpoints."""

    def __init__(self, curriculum: Curriculum) -> None:
        self.curriculum = curriculum

    def on_train_begin(self, args, state, control, **_: object) -> None:
        if state.global_step > 0:
            self.curriculum.load(Path(args.output_dir) / f"checkpoint-{state.global_step}" / "curriculum.json")

    def on_save(self, args, state, control, **_: object) -> None:
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        if args.should_save and folder.is_dir():
            self.curriculum.save(folder / "curriculum.json")
