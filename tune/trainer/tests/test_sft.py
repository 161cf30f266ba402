"""A run of `sft` from its settings to its result: it learns, it goes on bit for bit after a kill -9, it says what does not fit."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import conversation, told, write_settings

from homeground_tune import memory
from homeground_tune.events import Events
from homeground_tune.faults import Failed, Refused, is_disk_full
from homeground_tune.follow import Follower
from homeground_tune.run import run


def settings(tmp_path: Path, tiny: str, rows: str, output: str = "out", **fields: object) -> str:
    defaults = {
        "recipe": "sft",
        "model": {"base": tiny},
        "data": {"train": [rows]},
        "output": str(tmp_path / output),
        "optimizer": {"learningRate": 5e-3, "batchSize": 4, "perDeviceBatch": 4, "epochs": 4},
        "checkpoints": {"everySteps": 3},
        "device": "cpu",
    }
    return write_settings(tmp_path, **{**defaults, **fields})


@pytest.mark.parametrize("method", ["lora", "full"])
def test_the_model_learns_the_rows_and_the_output_says_all(tmp_path, tiny, write_rows, events, method):
    rows = write_rows([conversation(number) for number in range(12)])
    held_out = write_rows([conversation(number) for number in range(50, 54)], "validation.jsonl")
    run(settings(tmp_path, tiny, rows, data={"train": [rows], "validation": [held_out]}, method=method), events)
    (end,) = told(events, "end")
    assert end["validationLoss"][-1] < end["validationLoss"][0] * 0.9
    assert (end["steps"], end["kind"]) == (12, "adapter" if method == "lora" else "model")
    saved = {file.name for file in (tmp_path / "out" / end["path"]).iterdir()}
    assert saved >= {"tokenizer.json", "chat_template.jinja", "adapter_model.safetensors" if method == "lora" else "model.safetensors"}
    assert [step["step"] for step in told(events, "step")] == list(range(1, 13))
    assert told(events, "rows")[0]["kept"] == 12
    lines = [json.loads(line) for line in (tmp_path / "out" / "metrics.jsonl").read_text("utf-8").splitlines()]
    assert [line["event"] for line in lines if line["event"] != "step"][:3] == ["start", "rows", "rows"]


def test_a_run_killed_with_kill_9_goes_on_to_the_same_weights_bit_for_bit(tmp_path, tiny, write_rows, events):
    rows = write_rows([conversation(number) for number in range(12)])
    run(settings(tmp_path, tiny, rows, "whole"), events)
    halted = settings(tmp_path, tiny, rows, "halted")
    kill_after(halted, 8)
    # What a kill leaves while a checkpoint is written: files, and no mark.
    shutil.copytree(tmp_path / "halted" / "checkpoint-6", tmp_path / "halted" / "checkpoint-7")
    os.truncate(tmp_path / "halted" / "checkpoint-7" / "optimizer.pt", 100)
    run(halted, events)
    assert told(events, "warning")[-1]["code"] == "torn-checkpoint"
    assert told(events, "training")[-1]["resumedFrom"] == "checkpoint-6"
    whole, resumed = ((tmp_path / name / "adapter" / "adapter_model.safetensors").read_bytes() for name in ("whole", "halted"))
    assert resumed == whole


def kill_after(settings_file: str, step: int) -> None:
    """Runs it in a process of its own, and ends that with SIGKILL once this step was told."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    process = subprocess.Popen(
        [sys.executable, "-m", "homeground_tune", "run", settings_file], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    )
    for line in process.stdout:
        event = json.loads(line)
        if event["event"] == "step" and event["step"] == step:
            break
    process.kill()
    process.stdout.close()
    assert process.wait() == -signal.SIGKILL


def stop_at(monkeypatch, step: int) -> None:
    before = Follower.on_step_end

    def on_step_end(self, args, state, control, **rest):
        if state.global_step == step:
            raise KeyboardInterrupt
        return before(self, args, state, control, **rest)

    monkeypatch.setattr(Follower, "on_step_end", on_step_end)


