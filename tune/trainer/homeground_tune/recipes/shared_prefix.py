"""Rows of one product begin alike: the same instructions, the same tools. A batch computes that beginning once.

The rows' remainders stand one after another behind the common prefix, each at its own positions, and an attention mask lets each see the prefix
and itself only. Loss and gradients are those of the padded batch.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

UNTRAINED = -100


@dataclass
class SharedPrefixCollator:
    """Turns a batch of `{input_ids, labels}` into one sequence. Needs an attention that takes a mask of four dimensions (sdpa, eager)."""

    dtype: torch.dtype = torch.float32

    def __call__(self, rows: list[dict]) -> dict[str, torch.Tensor]:
        prefix = common_prefix(rows)
        ids = list(rows[0]["input_ids"][:prefix])
        labels = [UNTRAINED] * prefix
        positions = list(range(prefix))
        owners = [-1] * prefix
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
            "attention_mask": tree_mask(torch.tensor(owners), self.dtype),
        }


def common_prefix(rows: list[dict]) -> int:
    """How many first tokens all rows share, ending so that each row's first own token is not trained. At least one, as every row begins with a prompt."""
    shortest = min(len(row["input_ids"]) for row in rows)
    length = 0
    while length < shortest - 1 and len({row["input_ids"][length] for row in rows}) == 1:
        length += 1
    trained = min(next((at for at, label in enumerate(row["labels"]) if label != UNTRAINED), shortest) for row in rows)
    return max(0, min(length, trained - 1))


def tree_mask(owners: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """(1, 1, n, n), 0 where a token sees another and the lowest number where it does not."""
    n = len(owners)
    before = torch.arange(n)[:, None] >= torch.arange(n)[None, :]
    visible = before & ((owners[None, :] == -1) | (owners[:, None] == owners[None, :]))
    mask = torch.zeros(n, n, dtype=dtype).masked_fill_(~visible, torch.finfo(dtype).min)
    return mask[None, None]
