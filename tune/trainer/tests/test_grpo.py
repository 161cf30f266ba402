"""GRPO on rollouts of a harness: exact log-probabilities, no bias from what broke off, a run that goes on, and guards that speak."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path

import pytest
import torch
from conftest import told, write_settings
from rollout_service import FakeService, ask
from test_sft import kill_after

from homeground_tune.faults import Failed, Refused
from homeground_tune.recipes.grpo_trainer import CurriculumKeeper, HarnessTrainer
from homeground_tune.run import run

GROUP = 6


def word_game(policy: str, task: str, repeat: int) -> dict:
    """Two turns; the score is the share of the answer's letters that are vowels, so that scores of a random model differ."""
    messages = [{"role": "user", "content": f"Say {task}."}]
    first = ask(policy, messages)
    second = ask(policy, [*messages, first, {"role": "user", "content": "Again."}])
    text = f"{first['content']}{second['content']}"
    score = sum(letter in "aeiou" for letter in text) / max(1, len(text))
    return {"score": score, "criteria": {"vowels": score, "other": None}}


@pytest.fixture
def start(tmp_path, tiny, write_rows, events):
    services: list[FakeService] = []

    def settings(play=word_game, output="out", rollouts=None, optimizer=None, service=None, **options) -> str:
        if service is None:
            service = FakeService(play, **options)
            services.append(service)
        rows = write_rows([{"task": name} for name in ("one", "two", "three")])
        return write_settings(
            tmp_path,
            recipe="grpo",
            model={"base": tiny},
            method="full",
            data={"train": [rows]},
            output=str(tmp_path / output),
            device="cpu",
            optimizer={"learningRate": 1e-3, "perDeviceBatch": GROUP, "maxSteps": 3, "schedule": "constant", **(optimizer or {})},
            rollouts={
                "service": service.url,
                "group": GROUP,
                "turnTokens": 6,
                "rolloutTokens": 200,
                "timeoutSeconds": 20,
                **(rollouts or {}),
            },
            checkpoints={"everySteps": 2},
        )

    yield settings
    for service in services:
        service.close()


def batches(monkeypatch) -> list[tuple[list, torch.Tensor]]:
    """What each step's rollouts earned, and the advantages that training gets."""
    seen: list[tuple[list, torch.Tensor]] = []
    before = HarnessTrainer._generate_and_score_completions

    def generate(self, inputs):
        batch = before(self, inputs)
        seen.append(([each["rollout_reward"] for each in inputs], batch["advantages"]))
        return batch

    monkeypatch.setattr(HarnessTrainer, "_generate_and_score_completions", generate)
    return seen


def test_what_was_sampled_is_what_is_trained_and_a_step_says_how_it_went(start, events, tmp_path):
    run(start(), events)
    steps = told(events, "step")
    assert len(steps) == 3
    for step in steps:
        assert 0 < step["logprobGap"]["max"] <= 1e-4
        assert (step["rollouts"], step["errored"], step["unscored"], step["splitRows"], step["turns"]) == (GROUP, 0, 0, 0, 2)
        assert step["criteria"] == {"other": None, "vowels": pytest.approx(step["reward"], abs=1e-5)}
        assert step["stops"] == {"done": GROUP}
    assert told(events, "warning") == []
    result = json.loads((tmp_path / "out" / "result.json").read_text("utf-8"))
    assert result["reward"] == {"first": steps[0]["reward"], "last": steps[-1]["reward"]}


def test_a_harness_that_crashes_two_times_in_five_leaves_the_baseline_to_the_others(start, events, monkeypatch):
    seen = batches(monkeypatch)

    def crashing(policy: str, task: str, repeat: int) -> dict:
        ask(policy, [{"role": "user", "content": task}])
        if repeat in (1, 4):
            raise RuntimeError("the product broke")
        return {"score": [1.0, 0.0, 0.5, 0.75][repeat % 4]}

    run(start(crashing), events)
    assert all(abs(step["loss"]) < 10 for step in told(events, "step"))
    for rewards, advantages in seen:
        assert rewards == [1.0, None, 0.5, 0.75, None, 0.0]
        # The mean of 1, 0.5, 0.75 and 0 is 0.5625; with crashes counted as 0 it were 0.375.
        spread = torch.tensor([1.0, 0.5, 0.75, 0.0]).std() + 1e-4
        expected = torch.tensor([0.4375, 0.0, -0.0625, 0.1875, 0.0, -0.5625]) / spread
        assert torch.allclose(advantages, expected, atol=1e-4)
    (warning,) = told(events, "warning")
    assert (warning["code"], "33%" in warning["message"], "the product broke" in warning["message"]) == ("errored-rollouts", True, True)


