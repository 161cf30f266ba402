"""Homeground's trainer: training rows in, an adapter or a model out. `homeground tune` drives it; TRL and PEFT do the work."""

__version__ = "0.1.0"
