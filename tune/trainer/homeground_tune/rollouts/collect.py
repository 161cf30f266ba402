"""One step's rollouts: the service plays them, this thread generates for whoever asks, and what was sampled comes back as rows for TRL.

A rollout's first row takes its place in TRL's batch; the further rows of one whose history was rewritten are handed to the trainer apart,
so that the group's baseline counts each rollout once.
"""

from __future__ import annotations

import random
import secrets
import time
from dataclasses import dataclass, field

from accelerate.utils import gather_object
from trl.models.utils import unwrap_model_for_generation

from ..events import Events
from ..faults import Failed
from ..follow import Follower
from ..policy.generate import Generator
from ..policy.server import PolicyServer
from ..policy.session import Row, Session
from ..settings import Settings
from .curriculum import ALIKE, Curriculum
from .guards import Guards, StepCounts
from .service import Asked, Outcome, Playing, RolloutService


@dataclass
class Rollout:
    """`reward` is None for what broke off, was not scored, asked the policy nothing, or belongs to a dropped group."""

    asked: Asked
    outcome: Outcome
    session: Session
    rows: list[Row] = field(init=False)
    reward: float | None = field(init=False)

    def __post_init__(self) -> None:
        self.rows = self.session.rows()
        self.reward = self.outcome.score if self.rows else None

    @property
    def errored(self) -> bool:
        return self.outcome.error is not None or not self.rows


@dataclass
class Collector:
    """What TRL calls as `rollout_func`."""

    settings: Settings
    service: RolloutService
    server: PolicyServer
    generator: Generator
    curriculum: Curriculum
    guards: Guards
    follower: Follower
    events: Events
    tokenizer: object
    # Further rows of this step's rollouts: place in the batch, row.
    further: list[tuple[int, Row]] = field(default_factory=list)
    key: str = field(default_factory=lambda: secrets.token_hex(8))

    def __call__(self, prompts: list, trainer) -> dict:
        step, accelerator = trainer.state.global_step + 1, trainer.accelerator
        tasks = self.curriculum.next()
        group = self.settings.rollouts.group
        share = len(prompts) // group
        mine = tasks[accelerator.process_index * share :][:share]
        asked = [
            Asked(f"{self.key}-{step}-{accelerator.process_index}-{place}", task, place % group)
            for place, task in enumerate(each for task in mine for each in [task] * group)
        ]
        started = time.monotonic()
        with unwrap_model_for_generation(trainer.model_wrapped, accelerator) as model:
            training = model.training
            model.eval()
            try:
                rollouts = self.play(asked, model, step)
            finally:
                model.train(training)
        groups = [rollouts[start : start + group] for start in range(0, len(rollouts), group)]
        dropped = sum(drop_if_mostly_unscored(each) for each in groups)
        told = [tell(each) for each in groups]
        everyones: list[dict] = gather_object(told)
        for each in everyones:
            self.curriculum.note(each["task"], each["rewards"])
        self.report(everyones, sum(gather_object([dropped])), time.monotonic() - started)
        return self.batch(rollouts)

    def play(self, asked: list[Asked], model, step: int) -> list[Rollout]:
        """Raises Failed when the service is silent, breaks off or lies."""
        sessions = {each.id: Session(seed=seed_of(self.settings.seed, step, each)) for each in asked}
        self.generator.forget()
        self.server.sessions.update(sessions)
        outcomes: dict[str, Outcome] = {}
        try:
            playing = self.service.play(asked, policy=f"http://127.0.0.1:{self.server.port}/s/{{id}}/v1", step=step)
            moved = time.monotonic()
            while playing.open:
                generated = self.generator.pump(model, wait=0.02)
                came = {outcome.id: outcome for outcome in playing.taken()}
                outcomes |= came
                if generated or came:
                    moved = self.events.last_at = time.monotonic()
                elif time.monotonic() - moved > self.settings.rollouts.timeout_seconds:
                    raise silent(playing, len(asked), self.settings.rollouts.timeout_seconds)
        finally:
            for name in sessions:
                self.server.sessions.pop(name, None)
            self.generator.refuse_waiting("the rollout has ended")
        return [Rollout(each, outcomes[each.id], sessions[each.id]) for each in asked]

    def batch(self, rollouts: list[Rollout]) -> dict:
        nothing = Row([self.tokenizer.pad_token_id], [self.tokenizer.eos_token_id], [0.0], [0])
        first = [rollout.rows[0] if rollout.rows else nothing for rollout in rollouts]
        self.further = [(place, row) for place, rollout in enumerate(rollouts) for row in rollout.rows[1:]]
        return {
            "prompt_ids": [row.prompt for row in first],
            "completion_ids": [row.completion for row in first],
            "logprobs": [row.logprobs for row in first],
            "env_mask": [row.mask for row in first],
            "rollout_reward": [rollout.reward for rollout in rollouts],
        }

    def report(self, groups: list[dict], dropped: int, seconds: float) -> None:
        """Puts the step's figures beside TRL's own, and lets the guards look at them."""
        rollouts = [each for group in groups for each in group["rollouts"]]
        scored = [each["reward"] for each in rollouts if each["reward"] is not None]
        counts = StepCounts(
            rollouts=len(rollouts),
            errored=sum(each["errored"] for each in rollouts),
            unscored=len(rollouts) - len(scored),
            off_tape=sum(each["offTape"] > 0 for each in rollouts),
            groups=len(groups),
            dropped=dropped,
            alike=sum(alike(group["rewards"]) for group in groups),
        )
        self.follower.extra = {
            "rollouts": counts.rollouts,
            "errored": counts.errored,
            "unscored": counts.unscored,
            "droppedGroups": counts.dropped,
            "zeroVarianceShare": counts.alike / counts.groups,
            "offTapeShare": counts.off_tape / counts.rollouts,
            "cappedShare": mean([float(each["capped"]) for each in rollouts]),
            "turns": mean([float(each["turns"]) for each in rollouts]),
            "splitRows": sum(each["rows"] - 1 for each in rollouts if each["rows"] > 1),
            "repairedTurns": sum(each["repaired"] for each in rollouts),
            "rolloutTokens": mean([float(each["tokens"]) for each in rollouts]),
            "rolloutSeconds": round(seconds, 2),
            "criteria": by_criterion(rollouts),
            "stops": count([each["stop"] for each in rollouts]),
        }
        example = next((each["error"] for each in rollouts if each["error"]), None)
        self.guards.note(counts, example)


