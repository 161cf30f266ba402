"""Settings are refused in full and before anything heavy is imported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import write_settings

from homeground_tune.faults import Refused
from homeground_tune.read_settings import read_settings


def faults_of(file: str) -> list[tuple[str, str]]:
    with pytest.raises(Refused) as refused:
        read_settings(file)
    return [(fault.field, fault.expected) for fault in refused.value.faults]


def test_all_faults_are_reported_at_once_with_their_fields(tmp_path):
    file = write_settings(
        tmp_path,
        recipe="sfd",
        model={"base": "x", "chat_template": "auto"},
        output="out",
        optimizer={"learningRate": -1, "batchSize": "8", "epochs": 0},
        seed=True,
    )
    assert faults_of(file) == [
        ("recipe", "one of sft, dpo, kto, grpo, distill"),
        ("model.chat_template", "a known field"),
        ("optimizer.learningRate", "a number above 0"),
        ("optimizer.batchSize", "a whole number"),
        ("optimizer.epochs", "a number above 0"),
        ("seed", "a whole number"),
    ]


def test_fields_are_checked_together_and_against_the_disk(tmp_path):
    (tmp_path / "model").mkdir()
    file = write_settings(
        tmp_path,
        recipe="sft",
        model={"base": str(tmp_path / "model"), "quantization": "4bit", "chatTemplate": "no_such"},
        data={"train": [str(tmp_path / "none.jsonl")]},
        output="out",
        method="full",
        device="cpu",
        precision="bf16",
        optimizer={"batchSize": 3, "perDeviceBatch": 2},
    )
    assert [field for field, _ in faults_of(file)] == [
        "model.base",
        "model.chatTemplate",
        "data.train",
        "optimizer.batchSize",
        "model.quantization",
        "model.quantization",
        "precision",
    ]


def test_values_that_no_library_takes_are_refused_here(tmp_path):
    """The seed and the learning rate ended in a library's error after torch was loaded; no layer to adapt meant all of them."""
    file = write_settings(
        tmp_path,
        recipe="grpo",
        model={"base": "x/y"},
        output="out",
        lora={"lastLayers": 0},
        optimizer={"maxSteps": 0, "epochs": float("inf"), "weightDecay": float("nan")},
        rollouts={"offTapeLimit": -1},
        seed=2**32,
    )
    assert faults_of(file) == [
        ("lora.lastLayers", "a number at least 1"),
        ("optimizer.epochs", "a number"),
        ("optimizer.maxSteps", "a number at least 1"),
        ("optimizer.weightDecay", "a number"),
        ("rollouts.offTapeLimit", "a number at least 0"),
        ("seed", "a number at most 4294967295"),
    ]


def test_texts_that_name_no_file_are_refused_by_their_field(tmp_path):
    file = write_settings(tmp_path, recipe="sft", model={"base": "x\0"}, data={"train": ["a\0"]}, output="\0", rollouts={"group": 10**9})
    assert faults_of(file) == [
        ("model.base", "a text without NUL"),
        ("output", "a text without NUL"),
        ("data.train", "a list of texts"),
        ("rollouts.group", "a number at most 10000"),
    ]
    file = write_settings(tmp_path, recipe="sft", model={"base": "x/y"}, data={"train": [__file__]}, output="")
    assert faults_of(file) == [("output", "a folder")]


def test_kto_takes_two_answers_at_once(tmp_path):
    """By default it took one, and ended in TRL's error after torch was loaded."""
    given = {"recipe": "kto", "model": {"base": "x/y"}, "data": {"train": [__file__]}, "output": "out"}
    assert read_settings(write_settings(tmp_path, **given)).optimizer.per_device_batch == 2
    assert faults_of(write_settings(tmp_path, **given, optimizer={"perDeviceBatch": 1})) == [
        ("optimizer.perDeviceBatch", "at least 2 with kto")
    ]


def test_a_run_does_not_write_into_the_model_that_it_begins_with(tmp_path):
    """It replaced the model's own README.md."""
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "config.json").write_text("{}", "utf-8")
    base = str(tmp_path / "base")
    file = write_settings(tmp_path, recipe="sft", model={"base": base}, data={"train": [__file__]}, output=f"{base}/../base")
    assert faults_of(file) == [("output", "another folder than model.base")]


def test_a_gpu_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    file = write_settings(tmp_path, recipe="sft", model={"base": "org/model"}, data={"train": [__file__]}, output="out", device="cuda")
    assert faults_of(file) == [("device", "a CUDA GPU")]


@pytest.mark.parametrize(
    ("visible", "found"),
    [("", "2 processes, and no NVIDIA device on this machine"), ("0", "2 processes, and 1 NVIDIA device on this machine"), ("0,1", None)],
)
def test_more_processes_than_gpus_are_refused(tmp_path, monkeypatch, visible, found):
    """They were started all the same, shared one device or the CPU, and said nothing of it."""
    monkeypatch.setattr(Path, "glob", lambda *_: iter([Path("/dev/nvidia0"), Path("/dev/nvidia1")]))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    file = write_settings(tmp_path, recipe="sft", model={"base": "org/model"}, data={"train": [__file__]}, output="out")
    if found is None:
        read_settings(file)
        return
    with pytest.raises(Refused) as refused:
        read_settings(file)
    assert [(fault.field, fault.found) for fault in refused.value.faults] == [("--gpus", found)]


def test_wrong_settings_end_with_2_and_never_import_torch(tmp_path):
    file = write_settings(tmp_path, recipe="sft", output="out")
    code = "import sys; from homeground_tune.__main__ import main\ntry: main()\nexcept SystemExit as end: print(end.code, 'torch' in sys.modules, file=sys.stderr)"
    ended = subprocess.run([sys.executable, "-c", code, "run", file], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stderr.splitlines()[-1] == "2 False"
    event = json.loads(ended.stdout)
    assert (event["event"], event["code"], event["faults"][0]["field"]) == ("refused", "invalid-settings", "model")
