"""The environment's tasks, as they stand in tasks.jsonl. The reward is the score that the environment's own rubric gave; nothing is judged here."""

from __future__ import annotations

import json
from pathlib import Path

import verifiers.v1 as vf


class HomegroundData(vf.TaskData):
    split: str = "train"
    session: str | None = None


class HomegroundTask(vf.Task[HomegroundData]):
    @property
    def key(self) -> str:
        return self.data.id or self.hash

    @vf.reward(weight=1.0)
    async def rubric(self, trace: vf.Trace) -> float:
        """Raises where there is no score: a rollout that could not be scored is an error, never 0."""
        rollout = trace.info.get("homeground")
        if rollout is None or rollout.get("score") is None:
            why = "it was not played" if rollout is None else f"it stopped with `{rollout.get('stop')}`, or a grader could not tell"
            raise vf.TaskError(f"task {self.data.id} has no score: {why}")
        return rollout["score"]

    @vf.metric
    async def criteria(self, trace: vf.Trace) -> dict[str, float]:
        scores = trace.info.get("homeground", {}).get("scores", {})
        return {f"criterion/{name}": each["value"] for name, each in scores.items() if each["value"] is not None}


class HomegroundTaskset(vf.Taskset[HomegroundTask, vf.TasksetConfig]):
    def load(self) -> list[HomegroundTask]:
        text = Path(__file__).with_name("tasks.jsonl").read_text("utf-8")
        return [HomegroundTask(HomegroundData(**json.loads(line)), self.config.task) for line in text.splitlines() if line]
