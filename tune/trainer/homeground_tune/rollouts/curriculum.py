"""Which tasks a step plays: all in turn, shuffled anew each time round. A task whose rollouts were all alike teaches nothing and rests for a while.

It rests for one turn, then two, four, eight: never for ever, since the policy changes. The order depends on the seed and what was noted only.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

LONGEST_REST = 8
ALIKE = 1e-9


class Curriculum:
    def __init__(self, tasks: list[str], *, seed: int, per_step: int, rests: bool) -> None:
        self.tasks = list(dict.fromkeys(tasks))
        self.seed = seed
        self.per_step = per_step
        self.rests = rests
        self.position = 0
        # By task: turns still to rest, groups alike in a row, mean reward of its last group.
        self.resting: dict[str, int] = {}
        self.alike: dict[str, int] = {}
        self.pass_rates: dict[str, float] = {}

    def next(self) -> list[str]:
        """The tasks of the next step; one twice only where there are too few."""
        chosen: list[str] = []
        passed_over = 0
        while len(chosen) < self.per_step:
            task = self.at(self.position)
            self.position += 1
            full = len(set(chosen)) == len(self.tasks)
            if (task in chosen and not full) or (self.is_resting(task) and passed_over < 2 * len(self.tasks)):
                passed_over += 1
                continue
            chosen.append(task)
        return chosen

    def at(self, position: int) -> str:
        turn, place = divmod(position, len(self.tasks))
        return random.Random(f"{self.seed} {turn}").sample(self.tasks, len(self.tasks))[place]

    def is_resting(self, task: str) -> bool:
        left = self.resting.get(task, 0)
        self.resting[task] = max(0, left - 1)
        return left > 0

    def note(self, task: str, rewards: list[float | None]) -> None:
        """How the rollouts of a task's group were scored."""
        scored = [reward for reward in rewards if reward is not None]
        if len(scored) < 2:
            return
        self.pass_rates[task] = sum(scored) / len(scored)
        if max(scored) - min(scored) > ALIKE:
            self.alike[task] = 0
            return
        self.alike[task] = self.alike.get(task, 0) + 1
        if self.rests:
            self.resting[task] = min(2 ** (self.alike[task] - 1), LONGEST_REST)

    def save(self, file: Path) -> None:
        names = ("position", "resting", "alike", "pass_rates")
        file.write_text(json.dumps({name: getattr(self, name) for name in names}), "utf-8")

    def load(self, file: Path) -> None:
        for name, value in json.loads(file.read_text("utf-8")).items():
            setattr(self, name, value)