def test_an_output_folder_of_another_run_is_refused_and_a_finished_one_is_left_alone(tmp_path, tiny, write_rows, events):
    rows = write_rows([conversation(number) for number in range(4)])
    fast = {"learningRate": 1e-3, "batchSize": 4, "perDeviceBatch": 4, "maxSteps": 1}
    run(settings(tmp_path, tiny, rows, optimizer=fast), events)
    run(settings(tmp_path, tiny, rows, optimizer=fast), events)
    # What another recipe reads, and a later version may know more of, is no other run.
    run(settings(tmp_path, tiny, rows, optimizer=fast, rollouts={"group": 4}), events)
    assert [end["already"] for end in told(events, "end")] == [False, True, True]
    with pytest.raises(Refused) as refused:
        run(settings(tmp_path, tiny, rows, optimizer=fast, seed=1), events)
    assert (refused.value.code, "another seed" in str(refused.value)) == ("run-mismatch", True)


def test_an_output_folder_with_somebody_elses_files_is_refused(tmp_path, tiny, write_rows, events):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "README.md").write_text("mine", "utf-8")
    (tmp_path / "out" / "checkpoint-old").mkdir()
    file = settings(tmp_path, tiny, write_rows([conversation(number) for number in range(4)]), optimizer={"maxSteps": 1})
    with pytest.raises(Refused) as refused:
        run(file, events)
    assert (refused.value.code, "with README.md of something else" in str(refused.value)) == ("run-mismatch", True)
    (tmp_path / "out" / "README.md").unlink()
    shutil.copy(Path(tiny) / "config.json", tmp_path / "out")
    with pytest.raises(Refused) as refused:
        run(file, events)
    assert "with config.json of something else" in str(refused.value)
    (tmp_path / "out" / "config.json").unlink()
    run(file, events)
    (tmp_path / "out" / "started.json").write_text("[", "utf-8")
    with pytest.raises(Refused) as refused:
        run(file, events)
    assert refused.value.faults[0].action == "name another folder, or delete this one to start over"


def test_of_several_processes_the_first_alone_claims_the_folder(tmp_path, tiny, write_rows, monkeypatch):
    """They start at one moment: each found what the other had just written, or wrote over it."""
    found: list[Path] = []

    def prepare(*_: object) -> None:
        found.extend((tmp_path / "out").iterdir())
        raise Refused("invalid-settings", [])

    monkeypatch.setenv("RANK", "1")
    monkeypatch.setattr("homeground_tune.run.prepare", prepare)
    with pytest.raises(Refused):
        run(settings(tmp_path, tiny, write_rows([conversation(1)])), Events(io.StringIO()))
    assert found == []


@pytest.mark.parametrize(
    "tear",
    [
        lambda checkpoint: os.truncate(checkpoint / "adapter_model.safetensors", 1000),
        lambda checkpoint: os.truncate(checkpoint / "trainer_state.json", 10),
        lambda checkpoint: (checkpoint / "optimizer.pt").unlink(),
        lambda checkpoint: (checkpoint / "complete.json").write_text("[]", "utf-8"),
    ],
)
def test_a_torn_checkpoint_is_passed_over_for_the_one_before_it(tmp_path, tiny, write_rows, events, monkeypatch, tear):
    file = settings(tmp_path, tiny, write_rows([conversation(number) for number in range(12)]))
    with monkeypatch.context() as patched:
        stop_at(patched, 7)
        with pytest.raises(KeyboardInterrupt):
            run(file, events)
    tear(tmp_path / "out" / "checkpoint-6")
    run(file, events)
    assert told(events, "training")[-1]["resumedFrom"] == "checkpoint-3"
    assert told(events, "end")[-1]["steps"] == 12


@pytest.mark.parametrize(
    ("fields", "place", "words"),
    [
        ({"lora": {"targets": "q_proj, qq_proj"}}, "lora.targets", "'qq_proj'"),
        ({"lora": {"targets": ""}}, "lora.targets", "''"),
        ({"model": {"chatTemplate": "{% if %}"}}, "model.chatTemplate", "TemplateSyntaxError"),
        ({"model": {"chatTemplate": "{{ raise_exception('no tools here') }}"}}, "model.chatTemplate", "no tools here"),
        (
            {"model": {"chatTemplate": "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}"}},
            "1",
            "no system",
        ),
    ],
)
def test_what_a_library_would_refuse_later_is_refused_as_a_setting(tmp_path, tiny, write_rows, events, fields, place, words):
    row = {"messages": [{"role": role, "content": "x"} for role in ("system", "user", "assistant")]}
    if "model" in fields:
        (tmp_path / "own.jinja").write_text(fields["model"]["chatTemplate"], "utf-8")
        fields = {"model": {"base": tiny, "chatTemplate": str(tmp_path / "own.jinja")}}
    with pytest.raises(Refused) as refused:
        run(settings(tmp_path, tiny, write_rows([row]), **fields), events)
    (fault,) = refused.value.faults
    assert (fault.field.split(":")[-1], words in fault.found) == (place, True)


