"""Reads training rows and checks their structure, with file and line; without a tokenizer and without torch."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .faults import FaultList

MOST_FAULTS = 10


@dataclass(frozen=True)
class Row:
    """One line of a file. `value` is normalised: tools and tool-call arguments are parsed, content is a text."""

    place: str
    value: dict


def read_rows(files: list[str], recipe: str) -> list[Row]:
    """Raises Refused (`invalid-input`) with the first faults of all files."""
    faults = FaultList("invalid-input")
    rows: list[Row] = []
    for file in files:
        for place, value in read_lines(file, faults):
            row = normalise(value, place, recipe, faults)
            if row is not None:
                rows.append(Row(place, row))
            if len(faults.faults) >= MOST_FAULTS:
                faults.raise_if_any()
    faults.raise_if_any()
    if not rows:
        faults.add(
            ", ".join(files),
            "at least one row",
            "an empty file",
            "look at the report of `homeground dataset`: it says why rows were dropped",
        )
    faults.raise_if_any()
    return rows


def read_lines(file: str, faults: FaultList) -> Iterator[tuple[str, object]]:
    opened = gzip.open(file, "rt", encoding="utf-8") if file.endswith(".gz") else open(file, encoding="utf-8")
    with opened as lines:
        for number, line in enumerate(lines, 1):
            if line.strip() == "":
                continue
            try:
                yield f"{file}:{number}", json.loads(line)
            except ValueError as error:
                faults.add(f"{file}:{number}", "one JSON object", str(error), "mend or remove the line")


def normalise(value: object, place: str, recipe: str, faults: FaultList) -> dict | None:
    if not isinstance(value, dict):
        faults.add(place, "an object", value, "mend or remove the line")
        return None
    row = dict(value)
    if isinstance(row.get("tools"), str):
        row["tools"] = json.loads(row["tools"]) if row["tools"] else None
    for name in ("messages", "prompt", "completion", "chosen", "rejected"):
        if isinstance(row.get(name), list):
            row[name] = [normalise_message(message) for message in row[name]]
    before = len(faults.faults)
    SHAPES[recipe](row, place, faults)
    return row if len(faults.faults) == before else None


def normalise_message(message: object) -> object:
    if not isinstance(message, dict):
        return message
    out = dict(message)
    content = out.get("content")
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content if isinstance(part, dict))
    out["content"] = content or ""
    if out.get("tool_calls"):
        out["tool_calls"] = [normalise_call(call) for call in out["tool_calls"]]
    else:
        out.pop("tool_calls", None)
    return out


def normalise_call(call: dict) -> dict:
    function = dict(call.get("function") or {})
    if isinstance(function.get("arguments"), str):
        # A text would be encoded twice by some templates and refused by others.
        try:
            function["arguments"] = json.loads(function["arguments"])
        except ValueError:
            pass
    return {**call, "function": function}


def check_sft(row: dict, place: str, faults: FaultList) -> None:
    if "input_ids" in row:
        ids, labels = row["input_ids"], row.get("labels")
        if not is_numbers(ids) or not is_numbers(labels) or len(ids) != len(labels):
            faults.add(f"{place} labels", "as many labels as input_ids, whole numbers", "something else", "export the rows again")
        return
    if "messages" in row:
        if is_messages(row["messages"], f"{place} messages", faults) and not trained(row["messages"]):
            no_assistant(f"{place} messages", faults)
        return
    if is_messages(row.get("prompt"), f"{place} prompt", faults) and is_messages(row.get("completion"), f"{place} completion", faults):
        if not trained(row["completion"]):
            no_assistant(f"{place} completion", faults)


def check_preference(row: dict, place: str, faults: FaultList) -> None:
    is_messages(row.get("prompt"), f"{place} prompt", faults)
    for side in ("chosen", "rejected"):
        if is_messages(row.get(side), f"{place} {side}", faults) and [m["role"] for m in row[side]] != ["assistant"]:
            faults.add(
                f"{place} {side}", "one assistant message", [m["role"] for m in row[side]], "DPO has no assistant mask: export pairs again"
            )
    if row.get("chosen") is not None and row.get("chosen") == row.get("rejected"):
        faults.add(f"{place} rejected", "another answer than chosen", "the same", "remove the row")


def check_kto(row: dict, place: str, faults: FaultList) -> None:
    is_messages(row.get("prompt"), f"{place} prompt", faults)
    if is_messages(row.get("completion"), f"{place} completion", faults) and [m["role"] for m in row["completion"]] != ["assistant"]:
        faults.add(f"{place} completion", "one assistant message", [m["role"] for m in row["completion"]], "export the rows again")
    if not isinstance(row.get("label"), bool):
        faults.add(f"{place} label", "true or false", row.get("label"), "export the rows again")


def check_grpo(row: dict, place: str, faults: FaultList) -> None:
    if not isinstance(row.get("task"), str):
        faults.add(f"{place} task", "the id of a task", row.get("task"), "export with `homeground dataset --format trl-grpo`")


def check_distill(row: dict, place: str, faults: FaultList) -> None:
    if "prompt" in row and "completion" not in row:
        is_messages(row["prompt"], f"{place} prompt", faults)
    else:
        check_sft(row, place, faults)


SHAPES: dict[str, Callable[[dict, str, FaultList], None]] = {
    "sft": check_sft,
    "dpo": check_preference,
    "kto": check_kto,
    "grpo": check_grpo,
    "distill": check_distill,
}


def is_messages(value: object, place: str, faults: FaultList) -> bool:
    ok = isinstance(value, list) and len(value) > 0 and all(isinstance(each, dict) and isinstance(each.get("role"), str) for each in value)
    if not ok:
        faults.add(place, "a list of messages, each with a role", value, "export the rows with `homeground dataset`")
    return ok


def trained(messages: list[dict]) -> bool:
    """Whether any assistant message is to be trained; `weight: 0` marks one that is not."""
    return any(message["role"] == "assistant" and message.get("weight") != 0 for message in messages)


def no_assistant(place: str, faults: FaultList) -> None:
    faults.add(place, "an assistant turn to train", "none", "remove the row; `homeground dataset` drops such episodes as no-assistant-turn")


def is_numbers(value: object) -> bool:
    return isinstance(value, list) and all(type(each) is int for each in value)
