"""Keys and values of prompts' beginnings: instructions and tools are the same in every call of a product, and a turn begins with the turn before it."""

from __future__ import annotations

import copy
from collections import OrderedDict

import torch
from transformers import DynamicCache

# Shorter ones are computed sooner than found.
SHORTEST = 32
MOST = 8


class PrefixCache:
    """The least recently used of eight goes. Models whose cache is no plain one (sliding windows, states) go without."""

    def __init__(self) -> None:
        self.kept: OrderedDict[tuple[str | None, tuple[int, ...]], DynamicCache] = OrderedDict()

    def clear(self) -> None:
        self.kept.clear()

    def for_jobs(self, model, jobs: list) -> tuple[list[int], DynamicCache | None]:
        """The beginning that all jobs share, with a copy of its keys and values for a batch of them; [] and None where there is none worth it."""
        shared = common_prefix([job.prompt for job in jobs])
        if len(shared) < SHORTEST or not is_plain(model):
            return [], None
        key = self.nearest(jobs[0].adapter, shared)
        if key is None:
            key = (jobs[0].adapter, tuple(shared))
            self.kept[key] = self.compute(model, shared)
            while len(self.kept) > MOST:
                self.kept.popitem(last=False)
        self.kept.move_to_end(key)
        cache = copy.deepcopy(self.kept[key])
        if len(jobs) > 1:
            cache.batch_repeat_interleave(len(jobs))
        return list(key[1]), cache

    def nearest(self, adapter: str | None, shared: list[int]) -> tuple | None:
        """The longest kept beginning of it, if it covers most of it."""
        fits = [key for key in self.kept if key[0] == adapter and len(key[1]) <= len(shared) and list(key[1]) == shared[: len(key[1])]]
        best = max(fits, key=lambda key: len(key[1]), default=None)
        return best if best is not None and len(best[1]) >= 0.8 * len(shared) else None

    def compute(self, model, shared: list[int]) -> DynamicCache:
        cache = DynamicCache(config=model.config)
        device = next(model.parameters()).device
        model(input_ids=torch.tensor([shared], device=device), past_key_values=cache, use_cache=True, logits_to_keep=1)
        return cache


def common_prefix(prompts: list[list[int]]) -> list[int]:
    """Without the last token of any: something has to be left to predict from."""
    first, last = min(prompts), max(prompts)
    most = min(len(prompt) for prompt in prompts) - 1
    length = next((at for at in range(most) if first[at] != last[at]), most)
    return first[:length]


def is_plain(model) -> bool:
    kinds = getattr(model.config, "layer_types", None)
    return kinds is None or all(kind == "full_attention" for kind in kinds)
