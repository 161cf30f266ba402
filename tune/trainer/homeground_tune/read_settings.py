"""Reads a settings file into `Settings`: every fault at once, in well under a second, before anything heavy is imported."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
import types
import typing
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path

from .faults import Fault, FaultList, Refused
from .settings import Settings


def read_settings(path: str) -> Settings:
    """Raises Refused (`invalid-settings`) with all faults. Relative paths in the file are relative to the working folder."""
    faults = FaultList()
    try:
        value = json.loads(Path(path).read_text("utf-8"))
    except FileNotFoundError:
        raise Refused("not-found", [Fault(path, "a settings file", "nothing", "give the path of a JSON file")]) from None
    except ValueError as error:
        raise Refused("invalid-settings", [Fault(path, "JSON", str(error), "mend the file at that line")]) from None
    settings = parse_dataclass(Settings, with_recipes_defaults(value), "", faults)
    faults.raise_if_any()
    assert isinstance(settings, Settings)
    check(settings, faults)
    faults.raise_if_any()
    return settings


def with_recipes_defaults(value: object) -> object:
    """KTO holds an answer against the others of its batch: alone in it there is nothing to learn."""
    optimizer = value.get("optimizer", {}) if isinstance(value, dict) and value.get("recipe") == "kto" else None
    return {**value, "optimizer": {"perDeviceBatch": 2, **optimizer}} if isinstance(optimizer, dict) else value


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def parse_dataclass(kind: type, value: object, at: str, faults: FaultList) -> object | None:
    if not isinstance(value, dict):
        faults.add(at or "the file", "an object", value, "see docs/tune.md for the fields")
        return None
    hints = typing.get_type_hints(kind)
    known = {camel(each.name): each for each in fields(kind)}
    for name in value:
        if name not in known:
            near = [each for each in known if each.lower() == str(name).replace("_", "").lower()]
            faults.add(f"{at}{name}", "a known field", "an unknown one", f"write {near[0]}" if near else f"fields here: {', '.join(known)}")
    arguments = {}
    for name, each in known.items():
        where = f"{at}{name}"
        if name not in value:
            if each.default is MISSING and each.default_factory is MISSING:
                faults.add(where, describe(hints[each.name]), "nothing", "add it")
            continue
        arguments[each.name] = parse_value(hints[each.name], value[name], where, dict(each.metadata), faults)
    missing = [each for each in fields(kind) if each.default is MISSING and each.default_factory is MISSING and each.name not in arguments]
    return None if missing else kind(**arguments)


def parse_value(kind: object, value: object, at: str, limits: dict, faults: FaultList) -> object | None:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        if value is None:
            return None
        return parse_value(next(each for each in inner if each is not type(None)), value, at, limits, faults)
    if is_dataclass(kind):
        return parse_dataclass(typing.cast(type, kind), value, f"{at}.", faults)
    if origin is typing.Literal:
        if value in inner and type(value) in {type(each) for each in inner}:
            return value
        faults.add(at, f"one of {', '.join(map(str, inner))}", value, "choose one of them")
        return None
    if origin is list:
        if isinstance(value, list) and all(isinstance(each, inner[0]) and "\0" not in each for each in value):
            return value
        faults.add(at, describe(kind), value, "write it as a list")
        return None
    if kind is str and isinstance(value, str) and "\0" in value:
        faults.add(at, "a text without NUL", value, "mend it")
        return None
    wanted = (int, float) if kind is float else (kind,)
    if type(value) not in wanted:
        faults.add(at, describe(kind), value, f"give {describe(kind)}")
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        check_limits(value, at, limits, faults)
        return float(value) if kind is float else value
    return value


def check_limits(value: float, at: str, limits: dict, faults: FaultList) -> None:
    if not math.isfinite(value):
        faults.add(at, "a number", value, "give a number")
        return
    rules = [("minimum", value < (limits.get("minimum") or 0), "at least"), ("above", value <= (limits.get("above") or 0), "above")]
    rules.append(("maximum", value > (limits.get("maximum") or 0), "at most"))
    for name, broken, words in rules:
        limit = limits.get(name)
        if limit is not None and broken:
            faults.add(at, f"a number {words} {limit}", value, f"give a number {words} {limit}")


def describe(kind: object) -> str:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return describe(next(each for each in inner if each is not type(None)))
    if origin is typing.Literal:
        return f"one of {', '.join(map(str, inner))}"
    if origin is list:
        return "a list of texts"
    if is_dataclass(kind):
        return "an object"
    return {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}.get(typing.cast(type, kind), str(kind))


def check(settings: Settings, faults: FaultList) -> None:
    """What the fields mean together, and whether the files that they name are there."""
    check_folder("model.base", settings.model.base, "config.json", faults)
    if settings.model.adapter is not None:
        check_folder("model.adapter", settings.model.adapter, "adapter_config.json", faults)
    check_template(settings.model.chat_template, faults)
    check_output(settings, faults)
    for name, files in (("data.train", settings.data.train), ("data.validation", settings.data.validation)):
        for file in files:
            if not Path(file).is_file():
                faults.add(name, "files that are there", f"no file {file}", "run `homeground dataset` first, or mend the path")
    if not settings.data.train:
        faults.add("data.train", "at least one file of rows", "none", "name the file that `homeground dataset` wrote")
    batch, at_once = settings.optimizer.batch_size, settings.optimizer.per_device_batch
    if settings.recipe == "kto" and at_once < 2:
        faults.add(
            "optimizer.perDeviceBatch", "at least 2 with kto", at_once, "an answer is held against others of its batch: leave it out"
        )
    if settings.recipe != "grpo" and batch % (at_once * world_size()) != 0:
        devices = f" x {world_size()} devices" if world_size() > 1 else ""
        faults.add("optimizer.batchSize", f"a multiple of perDeviceBatch ({at_once}){devices}", batch, "change one of the two")
    if settings.model.quantization == "4bit":
        if settings.method == "full":
            faults.add("model.quantization", "none with method full", "4bit", "train an adapter (method lora), or load whole weights")
        if settings.device == "cpu" or not cuda_in_sight():
            faults.add("model.quantization", "none without a CUDA GPU", "4bit", "leave it out on this machine")
    if settings.device == "cuda" and not cuda_in_sight():
        faults.add("device", "a CUDA GPU", "no NVIDIA device on this machine", "use device auto or cpu, or run it where a GPU is")
    check_processes(faults)
    if settings.precision == "bf16" and (settings.device == "cpu" or not cuda_in_sight()):
        faults.add("precision", "fp32 (or auto) on a CPU", "bf16", "leave precision out: auto takes bf16 on CUDA")
    if settings.recipe == "distill":
        check_folder("distill.teacher", settings.distill.teacher, "config.json", faults)
    if settings.recipe == "grpo":
        check_rollouts(settings, faults)


def check_processes(faults: FaultList) -> None:
    """Two on one device, or on a CPU, would each take their half of the memory and be slower than one."""
    # Not WORLD_SIZE: of several machines, or where a scheduler shows each process a GPU of its own, that is no number of this one.
    here, gpus = int(os.environ.get("LOCAL_WORLD_SIZE", "1")), gpus_in_sight()
    if here > 1 and gpus is not None and here > gpus:
        found = f"{here} processes, and {gpus or 'no'} NVIDIA device{'s' if gpus > 1 else ''} on this machine"
        faults.add("--gpus", "one process for each GPU", found, f"give --gpus {gpus}" if gpus > 1 else "leave it out")


def check_rollouts(settings: Settings, faults: FaultList) -> None:
    rollouts, at_once = settings.rollouts, settings.optimizer.per_device_batch
    if not re.match(r"^https?://", rollouts.service):
        found = rollouts.service or "nothing"
        faults.add("rollouts.service", "the base URL of a rollout service", found, "start it through `homeground tune grpo`")
    if rollouts.tasks_per_step % world_size() != 0:
        faults.add(
            "rollouts.tasksPerStep", f"a multiple of {world_size()} processes", rollouts.tasks_per_step, "a group stays on one of them"
        )
    if rollouts.group * rollouts.tasks_per_step % (at_once * world_size()) != 0:
        expected = f"a divisor of the {rollouts.group * rollouts.tasks_per_step} rollouts of a step"
        faults.add("optimizer.perDeviceBatch", expected, at_once, "change it, rollouts.group or rollouts.tasksPerStep")
    if rollouts.generation == "vllm":
        check_vllm(settings, faults)
    if settings.lora.dropout > 0:
        faults.add("lora.dropout", "0 with grpo", settings.lora.dropout, "dropped weights would not be those that were sampled from")
    if rollouts.turn_tokens >= rollouts.rollout_tokens:
        faults.add("rollouts.turnTokens", f"less than rolloutTokens ({rollouts.rollout_tokens})", rollouts.turn_tokens, "lower it")
    if settings.data.validation:
        faults.add("data.validation", "none with grpo", settings.data.validation, "measure with `homeground run` or `gate`")


def check_vllm(settings: Settings, faults: FaultList) -> None:
    """It gets each step's adapter over a base that stays; whatever else would have to be sent is left to transformers."""
    at, instead = "rollouts.generation", "use rollouts.generation transformers"
    if importlib.util.find_spec("vllm") is None:
        faults.add(at, "vllm installed beside the trainer", "no module vllm", f"install it into the trainer's Python, or {instead}")
    if settings.method == "full" and settings.model.adapter is None:
        faults.add(at, "transformers with method full", "vllm", f"train an adapter (method lora), or {instead}")
    if settings.model.quantization != "none":
        faults.add(at, "transformers with a quantized base", "vllm", f"it would sample from other weights than are trained: {instead}")
    if world_size() > 1:
        faults.add(at, "transformers with several processes", "vllm", instead)


