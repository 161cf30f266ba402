"""What every recipe starts from: settings, rows, tokenizer, the model's shape, the device, and where to tell what happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import memory
from .events import Events
from .follow import Follower
from .model import Device
from .model_files import ModelShape
from .rows import Row
from .settings import Settings


@dataclass
class Prepared:
    settings: Settings
    rows: list[Row]
    validation: list[Row]
    folder: str
    tokenizer: object
    template: str
    shape: ModelShape
    device: Device
    events: Events
    follower: Follower
    # Called when the run ends, however it ends.
    closing: list[Callable[[], None]]

    def check_memory(self, longest: int) -> None:
        """Raises Refused with numbers where the run cannot fit. `longest` is in tokens."""
        need = memory.estimate(self.shape, self.settings, cuda=self.device.cuda, tokens=longest)
        free = memory.free_memory(self.device.cuda)
        self.events.emit("memory", **need.event(), free=free)
        memory.refuse_if_too_big(need, free, self.settings, "on the GPU" if self.device.cuda else "in this machine")
        memory.refuse_if_disk_full(self.settings, self.shape, need.trainable)
