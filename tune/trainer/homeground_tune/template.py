"""Which chat template a run trains with, and whether it can carry tools at all."""

from __future__ import annotations

from pathlib import Path

from .encode import CannotRender, render
from .faults import Fault, Refused
from .read_settings import trl_template_file


def set_template(tokenizer, name: str, *, with_tools: bool) -> str:
    """Sets it on the tokenizer, so that the output folder serves what was trained. Returns where it came from."""
    if name == "auto":
        origin = choose(tokenizer)
    else:
        file = Path(name) if name.endswith(".jinja") else trl_template_file(name)
        assert file is not None  # read_settings has looked
        try:
            tokenizer.chat_template = file.read_text("utf-8")
        except (OSError, ValueError) as error:
            raise Refused(
                "invalid-settings", [Fault("model.chatTemplate", "a template that can be read", str(error), "mend the file")]
            ) from None
        origin = name
    if tokenizer.chat_template is None:
        raise Refused(
            "invalid-settings",
            [Fault("model.chatTemplate", "a chat template", "a tokenizer without one", "name one, e.g. qwen3_instruct_2507")],
        )
    if tokenizer.eos_token is None:
        raise Refused(
            "invalid-settings",
            [Fault("model.base", "a tokenizer with a stop token (eos_token)", "none", "set it in tokenizer_config.json")],
        )
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    try:
        render(tokenizer, [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}], None)
    except CannotRender as error:
        expected = "a template that renders a question and its answer"
        raise Refused("invalid-settings", [Fault("model.chatTemplate", expected, str(error), "mend it, or name another")]) from None
    if with_tools and not carries_tools(tokenizer):
        action = "set model.chatTemplate to one that does, e.g. qwen3_instruct_2507, and serve the result with the same"
        raise Refused(
            "invalid-settings",
            [Fault("model.chatTemplate", "a template that writes tools and tool calls", "one that leaves them out", action)],
        )
    return origin


def choose(tokenizer) -> str:
    """The model's own template where it trains as it serves, else TRL's training variant of it where TRL knows one."""
    from trl.chat_template_utils import get_training_chat_template

    try:
        variant = get_training_chat_template(tokenizer)
    except (ValueError, TypeError, KeyError):
        return "the model's own"
    if variant is None:
        return "the model's own"
    tokenizer.chat_template = variant
    return "TRL's training variant of the model's own"


def carries_tools(tokenizer) -> bool:
    """Renders a call and its result and looks for both, and for the definition."""
    marks = ("hgName", "hgArgument", "hgResult")
    call = {"type": "function", "function": {"name": "hgName", "arguments": {"hgArgument": "x"}}}
    messages = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "name": "hgName", "content": "hgResult"},
    ]
    tool = {"type": "function", "function": {"name": "hgTool", "description": "x", "parameters": {"type": "object", "properties": {}}}}
    try:
        text = tokenizer.apply_chat_template(messages, tools=[tool], tokenize=False)
    except Exception:  # templates raise whatever they like
        return False
    return all(mark in text for mark in (*marks, "hgTool"))
