"""Rows of one product begin alike: the same instructions, the same tools. A batch computes that beginning once.

The rows' remainders stand one after another behind the common prefix, each at its own positions, and each sees the prefix and itself only: where the
attention is computed, prefix and remainder are put together again, row by row, so that the fast causal kernels serve and no mask of the square of the
length is held. Loss and gradients are those of the padded batch.
"""

from __future__ import annotations

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

UNTRAINED = -100
NAME = "homeground_shared_prefix"
# Whose a token is; what follows is numbered from 0.
PREFIX = -1


class SharedPrefixCollator:
    """Turns a batch of `{input_ids, labels}` into one sequence, for a model with `attend_by_row`."""

    def __call__(self, rows: list[dict]) -> dict[str, torch.Tensor]:
        prefix = common_prefix(rows)
        ids = list(rows[0]["input_ids"][:prefix])
        labels = [UNTRAINED] * prefix
        positions = list(range(prefix))
        owners = [PREFIX] * prefix
        for number, row in enumerate(rows):
            rest = row["input_ids"][prefix:]
            ids += rest
            # What follows the prefix is predicted from another row's last token, or from the prefix: it is untrained (see common_prefix).
            labels += row["labels"][prefix:]
            positions += range(prefix, prefix + len(rest))
            owners += [number] * len(rest)
        return {
            "input_ids": torch.tensor([ids]),
            "labels": torch.tensor([labels]),
            "position_ids": torch.tensor([positions]),
            # A mask of four dimensions reaches the attention as it is.
            "attention_mask": torch.tensor(owners)[None, None, None],
        }


def common_prefix(rows: list[dict]) -> int:
    """How many first tokens all rows share, ending so that each row's first own token is not trained. At least one, as every row begins with a prompt."""
    shortest = min(len(row["input_ids"]) for row in rows)
    length = 0
    while length < shortest - 1 and len({row["input_ids"][length] for row in rows}) == 1:
        length += 1
    trained = min(next((at for at, label in enumerate(row["labels"]) if label != UNTRAINED), shortest) for row in rows)
    return max(0, min(length, trained - 1))


def attend_by_row(model) -> None:
    """Lets a model with torch's scaled-dot-product attention read what the collator makes; other batches are computed as before."""
    AttentionInterface.register(NAME, shared_prefix_attention)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    model.set_attn_implementation(NAME)


def shared_prefix_attention(module, query, key, value, attention_mask, **named) -> tuple[torch.Tensor, None]:
    """`attention_mask`: (1, 1, 1, tokens), whose each token is; anything else is a mask."""
    if attention_mask is None or attention_mask.dtype != torch.int64:
        return sdpa_attention_forward(module, query, key, value, attention_mask, **named)
    values, lengths = attention_mask.flatten().unique_consecutive(return_counts=True)
    prefix, *rests = lengths.tolist() if values[0] == PREFIX else [0, *lengths.tolist()]
    outputs: list[torch.Tensor] = []
    start = prefix
    for rest in rests:
        # The prefix asks again beside each row: a little more to compute, and the whole is plainly causal.
        q, k, v = (torch.cat([each[:, :, :prefix], each[:, :, start : start + rest]], dim=2) for each in (query, key, value))
        output, _ = sdpa_attention_forward(module, q, k, v, None, **{**named, "is_causal": True})
        outputs.append(output if start == prefix else output[:, prefix:])
        start += rest
    return torch.cat(outputs, dim=1), None
