"""How Hypothesis looks for counterexamples: with bounded patience, and no eye on the clock.

A suite that can use more has a test of its own for that, marked `long`.
"""

from hypothesis import settings

settings.register_profile("ci", max_examples=50, deadline=None, print_blob=True)
settings.load_profile("ci")
