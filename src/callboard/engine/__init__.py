"""What to do next: definitions, pure decisions, and the runner that carries them out.

Holds log and state together, which know nothing of each other. Knows agents and people only
as ports. Imports nothing above itself.
"""
