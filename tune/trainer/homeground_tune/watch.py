"""Ends a run that nobody follows any more, or in which nothing moves."""

from __future__ import annotations

import os
import sys
import threading
import time

from .events import Events


def end_with_parent() -> None:
    """Started by the command line, which holds our stdin open: at its end (kill -9 included) we end too."""
    if os.environ.get("HOMEGROUND_FOLLOWED") != "1":
        return

    def wait() -> None:
        # Not through sys.stdin: its lock, held by this thread, would abort the interpreter when it ends by itself.
        while os.read(0, 4096):
            pass
        os._exit(3)

    threading.Thread(target=wait, daemon=True).start()


def end_when_stalled(events: Events, minutes: float) -> None:
    """No event for so long: says so and ends with 3. The last checkpoint is what the same command goes on from."""

    def wait() -> None:
        while True:
            time.sleep(min(5.0, minutes * 6))
            if time.monotonic() - events.last_at > minutes * 60:
                message = f"no step has ended for {minutes:g} minutes"
                events.emit(
                    "failed",
                    message=message,
                    action="look at log.txt in the output folder; run the same command to go on from the last checkpoint",
                )
                print(message, file=sys.stderr, flush=True)
                os._exit(3)

    threading.Thread(target=wait, daemon=True).start()
