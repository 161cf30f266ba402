"""On-policy distillation: the student answers, and a local teacher of the same vocabulary says how likely each of its tokens was."""

from __future__ import annotations

from datasets import Dataset
from transformers import AutoModelForCausalLM
from trl import DistillationConfig, DistillationTrainer

from ..control_tokens import has_marks
from ..encode import CannotRender, refuse_messages
from ..faults import Fault, FaultList, Refused
from ..model import adapter_for, load_model, load_tokenizer, local_folder
from ..prepared import Prepared
from .answers import prompt_text, warn_of_control_tokens
from .arguments import shared_arguments


def build(prepared: Prepared) -> DistillationTrainer:
    """Raises Refused where teacher and student do not share a vocabulary."""
    settings, tokenizer = prepared.settings, prepared.tokenizer
    folder = local_folder(settings.distill.teacher)
    if load_tokenizer(folder).get_vocab() != tokenizer.get_vocab():
        raise Refused(
            "invalid-settings", [Fault("distill.teacher", "a teacher with the student's vocabulary", folder, "take one of the same family")]
        )
    texts: list[tuple[str, str]] = []
    faults = FaultList("invalid-input")
    for row in prepared.rows:
        try:
            texts += [(row.place, text) for text in prompts_of(row.value, tokenizer)]
        except CannotRender as error:
            refuse_messages(row.place, error, faults)
    faults.raise_if_any()
    warn_of_control_tokens([place for place, text in texts if has_marks(text)], prepared)
    prompts = [{"prompt": text} for _, text in texts if not has_marks(text)]
    if not prompts:
        raise Refused("invalid-input", [Fault("data.train", "a text without control tokens", "none", "export other rows")])
    longest = max(len(tokenizer(row["prompt"], add_special_tokens=False)["input_ids"]) for row in prompts)
    prepared.check_memory(longest + settings.distill.turn_tokens)
    model, adapter = adapter_for(load_model(prepared.folder, settings, prepared.device), settings)
    teacher = AutoModelForCausalLM.from_pretrained(folder, dtype=model.dtype)
    arguments = DistillationConfig(
        **shared_arguments(settings, prepared.shape, prepared.device, evaluates=False),
        max_completion_length=settings.distill.turn_tokens,
        temperature=settings.distill.temperature,
    )
    return DistillationTrainer(
        model=model,
        teacher_model=teacher,
        args=arguments,
        train_dataset=Dataset.from_list(prompts),
        processing_class=tokenizer,
        peft_config=adapter,
        callbacks=[prepared.follower],
    )


def prompts_of(row: dict, tokenizer) -> list[str]:
    """One for each assistant turn of a conversation: what the student will see there."""
    tools = row.get("tools")
    if "prompt" in row:
        return [prompt_text(tokenizer, row["prompt"], tools)]
    messages = row["messages"]
    return [prompt_text(tokenizer, messages[:at], tools) for at, message in enumerate(messages) if message["role"] == "assistant"]
