"""The vocabulary's scores for the trained positions alone.

TRL scores them alone on a GPU; on a CPU it scores every position, prompts and tool results too, and does it twice. With a vocabulary of 49,000 and a fifth
of the tokens trained that was a third of a small model's step. Loss, gradients and metrics are TRL's own: only what it masks away is left out.
"""

from __future__ import annotations

import functools
import types

import torch
from torch.utils.checkpoint import checkpoint
from trl.trainer.utils import FusedCausalLMOutput

# Logits of at most so many positions are held at a time; those of longer rows are computed again in the backward pass.
HELD = 512


def score_trained_positions(model) -> None:
    """Puts itself before the forward that TRL put before the model's own; to be called once the trainer is built."""
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    before = inner.forward

    @functools.wraps(before)
    def forward(self, *given, fused_lm_head: bool = False, labels=None, **named):
        if not fused_lm_head or labels is None or named.get("output_router_logits"):
            return before(*given, fused_lm_head=fused_lm_head, labels=labels, **named)
        named["use_cache"] = False
        hidden = self.base_model(*given, **named).last_hidden_state[:, :-1]
        mask = labels[:, 1:] != -100
        chosen, targets = hidden[mask], labels[:, 1:][mask]
        head = self.get_output_embeddings()
        pieces = list(zip(chosen.split(HELD), targets.split(HELD), strict=True))
        scored = [checkpoint(score, head, *piece, use_reentrant=False) if len(pieces) > 1 else score(head, *piece) for piece in pieces]
        log_probs, entropy, is_top1 = (put(torch.cat(values), mask) for values in zip(*scored, strict=True))
        return FusedCausalLMOutput(
            loss=-log_probs.sum() / mask.sum().clamp(min=1), log_probs=log_probs, entropy=entropy, is_top1=is_top1, label_mask=mask
        )

    inner.forward = types.MethodType(forward, inner)


def score(head, hidden: torch.Tensor, targets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Log-probability of each target, entropy of what it was chosen from, and whether it was the likeliest."""
    log_probs = head(hidden).float().log_softmax(-1)
    with torch.no_grad():
        entropy = -(log_probs.exp() * log_probs).sum(-1)
        is_top1 = (log_probs.argmax(-1) == targets).float()
    return log_probs.gather(-1, targets[:, None]).squeeze(-1), entropy, is_top1


def put(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Where the mask holds, and 0 elsewhere."""
    return values.new_zeros(mask.shape).masked_scatter(mask, values)