def test_crashes_do_not_move_the_mean_advantage(start, events, monkeypatch):
    """Random crashes, forty in a hundred: over all steps the scored rollouts' advantages still sum to nothing."""
    seen = batches(monkeypatch)
    dice = random.Random(3)

    def crashing(policy: str, task: str, repeat: int) -> dict:
        ask(policy, [{"role": "user", "content": task}])
        if dice.random() < 0.4:
            raise RuntimeError("broke")
        return {"score": dice.random()}

    run(start(crashing, optimizer={"maxSteps": 6}), events)
    for rewards, advantages in seen:
        assert torch.isfinite(advantages).all()
        assert abs(advantages.sum().item()) < 1e-4
        assert all(advantage == 0 for reward, advantage in zip(rewards, advantages.tolist(), strict=True) if reward is None)


def test_a_group_that_is_mostly_unscored_is_dropped_and_counted(start, events, monkeypatch):
    seen = batches(monkeypatch)

    def mostly(policy: str, task: str, repeat: int) -> dict:
        ask(policy, [{"role": "user", "content": task}])
        return {"score": repeat / 10 if repeat < 2 else None}

    run(start(mostly, optimizer={"maxSteps": 1}), events)
    (step,) = told(events, "step")
    assert (step["droppedGroups"], step["unscored"], step["errored"]) == (1, GROUP, 0)
    assert seen[0][0] == [None] * GROUP and not seen[0][1].any()


def test_rewritten_history_becomes_a_row_of_its_own_with_the_rollouts_advantage(start, events, monkeypatch):
    seen = batches(monkeypatch)

    def compacting(policy: str, task: str, repeat: int) -> dict:
        ask(policy, [{"role": "user", "content": task}])
        if repeat == 2:
            ask(policy, [{"role": "user", "content": f"In short: {task}"}])
        return {"score": repeat / 10}

    run(start(compacting, optimizer={"maxSteps": 1}), events)
    (step,) = told(events, "step")
    (_, advantages) = seen[0]
    assert step["splitRows"] == 1
    assert step["logprobGap"]["max"] <= 1e-4
    assert (len(advantages), advantages[GROUP].item()) == (GROUP + 1, advantages[2].item())


def test_a_run_killed_with_kill_9_goes_on_with_step_optimizer_and_data_position(start, events, tmp_path, monkeypatch):
    service = FakeService(word_game)
    run(start(service=service, output="whole", optimizer={"maxSteps": 4}), events)
    whole = [body["rollouts"][0]["task"] for body in service.asked]
    halted = tmp_path / "halted"
    settings = start(service=service, output="halted", optimizer={"maxSteps": 4})
    # While it plays for step 4: what step 3 did is lost with the process.
    kill_after(settings, 3)
    assert {each.name for each in halted.glob("checkpoint-*")} == {"checkpoint-2"}
    service.asked.clear()
    saved = torch.load(halted / "checkpoint-2" / "optimizer.pt", weights_only=True)
    position = json.loads((halted / "checkpoint-2" / "curriculum.json").read_text("utf-8"))["position"]
    found: dict = {}
    before = CurriculumKeeper.on_train_begin

    def on_train_begin(self, args, state, control, optimizer=None, **rest):
        before(self, args, state, control, **rest)
        found.update(step=state.global_step, position=self.curriculum.position, optimizer=copy.deepcopy(optimizer.state_dict()))

    monkeypatch.setattr(CurriculumKeeper, "on_train_begin", on_train_begin)
    run(settings, events)
    service.close()
    assert (found["step"], found["position"]) == (2, position)
    for key, state in saved["state"].items():
        loaded = found["optimizer"]["state"][key]
        assert all(torch.equal(state[name], loaded[name]) for name in ("exp_avg", "exp_avg_sq", "step"))
    assert [body["rollouts"][0]["task"] for body in service.asked] == whole[2:]
    assert told(events, "training")[-1]["resumedFrom"] == "checkpoint-2"
    rewards = [step["reward"] for step in told(events, "step")]
    assert rewards[4:] == pytest.approx(rewards[2:4], abs=1e-6), "each turn is sampled by a seed of its own"


def off_tape(policy: str, task: str, repeat: int) -> dict:
    ask(policy, [{"role": "user", "content": task}])
    return {"score": repeat / 10, "offTape": int(repeat < 3)}


def test_rollouts_off_the_tape_stop_a_run_that_only_has_recordings(start, events):
    with pytest.raises(Failed) as failed:
        run(start(off_tape, tape_bound=True, optimizer={"maxSteps": 9}), events)
    assert "50% of the rollouts of the last 5 steps left the tape" in str(failed.value)
    assert told(events, "step")[-1]["offTapeShare"] == 0.5


