"""The policy server: a model in this process behind OpenAI's Chat Completions, with token ids and log-probabilities."""
