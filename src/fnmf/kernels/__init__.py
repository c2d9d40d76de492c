"""Compiled loops, and how they want their arrays. Nothing here knows where rows come from."""
