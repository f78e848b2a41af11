"""What can happen: plain data, its encoding, and how old shapes become new ones.

Imports errors, ids and clock only; does no I/O and reads no clock.
"""
