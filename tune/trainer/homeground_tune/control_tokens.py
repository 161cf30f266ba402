"""What users, tools and models write may spell a control token (`<|im_end|>`). It stays text: only the chat template ends and begins turns.

What was given is marked before it is rendered, and what is marked is tokenised as the letters that it is. That goes for special tokens; `<tool_call>`
and its like are words of the vocabulary that products write by hand.
"""

from __future__ import annotations

import re
from functools import lru_cache

from transformers.utils.chat_template_utils import _CONTROL_TOKEN_START as START
from transformers.utils.chat_template_utils import encode_marked_chat, mark_control_tokens

NEVER = "(?!)"


def mark(tokenizer, given):
    """Messages or tools with each special token in them marked."""
    return mark_control_tokens(given, special_tokens(tokenizer))


@lru_cache(maxsize=4)
def special_tokens(tokenizer) -> re.Pattern[str]:
    """Any of them, the longest first."""
    names = sorted((token.content for token in tokenizer.added_tokens_decoder.values() if token.special), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, names)) or NEVER)


def has_marks(text: str) -> bool:
    return START in text


def unmark(text: str) -> str:
    return mark_control_tokens(text, re.compile(NEVER))


def token_ids(tokenizer, text: str) -> list[int]:
    """Of rendered text. Raises ValueError where the tokenizer knows no other way to write what is marked than the control token."""
    if not has_marks(text):
        return tokenizer(text, add_special_tokens=False)["input_ids"]
    return encode_marked_chat(tokenizer, text)
