"""Direct preference optimisation: of two answers to one prompt, the better one becomes likelier than the worse."""

from __future__ import annotations

from datasets import Dataset
from trl import DPOConfig, DPOTrainer

from ..model import adapter_for, load_model
from ..prepared import Prepared
from .answers import answer_rows
from .arguments import shared_arguments


def build(prepared: Prepared) -> DPOTrainer:
    """The reference is the model as it was: the base below the adapter, or a frozen copy of a whole model."""
    settings = prepared.settings
    train = answer_rows(prepared, prepared.rows, ("chosen", "rejected"))
    validation = answer_rows(prepared, prepared.validation, ("chosen", "rejected")) if prepared.validation else None
    model, adapter = adapter_for(load_model(prepared.folder, settings, prepared.device), settings)
    arguments = DPOConfig(
        **shared_arguments(settings, prepared.shape, prepared.device, evaluates=validation is not None),
        beta=settings.preference.beta,
        max_length=settings.data.max_tokens,
    )
    return DPOTrainer(
        model=model,
        args=arguments,
        train_dataset=Dataset.from_list(train),
        eval_dataset=None if validation is None else Dataset.from_list(validation),
        processing_class=prepared.tokenizer,
        peft_config=adapter,
        callbacks=[prepared.follower],
    )
