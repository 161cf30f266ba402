"""A cache of keys and values that grows in place: the library's own copies all that it holds for each token that is added."""

from __future__ import annotations

import torch
from transformers import Cache
from transformers.cache_utils import DynamicLayer

# How many tokens' room is made at once.
STEP = 64


class GrowingLayer(DynamicLayer):
    """`keys` and `values`, (batch, heads, tokens, size), are views of the room that was made."""

    room: tuple[torch.Tensor, torch.Tensor] | None = None

    def update(self, key_states: torch.Tensor, value_states: torch.Tensor, *args: object, **kwargs: object):
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        held = self.get_seq_length()
        end = held + key_states.shape[-2]
        if self.room is None or end > self.room[0].shape[-2]:
            self.make_room(key_states, value_states, held, end)
        for room, states in zip(self.room, (key_states, value_states), strict=True):
            room[:, :, held:end] = states
        self.keys, self.values = (room[:, :, :end] for room in self.room)
        return self.keys, self.values

    def make_room(self, key_states: torch.Tensor, value_states: torch.Tensor, held: int, end: int) -> None:
        rooms = [states.new_empty(*states.shape[:2], end + STEP, states.shape[-1]) for states in (key_states, value_states)]
        if held > 0:
            for room, states in zip(rooms, (self.keys, self.values), strict=True):
                room[:, :, :held] = states
        self.room = (rooms[0], rooms[1])


def growing_cache(layers: int) -> Cache:
    return Cache(layers=[GrowingLayer() for _ in range(layers)])
