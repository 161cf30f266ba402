"""Checkpoints that can be trusted: each gets a list of its files and their sizes once all are on the disk; one without it, or torn, is not used."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from dataclasses import asdict
from pathlib import Path

from .events import Events
from .faults import Fault, Refused
from .model_files import read_object
from .settings import Settings

MARK = "complete.json"
CHECKPOINT = re.compile(r"checkpoint-(\d+)")


def mark_complete(folder: Path) -> None:
    sizes = {
        str(file.relative_to(folder)): file.stat().st_size for file in sorted(folder.rglob("*")) if file.is_file() and file.name != MARK
    }
    for name in sizes:
        with open(folder / name, "rb") as opened:
            os.fsync(opened.fileno())
    write_whole(folder / MARK, json.dumps({"files": sizes}))


def newest_whole(output: str, events: Events) -> Path | None:
    """The newest checkpoint that is whole. Torn ones are put aside with a warning; they would poison the run."""
    numbered = {int(match[1]): folder for folder in Path(output).iterdir() if (match := CHECKPOINT.fullmatch(folder.name))}
    for _, folder in sorted(numbered.items(), reverse=True):
        fault = torn(folder)
        if fault is None:
            return folder
        if events.speaks:
            events.warn("torn-checkpoint", f"{folder.name} is not whole ({fault}): going on from the one before it")
            shutil.rmtree(folder)
    return None


def torn(folder: Path) -> str | None:
    try:
        sizes = json.loads((folder / MARK).read_text("utf-8"))["files"]
        assert isinstance(sizes, dict)
    except (OSError, ValueError, KeyError, TypeError, AssertionError):
        return f"no {MARK}: the run ended while it was written"
    for name, size in sizes.items():
        file = folder / name
        if not file.is_file():
            return f"{name} is missing"
        if file.stat().st_size != size:
            return f"{name} has {file.stat().st_size} bytes, expected {size}"
    return None


# What a run writes or replaces, and what makes a folder a model's.
RESULTS = {
    "adapter",
    "model",
    "metrics.jsonl",
    "model.json",
    "README.md",
    "report.html",
    "result.json",
    "config.json",
    "adapter_config.json",
}


def claim_output(settings: Settings) -> bool:
    """An output folder belongs to one run: the same settings go on in it, others are refused. True where this run is its first."""
    file = Path(settings.output) / "started.json"
    mine = fingerprint(settings)
    if file.is_file():
        theirs = read_object(file, "name another folder, or delete this one to start over")
        changed = [name for name in mine if mine[name] != theirs.get(name)]
        if changed:
            raise Refused(
                "run-mismatch",
                [
                    Fault(
                        "output",
                        "an empty folder, or one of a run with the same settings",
                        f"{settings.output}, whose run had another {', '.join(changed)}",
                        "name another folder, or delete this one to start over",
                    )
                ],
            )
        return False
    others = sorted(each.name for each in Path(settings.output).iterdir() if each.name in RESULTS or CHECKPOINT.fullmatch(each.name))
    if others:
        found = f"{settings.output} with {', '.join(others)} of something else"
        raise Refused("run-mismatch", [Fault("output", "an empty folder", found, "name another folder")])
    write_whole(file, json.dumps(mine))
    return True


def release_output(settings: Settings) -> None:
    """Of a run that was refused before its first step."""
    for name in ("started.json", "metrics.jsonl"):
        (Path(settings.output) / name).unlink(missing_ok=True)


# A version that knows one setting more for reinforcement learning still goes on with a run of `sft`.
READ_BY = {"preference": ("dpo", "kto"), "distill": ("distill",), "rollouts": ("grpo",)}


def fingerprint(settings: Settings) -> dict[str, str]:
    """Whatever changes the result, hashed part by part. Where rollouts come from, how a run is watched and what other recipes read may change."""
    value = asdict(settings)
    for name in ("output", "stall_minutes", "ignore_memory_estimate"):
        value.pop(name)
    value["checkpoints"].pop("keep")
    for name in ("service", "timeout_seconds"):
        value["rollouts"].pop(name)
    for name, recipes in READ_BY.items():
        if settings.recipe not in recipes:
            value.pop(name)
    parts = {name: hashlib.sha256(json.dumps(each, sort_keys=True).encode()).hexdigest() for name, each in value.items()}
    for file in [*settings.data.train, *settings.data.validation]:
        parts[f"content of {file}"] = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    return parts


def write_whole(file: Path, text: str) -> None:
    """All of it or nothing."""
    next_to = file.with_name(f"{file.name}.next")
    with open(next_to, "w", encoding="utf-8") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    os.replace(next_to, file)
