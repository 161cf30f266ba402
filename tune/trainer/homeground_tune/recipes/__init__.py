"""One small file a recipe: how its rows become a TRL trainer."""
