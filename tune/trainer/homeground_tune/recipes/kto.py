"""Kahneman-Tversky optimisation: single answers that are good or bad; no pairs needed, thumbs are enough."""

from __future__ import annotations

from datasets import Dataset
from trl import KTOConfig, KTOTrainer

from ..model import adapter_for, load_model
from ..prepared import Prepared
from .answers import answer_rows
from .arguments import shared_arguments


def build(prepared: Prepared) -> KTOTrainer:
    settings = prepared.settings
    train = answer_rows(prepared, prepared.rows, ("completion",))
    validation = answer_rows(prepared, prepared.validation, ("completion",)) if prepared.validation else None
    good = sum(row["label"] for row in train)
    if good in (0, len(train)):
        prepared.events.warn("one-sided", f"all {len(train)} rows are {'good' if good else 'bad'}: there is nothing to tell apart")
    model, adapter = adapter_for(load_model(prepared.folder, settings, prepared.device), settings)
    arguments = KTOConfig(
        **shared_arguments(settings, prepared.shape, prepared.device, evaluates=validation is not None),
        beta=settings.preference.beta,
        max_length=settings.data.max_tokens,
        # Weighs the rarer kind up, so that a few thumbs down are not drowned.
        desirable_weight=1.0 if good * 2 <= len(train) or good == 0 else max(0.1, (len(train) - good) / good),
        undesirable_weight=1.0 if good * 2 >= len(train) or good == len(train) else max(0.1, good / (len(train) - good)),
    )
    return KTOTrainer(
        model=model,
        args=arguments,
        train_dataset=Dataset.from_list(train),
        eval_dataset=None if validation is None else Dataset.from_list(validation),
        processing_class=prepared.tokenizer,
        peft_config=adapter,
        callbacks=[prepared.follower],
    )
