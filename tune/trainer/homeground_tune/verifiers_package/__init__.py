"""A Homeground environment for verifiers: its tasks, and a harness that plays each with the product's own code and scores it by its own rubric."""

from .harness import HomegroundHarness
from .taskset import HomegroundTaskset

__all__ = ["HomegroundHarness", "HomegroundTaskset"]
