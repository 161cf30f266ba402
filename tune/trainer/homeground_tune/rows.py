"""Reads training rows and checks their structure, with file and line; without a tokenizer and without torch."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .faults import FaultList
from .messages import normalise_message, normalise_tools, parse_json

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
    number = 0
    try:
        with gzip.open(file, "rb") if file.endswith(".gz") else open(file, "rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip() == b"":
                    continue
                try:
                    yield f"{file}:{number}", parse_json(line.decode("utf-8-sig" if number == 1 else "utf-8"))
                except ValueError as error:
                    faults.add(f"{file}:{number}", "one JSON object", str(error), "mend or remove the line")
                    if len(faults.faults) >= MOST_FAULTS:
                        return
    except (OSError, EOFError, zlib.error) as error:
        # Of a compressed file that is none, or was copied in part.
        faults.add(f"{file}:{number + 1}", "a file that can be read to its end", str(error), "write or copy the file again")


def normalise(value: object, place: str, recipe: str, faults: FaultList) -> dict | None:
    if not isinstance(value, dict):
        faults.add(place, "an object", value, "mend or remove the line")
        return None
    before = len(faults.faults)
    row = dict(value)
    if "tools" in row:
        row["tools"] = normalise_tools(row["tools"], place, faults)
    for name in ("messages", "prompt", "completion", "chosen", "rejected"):
        if isinstance(row.get(name), list):
            messages = enumerate(row[name])
            row[name] = [normalise_message(message, f"{place} {name}[{index}]", faults) for index, message in messages]
    SHAPES[recipe](row, place, faults)
    return row if len(faults.faults) == before else None


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
