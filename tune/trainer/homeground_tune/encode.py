"""A row becomes token ids and labels: only what the model will have to write itself is trained, its stop token included.

The text is rendered as the model will see it when it answers, turn by turn: what stands after the generation prompt, up to and with the
stop token, is trained; all else is -100. The pieces are tokenised apart at exactly these borders, so that a trained turn has the ids that
the policy itself would sample there. A template that renders a turn otherwise once more turns follow is not prefix-preserving, and refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .control_tokens import START, mark, token_ids, unmark
from .faults import FaultList
from .rows import Row

UNTRAINED = -100


class CannotRender(Exception):
    """The chat template refuses these messages, or is none."""


@dataclass(frozen=True)
class Encoded:
    place: str
    input_ids: list[int]
    labels: list[int]

    @property
    def trained(self) -> int:
        return sum(label != UNTRAINED for label in self.labels)


@dataclass
class Encoding:
    """What became of the rows."""

    rows: list[Encoded] = field(default_factory=list)
    too_long: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)


def encode_rows(rows: list[Row], tokenizer, *, max_tokens: int, too_long: str) -> Encoding:
    """Raises Refused (`invalid-input`) for rows that would train nothing, everything, or something that the model will never write."""
    faults = FaultList("invalid-input")
    result = Encoding()
    for row in rows:
        try:
            encoded = encode_tokens(row, tokenizer, faults) if "input_ids" in row.value else encode_text(row, tokenizer, faults)
        except CannotRender as error:
            encoded = None
            refuse_messages(row.place, error, faults)
        if encoded is not None:
            fit(encoded, result, faults, max_tokens=max_tokens, too_long=too_long)
        if len(faults.faults) >= 10:
            break
    faults.raise_if_any()
    if not result.rows:
        longest = f"all {len(rows)} rows are longer than {max_tokens} tokens"
        faults.add("data.maxTokens", "at least one row that fits", longest, "raise data.maxTokens, or set data.tooLong to cut")
    faults.raise_if_any()
    return result


def refuse_messages(place: str, error: CannotRender, faults: FaultList) -> None:
    faults.add(place, "messages that the chat template takes", str(error), "mend or remove the row, or set model.chatTemplate")


def fit(encoded: Encoded, result: Encoding, faults: FaultList, *, max_tokens: int, too_long: str) -> None:
    place = encoded.place
    if len(encoded.input_ids) > max_tokens:
        if too_long == "refuse":
            faults.add(
                place,
                f"at most {max_tokens} tokens (data.maxTokens)",
                str(len(encoded.input_ids)),
                "raise it, or set data.tooLong to drop or cut",
            )
            return
        encoded = Encoded(place, encoded.input_ids[:max_tokens], encoded.labels[:max_tokens])
        # Nothing to train is left of a row that was cut before its first turn: TRL would drop it without a word.
        if too_long == "drop" or encoded.trained == 0:
            result.too_long.append(place)
            return
        result.cut.append(place)
    if encoded.trained == 0:
        faults.add(place, "labels to train", "an empty loss mask: the row would train nothing", "mend the row's labels, or remove it")
    elif encoded.trained == len(encoded.labels) and len(encoded.labels) > 1:
        faults.add(
            place,
            "a prompt that is not trained",
            "a loss mask of all ones: prompt and tool results would be trained too",
            "set their labels to -100",
        )
    else:
        result.rows.append(encoded)


def encode_text(row: Row, tokenizer, faults: FaultList) -> Encoded | None:
    value = row.value
    prompt = value.get("prompt") or []
    messages = value.get("messages") or [*prompt, *value.get("completion", [])]
    first = len(prompt) if "messages" not in value else 0
    pieces = split_turns(messages, value.get("tools"), first, tokenizer, row.place, faults)
    if pieces is None:
        return None
    ids: list[int] = []
    labels: list[int] = []
    for text, is_trained in pieces:
        try:
            piece = token_ids(tokenizer, text)
        except ValueError as error:
            faults.add(row.place, "text that can be told from the model's control tokens", str(error), "remove the row")
            return None
        ids += piece
        labels += piece if is_trained else [UNTRAINED] * len(piece)
    return Encoded(row.place, ids, labels)


def split_turns(messages, tools, first: int, tokenizer, place: str, faults: FaultList) -> list[tuple[str, bool]] | None:
    """The rendered text in pieces, each with whether it is trained. None (and a fault) where the template cannot be trained on."""
    # Once for the row: each of its turns is rendered with all that was said before.
    messages, tools = mark(tokenizer, messages), mark(tokenizer, wrap_tools(tools))
    whole = render_marked(tokenizer, messages, tools)
    pieces: list[tuple[str, bool]] = []
    done = 0
    for index, message in enumerate(messages):
        if message["role"] != "assistant" or index < first or message.get("weight") == 0:
            continue
        prompt = render_marked(tokenizer, messages[:index], tools, generate=True)
        so_far = render_marked(tokenizer, messages[: index + 1], tools)
        if not so_far.startswith(prompt) or not whole.startswith(so_far):
            faults.add(
                f"{place} message {index}",
                "a chat template that renders a turn the same whatever follows it",
                "one that is not prefix-preserving: what is trained would differ from what the model sees",
                "set model.chatTemplate to a training template (auto finds TRL's for the families that it knows)",
            )
            return None
        end = end_of_turn(so_far, len(prompt), tokenizer)
        if end is None:
            faults.add(
                f"{place} message {index}",
                f"the stop token {tokenizer.eos_token} at the end of the assistant turn",
                "none: the model would never learn to stop",
                "set model.chatTemplate to a template that writes it",
            )
            return None
        pieces += [(whole[done : len(prompt)], False), (whole[len(prompt) : end], True)]
        done = end
    pieces.append((whole[done:], False))
    return [piece for piece in pieces if piece[0] != ""]


def end_of_turn(text: str, start: int, tokenizer) -> int | None:
    """Where the assistant's turn ends, its stop token included: the template's own, not one that was spelt in the turn."""
    found = text.rfind(tokenizer.eos_token, start)
    return None if found < 0 or text[found - 1 : found] == START else found + len(tokenizer.eos_token)


def encode_tokens(row: Row, tokenizer, faults: FaultList) -> Encoded | None:
    """Rows that carry the ids that were sampled; a text beside them has to agree."""
    ids, labels = row.value["input_ids"], row.value["labels"]
    if ids and max(ids) >= len(tokenizer):
        found = f"id {max(ids)} with a vocabulary of {len(tokenizer)}"
        faults.add(
            f"{row.place} input_ids",
            "ids of this model's tokenizer",
            found,
            "export without exact tokens, or train the model that made them",
        )
        return None
    if any(label not in (UNTRAINED, token) for token, label in zip(ids, labels, strict=True)):
        faults.add(f"{row.place} labels", "each label -100 or the id itself", "other ids", "export the rows again")
        return None
    if "messages" in row.value:
        said = tokenizer.decode(ids).rstrip()
        expected = unmark(render(tokenizer, row.value["messages"], row.value.get("tools"))).rstrip()
        if said != expected:
            at = next((i for i, (a, b) in enumerate(zip(said, expected, strict=False)) if a != b), min(len(said), len(expected)))
            found = f"{said[max(0, at - 20) : at + 30]!r} for {expected[max(0, at - 20) : at + 30]!r}"
            faults.add(
                f"{row.place} input_ids",
                "the tokens of the messages beside them",
                found,
                "export without exact tokens, or with the model's own template",
            )
            return None
    return Encoded(row.place, ids, labels)


def render(tokenizer, messages: list[dict], tools: list | None, *, generate: bool = False) -> str:
    """With marks where what was given spells a control token: for `token_ids`, or for people after `unmark`."""
    return render_marked(tokenizer, mark(tokenizer, messages), mark(tokenizer, wrap_tools(tools)), generate=generate)


def render_marked(tokenizer, messages: list[dict], tools: list | None, *, generate: bool = False) -> str:
    """Raises CannotRender."""
    try:
        return tokenizer.apply_chat_template(messages, tools=tools, tokenize=False, add_generation_prompt=generate)
    except Exception as error:  # templates raise whatever they like
        raise CannotRender(f"{type(error).__name__}: {error}") from error


def wrap_tools(tools: list | None) -> list | None:
    """Templates take tools as `{type: function, function: {…}}`; flat definitions are wrapped."""
    if not tools:
        return None
    return [tool if "function" in tool else {"type": "function", "function": tool} for tool in tools]
