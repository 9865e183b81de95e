"""Pincite's library: from a file of abstracts to a verified answer. It never prints and never exits."""
