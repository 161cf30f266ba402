"""Keys and values of what was computed before: a product's calls begin alike (tools, instructions), and a turn begins with the turn before it.

Kept by token ids and adapter, each as one sequence. A batch takes for each job the longest beginning that is kept, of its own conversation or of
another; beginnings of different lengths are padded on the left. The least recently used go, above a share of the memory that is free.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import torch
from transformers import Cache

from ..memory import free_memory
from .growing_cache import growing_cache

# Shorter ones are computed sooner than found.
SHORTEST = 32
# A conversation that is forgotten is computed anew with each of its turns: forty of 1,000 tokens of a small model are 2 GB.
SHARE_OF_FREE_MEMORY = 1 / 8

Key = tuple[str | None, tuple[int, ...]]


@dataclass(frozen=True)
class Kept:
    """Per layer (keys, values), each (1, heads, tokens, size)."""

    layers: list[tuple[torch.Tensor, torch.Tensor]]

    @property
    def bytes(self) -> int:
        return sum(keys.nbytes + values.nbytes for keys, values in self.layers)


class PrefixCache:
    """Models whose cache is no plain one (sliding windows, states) go without."""

    def __init__(self) -> None:
        self.kept: OrderedDict[Key, Kept] = OrderedDict()
        # Found out when there is something to keep: the model is in its place then.
        self.most_bytes: int | None = None

    def clear(self) -> None:
        self.kept.clear()

    def for_jobs(self, model, jobs: list) -> tuple[list[int], Cache | None]:
        """How many first tokens of each job are in the cache, and the cache: as wide as the longest of them. All 0 where nothing is worth it."""
        if not is_plain(model):
            return [0] * len(jobs), None
        found = [self.longest(job) for job in jobs]
        shared = common_prefix([job.prompt for job in jobs])
        # What several share is computed once; what one has is kept when it is generated.
        if len(jobs) > 1 and len(shared) >= SHORTEST and min(length for length, _ in found) < 0.8 * len(shared):
            self.keep((jobs[0].adapter, tuple(shared)), self.compute(model, shared))
            found = [self.longest(job) for job in jobs]
        cache = growing_cache(model.config.num_hidden_layers)
        widest = max(length for length, _ in found)
        if widest > 0:
            for layer in range(model.config.num_hidden_layers):
                cache.update(*self.side_by_side(found, layer, widest), layer)
        return [length for length, _ in found], cache

    def longest(self, job) -> tuple[int, Key | None]:
        """The longest beginning that is kept, without the prompt's last token: something has to be left to predict from."""
        best: tuple[int, Key | None] = (0, None)
        for key in self.kept:
            if key[0] == job.adapter:
                length = same_start(key[1], job.prompt, len(job.prompt) - 1)
                best = (length, key) if length > best[0] else best
        if best[0] < SHORTEST:
            return 0, None
        self.kept.move_to_end(best[1])
        return best

    def side_by_side(self, found: list[tuple[int, Key | None]], layer: int, widest: int) -> tuple[torch.Tensor, torch.Tensor]:
        like = next(self.kept[key].layers[layer] for _, key in found if key is not None)
        both = tuple(each.new_zeros(len(found), each.shape[1], widest, each.shape[3]) for each in like)
        for row, (length, key) in enumerate(found):
            if key is not None:
                for to, of in zip(both, self.kept[key].layers[layer], strict=True):
                    to[row, :, widest - length :] = of[0, :, :length]
        return both

    def compute(self, model, shared: list[int]) -> Kept:
        cache = growing_cache(model.config.num_hidden_layers)
        device = next(model.parameters()).device
        model(input_ids=torch.tensor([shared], device=device), past_key_values=cache, use_cache=True, logits_to_keep=1)
        return Kept([(layer.keys, layer.values) for layer in cache.layers])

    def learn(self, jobs: list, cache: Cache, mask: torch.Tensor) -> None:
        """Keeps what a batch has computed. `mask`: of the cache's places up to the end of the prompts, 1 where a token stands."""
        for row, job in enumerate(jobs):
            # The token that was sampled last has not been computed.
            ids = tuple(job.prompt + job.ids[:-1])
            places = torch.cat([mask[row].nonzero()[:, 0], torch.arange(len(job.ids) - 1, device=mask.device) + mask.shape[1]])
            layers = [(layer.keys[row : row + 1, :, places], layer.values[row : row + 1, :, places]) for layer in cache.layers]
            self.keep((job.adapter, ids), Kept(layers))

    def keep(self, key: Key, kept: Kept) -> None:
        if self.most_bytes is None:
            self.most_bytes = int(free_memory(kept.layers[0][0].is_cuda) * SHARE_OF_FREE_MEMORY)
        # A longer one serves for all that it begins with: a conversation's turn before is not held twice.
        for adapter, ids in [each for each in self.kept if each[0] == key[0] and key[1][: len(each[1])] == each[1]]:
            del self.kept[(adapter, ids)]
        self.kept[key] = kept
        total = sum(each.bytes for each in self.kept.values())
        while total > self.most_bytes and len(self.kept) > 1:
            total -= self.kept.popitem(last=False)[1].bytes


def common_prefix(prompts: list[list[int]]) -> list[int]:
    """Without the last token of any: something has to be left to predict from."""
    first, last = min(prompts), max(prompts)
    return first[: same_start(first, last, min(len(prompt) for prompt in prompts) - 1)]


def same_start(one, other, most: int) -> int:
    most = min(most, len(one), len(other))
    return next((at for at in range(most) if one[at] != other[at]), most)


def is_plain(model) -> bool:
    kinds = getattr(model.config, "layer_types", None)
    return kinds is None or all(kind == "full_attention" for kind in kinds)
