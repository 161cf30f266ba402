"""What is wrong with what was handed in, all at once: where, what was expected, what to do. Nothing here imports torch."""

from __future__ import annotations

import errno
import shutil
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Fault:
    """One thing that a user can mend."""

    field: str
    expected: str
    found: str
    action: str

    def __str__(self) -> str:
        return f"{self.field}: expected {self.expected}, found {self.found}; {self.action}"


class Refused(Exception):
    """The work cannot start (or go on) as asked: exit code 2. `code` is one of Homeground's error codes."""

    exit_code = 2

    def __init__(self, code: str, faults: list[Fault]) -> None:
        super().__init__("; ".join(str(fault) for fault in faults))
        self.code = code
        self.faults = faults

    def event(self) -> dict:
        return {"event": "refused", "code": self.code, "faults": [asdict(fault) for fault in self.faults]}


class Failed(Exception):
    """The work broke off for a reason outside the settings (a full disk, a service that went away): exit code 3."""

    exit_code = 3

    def __init__(self, message: str, action: str) -> None:
        super().__init__(message)
        self.action = action

    def event(self) -> dict:
        return {"event": "failed", "message": str(self), "action": self.action}


@dataclass
class FaultList:
    """Collects faults so that they are reported together."""

    code: str = "invalid-settings"
    faults: list[Fault] = field(default_factory=list)

    def add(self, field: str, expected: str, found: object, action: str) -> None:
        text = found if isinstance(found, str) else repr(found)
        self.faults.append(Fault(field, expected, text if len(text) <= 200 else text[:200] + "…", action))

    def raise_if_any(self) -> None:
        if self.faults:
            raise Refused(self.code, self.faults)


def is_disk_full(error: Exception, output: str = ".") -> bool:
    """Three libraries write checkpoints, and each says it otherwise; torch does not say why it could not write."""
    text = str(error)
    said = "No space left" in text or "os error 28" in text or getattr(error, "errno", None) == errno.ENOSPC
    return said or ("PytorchStreamWriter" in text and shutil.disk_usage(output).free < 2**26)