def test_rollouts_off_the_tape_warn_where_tools_answer_otherwise_too(start, events):
    run(start(off_tape, optimizer={"maxSteps": 5}), events)
    assert [warning["code"] for warning in told(events, "warning")] == ["off-tape"]


def broken(policy: str, task: str, repeat: int) -> dict:
    raise RuntimeError("no module of that name")


def alike(policy: str, task: str, repeat: int) -> dict:
    ask(policy, [{"role": "user", "content": task}])
    return {"score": 1.0}


def deaf(policy: str, task: str, repeat: int) -> dict:
    return {"score": 1.0}


@pytest.mark.parametrize(("play", "words"), [(broken, "no module of that name"), (deaf, "it never asked the policy")])
def test_rollouts_that_never_score_stop_the_run_with_the_reason(start, events, play, words):
    with pytest.raises(Failed) as failed:
        run(start(play, optimizer={"maxSteps": 9}), events)
    assert ("no rollout of the last three steps has a score" in str(failed.value), words in str(failed.value)) == (True, True)


def test_groups_that_are_all_alike_are_warned_of(start, events):
    run(start(alike, optimizer={"maxSteps": 5}, rollouts={"curriculum": False}), events)
    assert [warning["code"] for warning in told(events, "warning")] == ["zero-variance"]
    assert told(events, "step")[0]["zeroVarianceShare"] == 1


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (lambda lines: [line.replace('"score": ', '"score": 1') for line in lines], "is no score between 0 and 1"),
        (lambda lines: [lines[0], *lines], "twice"),
        (lambda lines: lines[1:], "without 1 of the rollouts"),
        (lambda lines: ["<html>", *lines], "answered with what cannot be"),
        (lambda lines: [lines[0].replace('"offTape": 0', '"offTape": Infinity')], "answered with what cannot be"),
        (lambda lines: [lines[0].replace('"id": "', '"id": ["').replace('", "score"', '"], "score"')], "not asked for"),
        (lambda lines: ["[" * 100_000], "answered with what cannot be"),
        (lambda lines: ["x" * 2**23], "answered with what cannot be"),
        (lambda lines: ['{"failed": "task x is of the split test", "hint": "write the tasks anew"}'], "of the split test"),
    ],
)
def test_a_service_that_lies_is_caught(start, events, lines, words):
    with pytest.raises(Failed) as failed:
        run(start(lambda policy, task, repeat: {**alike(policy, task, repeat), "score": 0.5}, lines=lines), events)
    assert words in str(failed.value)


def test_a_proxy_of_the_environment_is_not_asked_for_the_service(start, events, monkeypatch):
    """It is on this machine: behind a company's proxy no run of grpo could begin."""
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    run(start(alike, optimizer={"maxSteps": 1}), events)
    assert told(events, "step")[0]["errored"] == 0


def test_a_service_that_hangs_or_is_not_there_ends_the_run_within_its_time(start, events):
    def hanging(policy: str, task: str, repeat: int) -> dict:
        import time

        time.sleep(4)
        return {}

    with pytest.raises(Failed) as failed:
        run(start(hanging, rollouts={"timeoutSeconds": 1}), events)
    assert "0 of 6 rollouts are back" in str(failed.value)
    gone = FakeService(word_game)
    gone.close()
    with pytest.raises(Failed) as failed:
        run(start(service=gone, output="other"), events)
    assert "the rollout service does not answer" in str(failed.value)


def test_another_environment_and_settings_that_do_not_fit_are_refused(start, events):
    with pytest.raises(Refused) as refused:
        run(start(rollouts={"environment": "e" * 64}), events)
    assert refused.value.code == "run-mismatch"
    file = Path(start(output="more", optimizer={"perDeviceBatch": 4}, rollouts={"turnTokens": 200}))
    with pytest.raises(Refused) as refused:
        run(str(file), events)
    assert [fault.field for fault in refused.value.faults] == ["optimizer.perDeviceBatch", "rollouts.turnTokens"]


def test_a_rollout_that_used_its_tokens_up_is_answered_with_nothing_and_scored_all_the_same(start, events):
    def talkative(policy: str, task: str, repeat: int) -> dict:
        messages = [{"role": "user", "content": task}]
        said: list[str] = []
        for _ in range(9):
            reply = ask(policy, messages)
            messages += [reply, {"role": "user", "content": "Go on."}]
            said.append(reply["content"])
            if reply["content"] == "":
                break
        return {"score": repeat / 10}

    run(start(talkative, optimizer={"maxSteps": 1}, rollouts={"rolloutTokens": 80}), events)
    (step,) = told(events, "step")
    assert (step["cappedShare"] > 0, step["unscored"], step["rolloutTokens"] <= 80) == (True, 0, True)
