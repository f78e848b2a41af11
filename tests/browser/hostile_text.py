"""Texts that break pages: without a place to break, from right to left, and of many code points."""

UNBROKEN = "unbroken" * 625
UNBROKEN_NAME = "a_name_without_any_place_to_break_" * 3
RIGHT_TO_LEFT = "האם לפרסם את הגרסה החדשה؟ هل ننشر الإصدار الجديد؟"
EMOJI = "👩‍👩‍👧‍👦🏳️‍🌈👍🏽"
OPTIONS = [
    "yes",
    UNBROKEN,
    RIGHT_TO_LEFT,
    EMOJI * 40,
    *(f"{number} {UNBROKEN_NAME}" for number in range(26)),
]
