"""One rollout's turns, as token ids: what was sampled is kept, so that training sees exactly the tokens that the policy wrote."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..control_tokens import token_ids, unmark
from ..encode import render
from .chat import prompt_ids


@dataclass
class Turn:
    prompt: list[int]
    completion: list[int]
    logprobs: list[float]


@dataclass
class Session:
    # Of its first turn; each turn gets its own from it. None samples from the process's generator.
    seed: int | None = None
    turns: list[Turn] = field(default_factory=list)
    # How many messages the last request had; the next one repeats them, then the answer.
    messages: int = 0
    # Turns whose text did not tokenise back to what was sampled, and were repaired.
    repaired: int = 0
    # How often it asked for more after its tokens were used up.
    capped: int = 0

    def prompt(self, tokenizer, messages: list[dict], tools: list[dict] | None) -> list[int]:
        """The next turn's prompt. Where the history tokenises otherwise than it was sampled, the sampled ids are kept and only what is new is appended."""
        whole = prompt_ids(tokenizer, messages, tools)
        if not self.turns:
            return whole
        held = self.turns[-1].prompt + self.turns[-1].completion
        if whole[: len(held)] == held:
            return whole
        before = render(tokenizer, messages[: self.messages + 1], tools)
        after = render(tokenizer, messages, tools, generate=True)
        # History that was rewritten (compaction, another branch) starts a row of its own.
        if len(messages) <= self.messages or messages[self.messages]["role"] != "assistant" or not after.startswith(before):
            return whole
        if not self.same_answer(tokenizer, messages[self.messages], tools, messages[: self.messages]):
            return whole
        self.repaired += 1
        end = before.rfind(tokenizer.eos_token) + len(tokenizer.eos_token)
        stop = "" if held[-1] == tokenizer.eos_token_id else tokenizer.eos_token
        return held + token_ids(tokenizer, stop + after[end:])

    def same_answer(self, tokenizer, answer: dict, tools, history: list[dict]) -> bool:
        """Whether the answer in the history is the one that was sampled, spelling of JSON and white space aside."""
        start = len(render(tokenizer, history, tools, generate=True))
        written = unmark(render(tokenizer, [*history, answer], tools)[start:])
        sampled = tokenizer.decode(self.turns[-1].completion)
        return letters(written, tokenizer.eos_token) == letters(sampled, tokenizer.eos_token)

    def take(self, turn: Turn, messages: int) -> None:
        self.turns.append(turn)
        self.messages = messages

    def rows(self) -> list[Row]:
        """The turns as training rows: stitched where a prompt begins with exactly what a row holds, split where none does."""
        rows: list[Row] = []
        for turn in self.turns:
            # The newest first; an older one where a sub-agent's turns came between.
            before = next((row for row in reversed(rows) if turn.prompt[: len(row.ids)] == row.ids), None)
            if before is None:
                rows.append(Row.start(turn))
            else:
                before.append(turn)
        return rows


@dataclass
class Row:
    """`mask` is 1 for what the policy sampled and 0 for what the product put in between; all three lists are of the completion."""

    prompt: list[int]
    completion: list[int]
    logprobs: list[float]
    mask: list[int]

    @property
    def ids(self) -> list[int]:
        return self.prompt + self.completion

    @staticmethod
    def start(turn: Turn) -> Row:
        return Row(turn.prompt, list(turn.completion), list(turn.logprobs), [1] * len(turn.completion))

    def append(self, turn: Turn) -> None:
        between = turn.prompt[len(self.ids) :]
        self.completion += between + turn.completion
        self.logprobs += [0.0] * len(between) + turn.logprobs
        self.mask += [0] * len(between) + [1] * len(turn.completion)


def letters(text: str, eos: str) -> str:
    return "".join(text.replace(eos, "").split())
