"""GRPO that generates with vLLM: each step samples from that step's weights; where vLLM is missing or cannot serve them the run is refused."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from conftest import told, write_settings
from rollout_service import FakeService
from test_grpo import GROUP, word_game

from homeground_tune.faults import Refused
from homeground_tune.run import run


@pytest.fixture
def settings(tmp_path, tiny, write_rows):
    service = FakeService(word_game)

    def write(**fields: object) -> str:
        rows = write_rows([{"task": name} for name in ("one", "two", "three")])
        defaults = {
            "recipe": "grpo",
            "model": {"base": tiny},
            "data": {"train": [rows]},
            "output": str(tmp_path / "out"),
            "device": "cpu",
            "optimizer": {"learningRate": 0.02, "perDeviceBatch": GROUP, "maxSteps": 3, "schedule": "constant"},
            "rollouts": {"service": service.url, "group": GROUP, "turnTokens": 6, "rolloutTokens": 200, "generation": "vllm"},
        }
        return write_settings(tmp_path, **{**defaults, **fields})

    yield write
    service.close()


@pytest.fixture
def fake_vllm(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "fake_vllm"))
    yield importlib.import_module("vllm")
    for name in [each for each in sys.modules if each.split(".")[0] == "vllm" or each.endswith("generate_vllm")]:
        del sys.modules[name]


def test_each_step_samples_from_the_weights_that_it_trains(settings, events, fake_vllm, tmp_path):
    fake_vllm.served.clear()
    run(settings(), events)
    steps = told(events, "step")
    assert [number for number, _ in fake_vllm.served] == [1, 2, 3]
    # Weights of the step before would be 0.02 a weight apart, and show.
    assert len(steps) == 3 and all(step["logprobGap"]["max"] <= 1e-4 for step in steps)
    assert all((step["errored"], step["unscored"], step["turns"]) == (0, 0, 2) for step in steps)
    assert not (tmp_path / "out" / "policy").exists()


def test_weights_that_were_not_handed_over_show_as_a_gap(settings, events, fake_vllm, monkeypatch):
    from homeground_tune.policy.generate_vllm import VllmGenerator

    monkeypatch.setattr(VllmGenerator, "forget", lambda self: None)
    run(settings(), events)
    assert told(events, "step")[-1]["logprobGap"]["max"] > 1e-3
    assert "logprob-mismatch" in {warning["code"] for warning in told(events, "warning")}


def test_without_vllm_and_with_whole_weights_the_run_is_refused_before_torch(settings, events):
    with pytest.raises(Refused) as refused:
        run(settings(method="full"), events)
    assert [(fault.field, fault.found) for fault in refused.value.faults] == [
        ("rollouts.generation", "no module vllm"),
        ("rollouts.generation", "vllm"),
    ]
