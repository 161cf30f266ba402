"""Rows of one prompt and its answers, as text: rendered as the model sees them, so that the answer is what it would write, stop token included."""

from __future__ import annotations

from ..encode import end_of_turn, render
from ..faults import FaultList
from ..prepared import Prepared
from ..rows import Row


def prompt_text(tokenizer, messages: list[dict], tools: list | None) -> str:
    return render(tokenizer, messages, tools, generate=True)


def answer_texts(row: Row, sides: tuple[str, ...], tokenizer, faults: FaultList) -> dict[str, str] | None:
    """`prompt` and each side; None (and a fault) where the template renders them otherwise than the model would write them."""
    tools = row.value.get("tools")
    prompt = prompt_text(tokenizer, row.value["prompt"], tools)
    out = {"prompt": prompt}
    for side in sides:
        whole = render(tokenizer, [*row.value["prompt"], *row.value[side]], tools)
        end = end_of_turn(whole, len(prompt), tokenizer)
        if not whole.startswith(prompt) or end is None:
            found = "a template that renders it otherwise, or without a stop token"
            faults.add(
                f"{row.place} {side}", "an answer that continues its prompt and ends with the stop token", found, "set model.chatTemplate"
            )
            return None
        out[side] = whole[len(prompt) : end]
    return out


def answer_rows(prepared: Prepared, rows: list[Row], sides: tuple[str, ...]) -> list[dict]:
    """Raises Refused (`invalid-input`). Too long ones are left out with a warning: half an answer is no preference."""
    faults = FaultList("invalid-input")
    kept: list[dict] = []
    dropped: list[str] = []
    longest = 0
    for row in rows:
        texts = answer_texts(row, sides, prepared.tokenizer, faults)
        if texts is None:
            continue
        tokens = max(len(prepared.tokenizer(texts["prompt"] + texts[side], add_special_tokens=False)["input_ids"]) for side in sides)
        if tokens > prepared.settings.data.max_tokens:
            dropped.append(row.place)
            continue
        longest = max(longest, tokens)
        kept.append({**texts, **({"label": row.value["label"]} if "label" in row.value else {})})
    faults.raise_if_any()
    if not kept:
        faults.add("data.maxTokens", "at least one row that fits", "none", "raise it")
    faults.raise_if_any()
    if dropped:
        limit = prepared.settings.data.max_tokens
        prepared.events.warn("too-long", f"{len(dropped)} of {len(rows)} rows are over {limit} tokens and left out, first {dropped[0]}")
    prepared.check_memory(longest * len(sides))
    return kept
