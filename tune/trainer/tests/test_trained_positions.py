"""Scoring the trained positions alone gives TRL's loss, gradients and metrics."""

from __future__ import annotations

import pytest
import torch
from conftest import conversation
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling
from trl.trainer.utils import add_fused_lm_head

from homeground_tune.encode import encode_rows
from homeground_tune.recipes import trained_positions
from homeground_tune.rows import Row


@pytest.mark.parametrize("held", [512, 7])
def test_loss_gradients_and_metrics_are_those_of_all_positions(tiny, tokenizer, monkeypatch, held):
    from transformers import AutoModelForCausalLM

    monkeypatch.setattr(trained_positions, "HELD", held)
    rows = encode_rows([Row(str(n), conversation(n)) for n in (3, 14, 500)], tokenizer, max_tokens=4096, too_long="drop").rows
    batch = [{"input_ids": row.input_ids, "labels": row.labels} for row in rows]
    inputs = DataCollatorForLanguageModeling(pad_token_id=tokenizer.pad_token_id)(batch)
    scored: list[int] = []

    def measure(*, trained_only: bool) -> tuple[torch.Tensor, ...]:
        model = AutoModelForCausalLM.from_pretrained(tiny)
        add_fused_lm_head(model, outputs=("log_probs", "entropy", "is_top1"))
        if trained_only:
            trained_positions.score_trained_positions(model)
            model.get_output_embeddings().register_forward_hook(lambda _, given, __: scored.append(given[0].shape[0]))
        output = model(**inputs, fused_lm_head=True)
        output.loss.backward()
        gradients = torch.cat([each.grad.flatten() for each in model.parameters() if each.grad is not None])
        return output.loss.detach(), output.log_probs.detach(), output.entropy.detach(), output.is_top1.float(), gradients

    for ours, theirs in zip(measure(trained_only=True), measure(trained_only=False), strict=True):
        assert torch.allclose(ours, theirs, atol=1e-5)
    # In the backward pass pieces are scored again, where there are several.
    trained = sum(row.trained for row in rows)
    assert sum(scored) == (trained if held == 512 else 2 * trained)
