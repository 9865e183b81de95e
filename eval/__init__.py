"""Offline evaluation: question sets, figures, runs that survive a kill, and honest comparisons."""
