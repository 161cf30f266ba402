"""Rows of one prompt and its answers, as text: rendered as the model sees them, so that the answer is what it would write, stop token included."""

from __future__ import annotations

from ..control_tokens import has_marks
from ..encode import CannotRender, end_of_turn, refuse_messages, render
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
    spelt: list[str] = []
    longest = 0
    for row in rows:
        try:
            texts = answer_texts(row, sides, prepared.tokenizer, faults)
        except CannotRender as error:
            texts = None
            refuse_messages(row.place, error, faults)
        if texts is None:
            continue
        if any(has_marks(text) for text in texts.values()):
            spelt.append(row.place)
            continue
        tokens = max(len(prepared.tokenizer(texts["prompt"] + texts[side], add_special_tokens=False)["input_ids"]) for side in sides)
        if tokens > prepared.settings.data.max_tokens:
            dropped.append(row.place)
            continue
        longest = max(longest, tokens)
        kept.append({**texts, **({"label": row.value["label"]} if "label" in row.value else {})})
    faults.raise_if_any()
    warn_of_control_tokens(spelt, prepared)
    if not kept:
        found = f"{len(dropped)} too long, {len(spelt)} that spell a control token"
        faults.add("data.maxTokens", "at least one row that fits", found, "raise it, or export other rows")
    faults.raise_if_any()
    if dropped:
        limit = prepared.settings.data.max_tokens
        prepared.events.warn("too-long", f"{len(dropped)} of {len(rows)} rows are over {limit} tokens and left out, first {dropped[0]}")
    prepared.check_memory(longest * len(sides))
    return kept


def warn_of_control_tokens(places: list[str], prepared: Prepared) -> None:
    """TRL tokenises these recipes' texts itself, and would read a control token that somebody spelt as one."""
    if places:
        message = f"{len(places)} texts spell one of the model's control tokens and are left out, first of {places[0]}; sft trains such rows as text"
        prepared.events.warn("control-tokens", message)
