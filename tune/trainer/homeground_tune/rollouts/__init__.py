"""Where GRPO's rollouts come from: Homeground's rollout service plays the product's harness, this process answers as its policy."""
