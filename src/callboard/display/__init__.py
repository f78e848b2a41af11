"""Questions, and what became of their answers, as lines of text.

Pure; the command line and the terminal board show the same lines.
"""
