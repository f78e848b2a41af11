"""Questions to people: how they are put, which answers fit, and what happens when none comes.

Pure decisions over state and events; the engine does the asking and the writing.
"""
