"""A text that is too long, with its start and its end, and words for what is missing."""


def excerpt(text: str, longest: int) -> str:
    """The text in at most `longest` characters. What is left out is always the middle.

    The end of a command matters as much as its start. Below 60 characters there is no room
    for the words.
    """
    if len(text) <= longest:
        return text
    room = max(0, longest - len(_missing(len(text))))
    head, tail = room - room // 2, room // 2
    return text[:head] + _missing(len(text) - room) + text[len(text) - tail :]


def _missing(count: int) -> str:
    return f" … {count:,} characters not shown … "
