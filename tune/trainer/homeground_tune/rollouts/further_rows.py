"""Rows beyond one a rollout, put behind TRL's scored batch with the advantage of the rollout that they belong to."""

from __future__ import annotations

import torch

from ..policy.session import Row

# By name: what stands where a row is shorter.
PADDING = {
    "prompt_mask": 0,
    "completion_mask": 0,
    "tool_mask": 1,
    "sampling_per_token_logps": 0.0,
    "old_per_token_logps": 0.0,
    "ref_per_token_logps": 0.0,
    "importance_sampling_ratio": 1.0,
}


def with_further_rows(batch: dict, further: list[tuple[int, Row]], *, pad_token: int, multiple: int) -> dict:
    """`multiple`: TRL cuts the batch into so many equal parts; rows that train nothing fill it up."""
    missing = -len(further) % multiple
    rows = [(batch["advantages"][place].item(), row) for place, row in further]
    rows += [(0.0, Row([pad_token], [pad_token], [0.0], [0]))] * missing
    if not rows:
        return batch
    device = batch["prompt_ids"].device
    new = {
        "prompt_ids": [row.prompt for _, row in rows],
        "prompt_mask": [[1] * len(row.prompt) for _, row in rows],
        "completion_ids": [row.completion for _, row in rows],
        "completion_mask": [[1] * len(row.completion) for _, row in rows],
        "tool_mask": [row.mask for _, row in rows],
        "sampling_per_token_logps": [row.logprobs for _, row in rows],
    }
    out = dict(batch)
    for name, values in new.items():
        padding = PADDING.get(name, pad_token)
        out[name] = stack(batch[name], values, padding, left=name.startswith("prompt"), device=device)
    out["advantages"] = torch.cat([batch["advantages"], torch.tensor([value for value, _ in rows], device=device)])
    return out


def stack(batch: torch.Tensor, rows: list[list], padding: float, *, left: bool, device) -> torch.Tensor:
    width = max(batch.shape[1], *(len(row) for row in rows))
    before = torch.full((batch.shape[0], width - batch.shape[1]), padding, dtype=batch.dtype, device=device)
    whole = torch.cat([before, batch] if left else [batch, before], dim=1)
    fill = [[padding] * (width - len(row)) for row in rows]
    new = [[*gap, *row] if left else [*row, *gap] for gap, row in zip(fill, rows, strict=True)]
    return torch.cat([whole, torch.tensor(new, dtype=batch.dtype, device=device)])