def test_a_run_that_was_refused_is_begun_again_with_what_was_mended(tmp_path, tiny, write_rows, events):
    """The folder was held by the refused run: the mended row made it another one's."""
    broken = {"messages": [{"role": "user", "content": "x" * 9000}, {"role": "assistant", "content": "y"}]}
    with pytest.raises(Refused) as refused:
        run(settings(tmp_path, tiny, write_rows([broken])), events)
    assert refused.value.faults[0].field == "data.maxTokens"
    assert list((tmp_path / "out").iterdir()) == []
    run(settings(tmp_path, tiny, write_rows([conversation(number) for number in range(4)]), optimizer={"maxSteps": 1}), events)
    assert told(events, "end")[-1]["steps"] == 1


def test_a_run_that_cannot_fit_is_refused_with_numbers(tmp_path, tiny, write_rows, events, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda cuda: 1000)
    with pytest.raises(Refused) as refused:
        run(settings(tmp_path, tiny, write_rows([conversation(1)])), events)
    assert "GiB needed" in str(refused.value)


@pytest.mark.parametrize(
    "error",
    [
        OSError(28, "No space left on device"),
        RuntimeError("I/O error: No space left on device (os error 28)"),
        RuntimeError("[enforce fail] PytorchStreamWriter failed writing file data/3"),
    ],
)
def test_a_disk_that_is_full_is_named_whoever_finds_it(tmp_path, monkeypatch, error):
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(10, 10, 0))
    assert is_disk_full(error, str(tmp_path))
    assert not is_disk_full(RuntimeError("something else"), str(tmp_path))


def test_a_full_disk_is_refused_before_the_run_and_heard_during_it(tmp_path, tiny, write_rows, events, monkeypatch):
    rows = write_rows([conversation(number) for number in range(4)])
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(2**20, 2**20, 0))
        with pytest.raises(Refused) as refused:
            run(settings(tmp_path, tiny, rows), events)
        assert [fault.field for fault in refused.value.faults] == ["output"]

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Follower, "on_save", full)
    with pytest.raises(Failed) as failed:
        run(settings(tmp_path, tiny, rows, "late", optimizer={"maxSteps": 4, "batchSize": 4, "perDeviceBatch": 4}), events)
    assert str(failed.value) == "the disk is full"
    events.file.close()
    events.file = open("/dev/full", "w", encoding="utf-8")  # noqa: SIM115
    events.emit("step", step=1)
    assert [event["code"] for event in told(events, "warning")] == ["metrics-unwritable"]


def test_a_torn_model_file_is_named_before_anything_is_loaded(tmp_path, tiny, write_rows, events):
    torn = tmp_path / "torn"
    shutil.copytree(tiny, torn)
    os.truncate(torn / "model.safetensors", 5000)
    with pytest.raises(Refused) as refused:
        run(settings(tmp_path, str(torn), write_rows([conversation(1)])), events)
    assert "model.safetensors: expected a whole safetensors file" in str(refused.value)


def test_a_loss_that_is_no_number_stops_the_run(tmp_path, tiny, write_rows, events):
    poison(Path(tiny), tmp_path / "poisoned")
    file = settings(tmp_path, str(tmp_path / "poisoned"), write_rows([conversation(number) for number in range(4)]))
    with pytest.raises(Failed) as failed:
        run(file, events)
    assert "not a number" in str(failed.value)


def poison(tiny: Path, to: Path) -> None:
    """A model with one weight that is no number: what a broken conversion gives."""
    import torch
    from safetensors.torch import load_file, save_file

    shutil.copytree(tiny, to)
    weights = load_file(to / "model.safetensors")
    weights["model.norm.weight"][0] = torch.nan
    save_file(weights, to / "model.safetensors", metadata={"format": "pt"})
