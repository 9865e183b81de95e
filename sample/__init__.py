"""The sample collection: data only."""