def tell(group: list[Rollout]) -> dict:
    """What all processes have to know of a group: plain data."""
    return {
        "task": group[0].asked.task,
        "rewards": [each.reward for each in group],
        "rollouts": [
            {
                "reward": each.reward,
                "errored": each.errored,
                "error": each.outcome.error or (None if each.rows else "it never asked the policy"),
                "stop": each.outcome.stop,
                "offTape": each.outcome.off_tape,
                "criteria": each.outcome.criteria,
                "capped": each.session.capped > 0,
                "turns": len(each.session.turns),
                "repaired": each.session.repaired,
                "rows": len(each.rows),
                "tokens": sum(len(row.prompt) + len(row.completion) for row in each.rows),
            }
            for each in group
        ],
    }


def drop_if_mostly_unscored(group: list[Rollout]) -> bool:
    """A baseline of less than half of a group says more about what failed than about the policy."""
    unscored = sum(rollout.reward is None for rollout in group)
    if unscored * 2 <= len(group):
        return False
    for rollout in group:
        rollout.reward = None
    return True


def alike(rewards: list[float | None]) -> bool:
    scored = [reward for reward in rewards if reward is not None]
    return len(scored) > 1 and max(scored) - min(scored) <= ALIKE


def by_criterion(rollouts: list[dict]) -> dict[str, float | None]:
    names = sorted({name for rollout in rollouts for name in rollout["criteria"]})
    return {name: mean([value for each in rollouts if (value := each["criteria"].get(name)) is not None]) for name in names}


def count(words: list[str]) -> dict[str, int]:
    return {word: words.count(word) for word in sorted(set(words))}


def mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def seed_of(seed: int, step: int, asked: Asked) -> int:
    return random.Random(f"{seed} {step} {asked.task} {asked.repeat}").getrandbits(48)


def silent(playing: Playing, planned: int, seconds: float) -> Failed:
    back = planned - len(playing.open)
    return Failed(
        f"the rollout service is silent: {back} of {planned} rollouts are back, and for {seconds:g} s none came and none asked the policy",
        "look at the harness: it may hang; raise rollouts.timeoutSeconds if it is only slow",
    )
