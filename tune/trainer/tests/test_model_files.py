"""A broken model is named with its file, in a second: by training and serving alike, before torch is asked."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from conftest import conversation, write_settings

from homeground_tune.faults import Refused
from homeground_tune.model_files import check_adapter, check_fit, read_shape
from homeground_tune.run import run
from homeground_tune.serve import ServeOptions, serve


def refusal(action) -> tuple[str, str, str]:
    with pytest.raises(Refused) as refused:
        action()
    (fault,) = refused.value.faults
    return Path(fault.field).name, fault.expected, fault.found


@pytest.fixture
def adapter(tmp_path, tiny) -> Path:
    """Files as PEFT writes them, and the output folder that a run leaves around them."""
    folder = tmp_path / "tuned" / "adapter"
    folder.mkdir(parents=True)
    (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": tiny}), "utf-8")
    shutil.copy(Path(tiny) / "model.safetensors", folder / "adapter_model.safetensors")
    (folder.parent / "result.json").write_text(json.dumps({"kind": "adapter", "path": "adapter", "base": tiny}), "utf-8")
    return folder


def test_weights_that_are_torn_missing_or_none_are_named(tmp_path, tiny):
    torn = tmp_path / "torn"
    shutil.copytree(tiny, torn)
    os.truncate(torn / "model.safetensors", 5000)
    assert refusal(lambda: read_shape(str(torn)))[:2] == ("model.safetensors", "a whole safetensors file")
    (torn / "model.safetensors").write_bytes((2).to_bytes(8, "little") + b"[]")
    assert refusal(lambda: read_shape(str(torn)))[:2] == ("model.safetensors", "a whole safetensors file")
    (torn / "model.safetensors").unlink()
    assert refusal(lambda: read_shape(str(torn)))[1] == "weights in *.safetensors"
    (torn / "config.json").write_text("{", "utf-8")
    assert refusal(lambda: read_shape(str(torn)))[:2] == ("config.json", "a JSON object")


def test_a_model_without_its_tokenizer_is_named(tmp_path, tiny):
    shutil.copytree(tiny, tmp_path / "bare", ignore=shutil.ignore_patterns("tokenizer*"))
    assert refusal(lambda: read_shape(str(tmp_path / "bare")))[:2] == ("model.base", "a tokenizer beside the weights")


def test_an_adapter_of_a_model_of_another_width_is_named(tmp_path, tiny):
    """It ended in a hundred lines of torch's on sizes."""
    from safetensors.torch import save_file
    from torch import zeros

    name = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"
    shape = read_shape(tiny)
    save_file({name: zeros(4, 64)}, tmp_path / "adapter_model.safetensors")
    check_fit(str(tmp_path), tiny, shape)
    save_file({name: zeros(4, 100)}, tmp_path / "adapter_model.safetensors")
    _, expected, found = refusal(lambda: check_fit(str(tmp_path), "base", shape))
    assert (expected, "layers.0.self_attn.q_proj takes 100 values" in found) == ("an adapter for base", True)


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json", "generation_config.json"])
def test_a_torn_file_of_settings_is_named(tmp_path, tiny, name):
    """They ended in a library's own errors, ten seconds later."""
    shutil.copytree(tiny, tmp_path / "torn")
    os.truncate(tmp_path / "torn" / name, 10)
    assert refusal(lambda: read_shape(str(tmp_path / "torn")))[:2] == (name, "JSON")


def test_a_shard_that_is_not_there_and_a_config_of_no_model_are_named(tmp_path, tiny):
    folder = tmp_path / "part"
    shutil.copytree(tiny, folder)
    index = {"weight_map": {"model.norm.weight": "model.safetensors", "lm_head.weight": "model-00002-of-00002.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), "utf-8")
    assert refusal(lambda: read_shape(str(folder)))[0] == "model-00002-of-00002.safetensors"
    (folder / "config.json").write_text("{}", "utf-8")
    assert refusal(lambda: read_shape(str(folder)))[0] == "config.json model_type"


def test_an_adapter_is_held_against_what_it_needs(adapter, tiny):
    assert check_adapter(str(adapter)) == tiny
    os.truncate(adapter / "adapter_model.safetensors", 100)
    assert refusal(lambda: check_adapter(str(adapter)))[0] == "adapter_model.safetensors"
    (adapter / "adapter_model.safetensors").unlink()
    assert refusal(lambda: check_adapter(str(adapter)))[1:] == ("adapter_model.safetensors", "no weights")
    (adapter / "adapter_config.json").write_text("{}", "utf-8")
    assert refusal(lambda: check_adapter(str(adapter)))[0] == "adapter_config.json"


def test_serving_refuses_what_training_refuses(tmp_path, adapter, tiny, events):
    def served(model: Path) -> tuple[str, str, str]:
        return refusal(lambda: serve(ServeOptions(str(model)), events))

    os.truncate(adapter / "adapter_model.safetensors", 100)
    assert served(adapter.parent)[0] == served(adapter)[0] == "adapter_model.safetensors"
    (adapter.parent / "result.json").write_text('{"kind": "adapter"', "utf-8")
    assert served(adapter.parent)[:2] == ("result.json", "a JSON object")
    (adapter.parent / "result.json").write_text("{}", "utf-8")
    assert served(adapter.parent)[0] == "result.json"
    (adapter.parent / "result.json").unlink()
    (adapter.parent / "started.json").write_text("{}", "utf-8")
    assert "has not ended" in served(adapter.parent)[2]
    shutil.copytree(tiny, tmp_path / "torn")
    os.truncate(tmp_path / "torn" / "model.safetensors", 5000)
    assert served(tmp_path / "torn")[0] == "model.safetensors"


def test_training_refuses_a_torn_adapter_and_a_torn_teacher(tmp_path, adapter, tiny, write_rows, events):
    def trained(**fields) -> tuple[str, str, str]:
        data = {"train": [write_rows([conversation(1)])]}
        return refusal(lambda: run(write_settings(tmp_path, output=str(tmp_path / "out"), data=data, **fields), events))

    os.truncate(adapter / "adapter_model.safetensors", 100)
    assert trained(recipe="sft", model={"base": tiny, "adapter": str(adapter)})[0] == "adapter_model.safetensors"
    shutil.copytree(tiny, tmp_path / "torn")
    os.truncate(tmp_path / "torn" / "model.safetensors", 5000)
    assert trained(recipe="distill", model={"base": tiny}, distill={"teacher": str(tmp_path / "torn")})[0] == "model.safetensors"
