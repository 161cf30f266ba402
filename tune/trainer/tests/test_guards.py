"""What ends a run in which nothing moves, or which trains another policy than it samples from."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import conversation, told, write_settings

from homeground_tune.faults import Failed
from homeground_tune.rollouts.guards import WINDOW, Guards
from homeground_tune.settings import RolloutSettings

# A run that moves for ten times as long as it may stand still, and then stands still.
STANDS_STILL = """
import time
from homeground_tune import run
from homeground_tune.__main__ import main

def prepare(settings, rows, validation, events, closing):
    for step in range(20):
        time.sleep(0.3)
        events.emit("step", step=step)
    time.sleep(60)

run.prepare = prepare
main()
"""


def test_a_run_in_which_nothing_moves_ends_with_3_and_says_for_how_long(tmp_path, tiny, write_rows):
    rows = write_rows([conversation(1)])
    output = str(tmp_path / "out")
    file = write_settings(tmp_path, recipe="sft", model={"base": tiny}, data={"train": [rows]}, output=output, stallMinutes=0.05)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    command = [sys.executable, "-c", STANDS_STILL, "run", file]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=False)
    events = [json.loads(line) for line in ended.stdout.splitlines()]
    assert (ended.returncode, [event["event"] for event in events]) == (3, ["start", *["step"] * 20, "failed"])
    assert (events[-1]["message"], "go on from the last checkpoint" in events[-1]["action"]) == (
        "no step has ended for 0.05 minutes",
        True,
    )


@pytest.mark.parametrize(
    ("exact", "mean", "largest", "warns"),
    [(True, 1e-6, 9e-4, False), (True, 1e-4, 2e-3, True), (False, 0.04, 3.0, False), (False, 0.06, 0.1, True)],
)
def test_log_probabilities_apart_are_warned_of_by_what_the_precision_allows(events, exact, mean, largest, warns):
    guards = Guards(RolloutSettings(), events, tape_bound=False, exact=exact)
    for _ in range(WINDOW - 1):
        guards.note_gap(mean, largest)
    assert [warning["code"] for warning in told(events, "warning")] == ["logprob-mismatch"] * warns


def test_log_probabilities_of_another_policy_stop_the_run(events):
    with pytest.raises(Failed) as failed:
        Guards(RolloutSettings(), events, tape_bound=False, exact=False).note_gap(0.6, 4.0)
    assert "0.60 apart on average: what was sampled from is not what is trained" in str(failed.value)
