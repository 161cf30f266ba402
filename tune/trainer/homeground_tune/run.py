"""One training run from its settings to the saved result. It starts over from nothing, or goes on from the newest whole checkpoint."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from .checkpoints import claim_output, newest_whole, release_output, write_whole
from .events import Events
from .faults import Failed, Refused, is_disk_full
from .model_files import ModelShape, check_adapter, check_fit, check_targets, read_object, read_shape
from .read_settings import read_settings
from .rows import read_rows
from .settings import Settings
from .watch import end_when_stalled


def run(settings_file: str, events: Events) -> None:
    """Raises Refused (2) or Failed (3). What needs no torch is checked before torch is imported."""
    settings = read_settings(settings_file)
    rows = read_rows(settings.data.train, settings.recipe)
    validation = read_rows(settings.data.validation, settings.recipe) if settings.data.validation else []
    if settings.model.adapter is not None:
        check_adapter(settings.model.adapter)
    if Path(settings.model.base).is_dir():
        check_model(settings, read_shape(settings.model.base))
    if settings.recipe == "distill" and Path(settings.distill.teacher).is_dir():
        read_shape(settings.distill.teacher)
    Path(settings.output).mkdir(parents=True, exist_ok=True)
    # Of several processes the first: the others would find what it has just written, or write over it.
    fresh = events.speaks and claim_output(settings)
    events.open(settings.output)
    if (Path(settings.output) / "result.json").is_file():
        events.emit("end", already=True, **read_object(Path(settings.output) / "result.json", "delete the folder to start over"))
        return
    events.emit("start", recipe=settings.recipe, rows=len(rows), validationRows=len(validation))
    end_when_stalled(events, settings.stall_minutes)
    closing: list[Callable[[], None]] = []
    try:
        try:
            prepared = prepare(settings, rows, validation, events, closing)
            trainer = importlib.import_module(f"homeground_tune.recipes.{settings.recipe}").build(prepared)
        except Refused:
            # Nothing was trained: what is mended now is no other run's.
            if fresh:
                events.close()
                release_output(settings)
            raise
        train(trainer, prepared)
    finally:
        for close in closing:
            close()


def prepare(settings: Settings, rows, validation, events: Events, closing: list[Callable[[], None]]):
    from transformers import set_seed

    from .follow import Follower
    from .model import choose_device, load_tokenizer, local_folder, quiet
    from .prepared import Prepared
    from .template import set_template

    quiet()
    set_seed(settings.seed)
    device = choose_device(settings)
    folder = local_folder(settings.model.base)
    tokenizer = load_tokenizer(settings.model.adapter if has_tokenizer(settings.model.adapter) else folder)
    shape = read_shape(folder)
    check_model(settings, shape)
    template = set_template(tokenizer, settings.model.chat_template, with_tools=any(row.value.get("tools") for row in rows))
    return Prepared(settings, rows, validation, folder, tokenizer, template, shape, device, events, Follower(events), closing)


def check_model(settings: Settings, shape: ModelShape) -> None:
    check_targets(settings, shape)
    if settings.model.adapter is not None:
        check_fit(settings.model.adapter, settings.model.base, shape)


def has_tokenizer(folder: str | None) -> bool:
    return folder is not None and (Path(folder) / "tokenizer_config.json").is_file()


def train(trainer, prepared) -> None:
    settings, events, follower = prepared.settings, prepared.events, prepared.follower
    started = time.monotonic()
    checkpoint = newest_whole(settings.output, events)
    trainable = sum(each.numel() for each in trainer.model.parameters() if each.requires_grad)
    events.emit(
        "training",
        device=str(trainer.args.device),
        trainable=trainable,
        template=prepared.template,
        resumedFrom=checkpoint and checkpoint.name,
    )
    try:
        trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    except Exception as error:
        if is_disk_full(error, settings.output):
            raise Failed(
                "the disk is full", "free some room and run the same command: it goes on from the last whole checkpoint"
            ) from error
        raise
    if follower.interrupted:
        raise Failed(f"interrupted at step {trainer.state.global_step}; a checkpoint is saved", "run the same command to go on from there")
    saved = save(trainer, prepared)
    if trainer.is_world_process_zero():
        result = describe_result(trainer, prepared, saved, time.monotonic() - started, trainable)
        write_whole(Path(settings.output) / "result.json", json.dumps(result, indent=2))
        events.emit("end", already=False, **result)


def save(trainer, prepared) -> str:
    """Adapter (or whole model) and tokenizer with the template that was trained; in place at once or not at all."""
    kind = "model" if prepared.settings.method == "full" and prepared.settings.model.adapter is None else "adapter"
    final = Path(prepared.settings.output) / kind
    fresh = final.with_name(f"{kind}.next")
    trainer.save_model(str(fresh))
    if trainer.is_world_process_zero():
        prepared.tokenizer.save_pretrained(str(fresh))
        shutil.rmtree(final, ignore_errors=True)
        os.replace(fresh, final)
    return kind


def describe_result(trainer, prepared, saved: str, seconds: float, trainable: int) -> dict:
    follower = prepared.follower
    versions = {name: importlib.metadata.version(name) for name in ("torch", "transformers", "trl", "peft")}
    return {
        "format": 1,
        "kind": saved,
        "path": saved,
        "recipe": prepared.settings.recipe,
        "base": prepared.settings.model.base,
        "steps": trainer.state.global_step,
        "seconds": round(seconds, 1),
        "trainable": trainable,
        "template": prepared.template,
        "seed": prepared.settings.seed,
        "versions": versions,
        "loss": {"first": follower.first_loss, "last": follower.last_loss},
        "validationLoss": follower.evaluations,
        **({} if follower.first_reward is None else {"reward": {"first": follower.first_reward, "last": follower.last_reward}}),
        "settings": asdict(prepared.settings),
    }
