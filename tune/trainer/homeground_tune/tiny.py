"""Makes a random Qwen3 of two layers with its own small tokenizer, in about a second: for tests, and for runs that only show the way."""

from __future__ import annotations

import inspect
import random
import string
import sys

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from .read_settings import trl_template_file

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MARKS = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]


def make_tiny(
    folder: str, *, hidden: int = 64, vocabulary: int = 1024, texts: list[str] | None = None, seed: int = 0, spread: float = 0.02
) -> None:
    """The same folder for the same arguments.

    `texts` is what its tokenizer learns its words from; without it, the source of Python's own modules. `spread` is the deviation of its first
    weights: the usual 0.02 is for wide models. With it so narrow a one soon learns what to say, but not to look back at what was said, for which
    1 / sqrt(hidden) = 0.125 spares it hundreds of steps.
    """
    file = trl_template_file("qwen3_instruct_2507")
    assert file is not None
    template = file.read_text("utf-8")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    corpus = [*(texts or [inspect.getsource(module) for module in (string, random)]), template]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        corpus, trainers.BpeTrainer(vocab_size=vocabulary, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False)
    )
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    wrapped.add_tokens(MARKS)
    wrapped.chat_template = template
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=len(wrapped),
        hidden_size=hidden,
        intermediate_size=hidden * 2,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=max(16, hidden // 4),
        max_position_embeddings=8192,
        tie_word_embeddings=True,
        initializer_range=spread,
        eos_token_id=wrapped.eos_token_id,
        pad_token_id=wrapped.pad_token_id,
        bos_token_id=None,
    )
    model = Qwen3ForCausalLM(config)
    model.generation_config.eos_token_id = wrapped.eos_token_id
    model.generation_config.pad_token_id = wrapped.pad_token_id
    model.save_pretrained(folder)
    wrapped.save_pretrained(folder)


if __name__ == "__main__":
    make_tiny(sys.argv[1])
