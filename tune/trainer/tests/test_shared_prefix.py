"""A batch that computes its common beginning once has the loss and the gradients of the padded one."""

from __future__ import annotations

import torch
from conftest import conversation
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

from homeground_tune.encode import encode_rows
from homeground_tune.recipes.shared_prefix import SharedPrefixCollator, attend_by_row
from homeground_tune.rows import Row


def test_loss_and_gradients_are_those_of_the_padded_batch(tiny, tokenizer):
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(tiny)
    attend_by_row(model)
    rows = [Row(str(number), conversation(number)) for number in (3, 14, 500)]
    encoded = encode_rows(rows, tokenizer, max_tokens=4096, too_long="drop").rows
    batch = [{"input_ids": row.input_ids, "labels": row.labels} for row in encoded]

    def measure(collator) -> tuple[float, torch.Tensor, int]:
        inputs = collator(batch)
        model.zero_grad()
        loss = model(**inputs).loss
        loss.backward()
        gradients = torch.cat([each.grad.flatten() for each in model.parameters() if each.grad is not None])
        return loss.item(), gradients, inputs["input_ids"].numel()

    padded_loss, padded_gradients, padded_size = measure(DataCollatorForLanguageModeling(pad_token_id=tokenizer.pad_token_id))
    loss, gradients, size = measure(SharedPrefixCollator())
    assert abs(loss - padded_loss) < 1e-5
    assert torch.allclose(gradients, padded_gradients, atol=1e-6)
    assert size < 0.6 * padded_size


def test_rows_with_nothing_in_common_are_a_batch_too(tiny):
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(tiny)
    attend_by_row(model)
    rows = [{"input_ids": [10, 11, 12], "labels": [-100, 11, 12]}, {"input_ids": [20, 21, 22, 23], "labels": [-100, -100, 22, 23]}]
    padded = DataCollatorForLanguageModeling(pad_token_id=0)(rows)
    assert abs((model(**SharedPrefixCollator()(rows)).loss - model(**padded).loss).item()) < 1e-5