def check_output(settings: Settings, faults: FaultList) -> None:
    """What a run writes beside its adapter would replace a model's own README.md, for one."""
    if settings.output == "":
        faults.add("output", "a folder", "nothing", "name one that is not there yet")
    used = {"model.base": settings.model.base, "model.adapter": settings.model.adapter, "distill.teacher": settings.distill.teacher}
    for name, folder in used.items():
        if folder and settings.output and Path(folder).resolve() == Path(settings.output).resolve():
            faults.add("output", f"another folder than {name}", settings.output, "name one that is not there yet")


def check_folder(at: str, folder: str, holds: str, faults: FaultList) -> None:
    if folder == "":
        faults.add(at, "a model folder", "nothing", "name it")
    elif Path(folder).is_dir():
        if not (Path(folder) / holds).is_file():
            faults.add(at, f"a model folder with {holds}", f"{folder} without it", "name the folder that holds the model's files")
    elif Path(folder).exists() or not re.fullmatch(r"[\w.-]+/[\w.-]+", folder):
        faults.add(at, "a model folder, or a hub name like Qwen/Qwen3-4B", folder, "mend the path")


def check_template(name: str, faults: FaultList) -> None:
    if name == "auto":
        return
    if name.endswith(".jinja"):
        if not Path(name).is_file():
            faults.add("model.chatTemplate", "a file that is there", name, "mend the path")
    elif trl_template_file(name) is None:
        faults.add(
            "model.chatTemplate", "auto, a .jinja file, or the name of one of TRL's training templates", name, "e.g. qwen3_instruct_2507"
        )


def trl_template_file(name: str) -> Path | None:
    """TRL's training template of that name, found without importing TRL. None where there is none (or no TRL)."""
    spec = importlib.util.find_spec("trl")
    if spec is None or spec.origin is None or not re.fullmatch(r"\w+", name):
        return None
    file = Path(spec.origin).parent / "chat_templates" / f"{name}_training.jinja"
    return file if file.is_file() else None


def cuda_in_sight() -> bool:
    """Whether an NVIDIA device is there at all, without torch. Off Linux torch is asked later."""
    return gpus_in_sight() != 0


def gpus_in_sight() -> int | None:
    """NVIDIA devices that this process may see; None where only torch could tell."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible in ("", "-1"):
        return 0
    if os.name == "nt":
        return None
    there = len(list(Path("/dev").glob("nvidia[0-9]*")))
    return there if visible is None else min(there, len(visible.split(",")))


def world_size() -> int:
    return int(os.environ.get("WORLD_SIZE", "1"))
