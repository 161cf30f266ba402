"""Whether the files of a model or an adapter are whole, in a second and without torch, and what they say of its size."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path

from .faults import Fault, Refused
from .settings import Settings

AGAIN = "fetch, convert or train it again"


@dataclass(frozen=True)
class ModelShape:
    parameters: int
    layers: int
    hidden: int
    vocabulary: int
    # Sum of (rows + columns) of all linear layers: what one rank of LoRA costs.
    linear_edges: int
    # The sides of each module's matrix of weights, by its full name.
    modules: dict[str, tuple[int, ...]] = field(default_factory=dict)


def read_shape(folder: str) -> ModelShape:
    """Raises Refused where the folder's weights are torn or not in safetensors."""
    config = read_object(Path(folder) / "config.json")
    if not isinstance(config.get("model_type"), str):
        raise Refused("invalid-input", [Fault(f"{folder}/config.json model_type", "the name of an architecture", "none", AGAIN)])
    check_whole(Path(folder))
    inner = config.get("text_config")
    config = {**config, **(inner if isinstance(inner, dict) else {})}
    parameters = edges = 0
    modules: dict[str, tuple[int, ...]] = {}
    for file in sorted(Path(folder).glob("*.safetensors")):
        for name, shape in read_tensor_shapes(file).items():
            size = 1
            for side in shape:
                size *= side
            parameters += size
            if len(shape) == 2 and name.endswith(".weight"):
                modules[name.removesuffix(".weight")] = tuple(shape)
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
    return ModelShape(
        parameters, config.get("num_hidden_layers", 1), config.get("hidden_size", 1), config.get("vocab_size", 1), edges, modules
    )


def check_targets(settings: Settings, shape: ModelShape) -> None:
    """Raises Refused for a name that no module bears: PEFT passes over it in silence as long as another fits."""
    if settings.method != "lora" or settings.model.adapter is not None or settings.lora.targets == "all-linear":
        return
    names = [name.strip() for name in settings.lora.targets.split(",")]
    known = {module.rsplit(".", 1)[-1] for module in shape.modules} | {"lm_head"}
    wrong = [name for name in names if name not in known and not any(f".{module}".endswith(f".{name}") for module in shape.modules)]
    if not shape.modules or not wrong:
        return
    expected = f"all-linear, or names out of {', '.join(sorted(known))}"
    raise Refused("invalid-settings", [Fault("lora.targets", expected, ", ".join(map(repr, wrong)), "mend the name")])


def check_whole(folder: Path) -> None:
    """Raises Refused where a file of settings is torn, or a shard of the weights is missing."""
    for file in sorted(folder.glob("*.json")):
        value = read_json(file)
        shards = value.get("weight_map") if isinstance(value, dict) and file.name.endswith(".safetensors.index.json") else None
        for shard in sorted(set(shards.values())) if isinstance(shards, dict) else []:
            if not (folder / str(shard)).is_file():
                raise Refused("invalid-input", [Fault(f"{folder}/{shard}", "the weights that the index names", "no such file", AGAIN)])


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


def check_fit(adapter: str, base: str, shape: ModelShape) -> None:
    """Raises Refused where the adapter was made on a model of another width. Modules that bear another name in the files are left to PEFT."""
    for file in sorted(Path(adapter).glob("adapter_model*.safetensors")):
        for name, sides in read_tensor_shapes(file).items():
            module, lora, _ = name.removeprefix("base_model.model.").partition(".lora_A.")
            known = shape.modules.get(module)
            if lora and known is not None and sides[-1] not in known:
                found = f"one whose {module} takes {sides[-1]} values, where the model's weights are {' x '.join(map(str, known))}"
                raise Refused("invalid-input", [Fault(adapter, f"an adapter for {base}", found, "name the model that it was made on")])


def read_object(file: Path, action: str = AGAIN) -> dict:
    """Raises Refused where the file is no JSON object."""
    value = read_json(file, action, "a JSON object")
    if not isinstance(value, dict):
        raise Refused("invalid-input", [Fault(str(file), "a JSON object", type(value).__name__, action)])
    return value


def read_json(file: Path, action: str = AGAIN, expected: str = "JSON") -> object:
    try:
        return json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise Refused("invalid-input", [Fault(str(file), "a file that can be read", str(error), action)]) from None
    except ValueError as error:
        raise Refused("invalid-input", [Fault(str(file), expected, str(error), action)]) from None


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
