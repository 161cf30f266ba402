"""Whether the files of a model or an adapter are whole, in a second and without torch, and what they say of its size."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path

from .faults import Fault, Refused

AGAIN = "fetch, convert or train it again"


@dataclass(frozen=True)
class ModelShape:
    parameters: int
    layers: int
    hidden: int
    vocabulary: int
    # Sum of (rows + columns) of all linear layers: what one rank of LoRA costs.
    linear_edges: int


def read_shape(folder: str) -> ModelShape:
    """Raises Refused where the folder's weights are torn or not in safetensors."""
    config = read_object(Path(folder) / "config.json")
    inner = config.get("text_config")
    config = {**config, **(inner if isinstance(inner, dict) else {})}
    parameters = edges = 0
    for file in sorted(Path(folder).glob("*.safetensors")):
        for name, shape in read_tensor_shapes(file).items():
            size = 1
            for side in shape:
                size *= side
            parameters += size
            if len(shape) == 2 and "embed" not in name and "lm_head" not in name:
                edges += sum(shape)
    if parameters == 0:
        raise Refused(
            "invalid-settings",
            [Fault("model.base", "weights in *.safetensors", f"none in {folder}", "convert the model, or fetch it whole")],
        )
    names = ("tokenizer.json", "tokenizer_config.json", "tokenizer.model")
    if not any((Path(folder) / name).is_file() for name in names):
        raise Refused(
            "invalid-settings", [Fault("model.base", "a tokenizer beside the weights", f"none in {folder}", "fetch the model whole")]
        )
    return ModelShape(parameters, config.get("num_hidden_layers", 1), config.get("hidden_size", 1), config.get("vocab_size", 1), edges)


def check_adapter(folder: str) -> str:
    """What the adapter was made on. Raises Refused where its settings or its weights are broken."""
    file = Path(folder) / "adapter_config.json"
    base = read_object(file).get("base_model_name_or_path")
    if not isinstance(base, str):
        raise Refused("invalid-input", [Fault(str(file), "base_model_name_or_path, a text", repr(base), AGAIN)])
    weights = sorted(Path(folder).glob("adapter_model*"))
    if not weights:
        raise Refused("invalid-input", [Fault(folder, "adapter_model.safetensors", "no weights", AGAIN)])
    for each in weights:
        if each.suffix == ".safetensors":
            read_tensor_shapes(each)
    return base


def read_object(file: Path) -> dict:
    """Raises Refused where the file is no JSON object."""
    try:
        value = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise Refused("invalid-input", [Fault(str(file), "a file that can be read", str(error), AGAIN)]) from None
    except ValueError as error:
        raise Refused("invalid-input", [Fault(str(file), "a JSON object", str(error), AGAIN)]) from None
    if not isinstance(value, dict):
        raise Refused("invalid-input", [Fault(str(file), "a JSON object", type(value).__name__, AGAIN)])
    return value


def read_tensor_shapes(file: Path) -> dict[str, list[int]]:
    """Name to shape, from the header; raises Refused when the file is shorter than its header says."""
    with open(file, "rb") as opened:
        start = opened.read(8)
        try:
            (length,) = struct.unpack("<Q", start)
            header = json.loads(opened.read(length)) if length < 2**27 else {}
            end = 8 + length + max((each["data_offsets"][1] for name, each in header.items() if name != "__metadata__"), default=0)
        except (struct.error, ValueError, KeyError, TypeError, AttributeError):
            end, header = -1, {}
    if end != file.stat().st_size:
        raise Refused(
            "invalid-input",
            [Fault(str(file), "a whole safetensors file", f"{file.stat().st_size} bytes, torn", AGAIN)],
        )
    return {name: each["shape"] for name, each in header.items() if name != "__metadata__"}
