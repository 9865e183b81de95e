"""What Pincite knows about models: `catalog.toml` and the licence notices. No code, no weights."""
