"""Looks at each step's rollouts for what makes reinforcement learning fail quietly, warns loudly, and stops where going on would be worse."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from ..events import Events
from ..faults import Failed
from ..settings import RolloutSettings

WINDOW = 5


@dataclass(frozen=True)
class StepCounts:
    """Of one step, all processes together."""

    rollouts: int
    errored: int
    unscored: int
    off_tape: int
    groups: int
    # More than half of the group had no score.
    dropped: int
    # All scores of the group were alike.
    alike: int


class Guards:
    """`note` is called once a step. A warning is repeated once the window is full of new steps."""

    def __init__(self, settings: RolloutSettings, events: Events, *, tape_bound: bool, exact: bool) -> None:
        self.settings = settings
        self.events = events
        self.tape_bound = tape_bound
        # fp32: sampling and training compute the same numbers.
        self.exact = exact
        self.last: deque[StepCounts] = deque(maxlen=WINDOW)
        self.steps = 0
        self.warned: dict[str, int] = {}

    def note(self, counts: StepCounts, example: str | None) -> None:
        """Raises Failed. `example` is what one of the errored rollouts said."""
        self.last.append(counts)
        self.steps += 1
        rollouts = sum(each.rollouts for each in self.last)
        errored = sum(each.errored for each in self.last) / rollouts
        if len(self.last) >= 3 and all(each.unscored == each.rollouts for each in list(self.last)[-3:]):
            raise Failed(
                f"no rollout of the last three steps has a score; one said: {example or 'nothing'}",
                "see that `homeground run ENV --arm …` scores rollouts, then run the same command: it goes on from its last checkpoint",
            )
        if errored > self.settings.error_limit:
            self.warn(
                "errored-rollouts",
                f"{errored:.0%} of the last {rollouts} rollouts failed (limit {self.settings.error_limit:.0%}); they have no score; one said: {example or 'nothing'}",
            )
        if len(self.last) < WINDOW:
            return
        groups = sum(each.groups for each in self.last)
        alike = sum(each.alike for each in self.last) / groups
        if alike > 0.8:
            self.warn(
                "zero-variance",
                f"{alike:.0%} of the last {groups} groups were scored all alike and teach nothing: tasks too hard or too easy, or a model that was not warmed by sft",
            )
        self.watch_tape(sum(each.off_tape for each in self.last) / rollouts)

    def watch_tape(self, share: float) -> None:
        limit = self.settings.off_tape_limit
        if limit is None or share <= limit:
            return
        if self.tape_bound:
            raise Failed(
                f"{share:.0%} of the rollouts of the last {WINDOW} steps left the tape (limit {limit:.0%}): recordings can only reinforce what was recorded",
                "set mode mock, simulate or live for those tools in env.json, record more, or raise rollouts.offTapeLimit",
            )
        self.warn("off-tape", f"{share:.0%} of the rollouts of the last {WINDOW} steps left the tape")

    def note_gap(self, mean: float, largest: float) -> None:
        """How far the log-probabilities of sampling and training are apart. Raises Failed where two policies are at work."""
        if mean > 0.5:
            raise Failed(
                f"sampled and trained log-probabilities are {mean:.2f} apart on average: what was sampled from is not what is trained",
                "look for a model that computes otherwise in generation than in training (dropout, quantised caches), and report it",
            )
        if largest > 1e-3 if self.exact else mean > 0.05:
            self.warn("logprob-mismatch", f"sampled and trained log-probabilities are {mean:.2g} apart on average, {largest:.2g} at most")

    def warn(self, code: str, message: str) -> None:
        if self.steps - self.warned.get(code, -WINDOW) >= WINDOW:
            self.warned[code] = self.steps
            self.events.warn(code, message)
