"""Questions to people: how they are asked, which answers are valid, and what happens without one.

Pure decisions over state and events; the engine asks and writes.
"""
