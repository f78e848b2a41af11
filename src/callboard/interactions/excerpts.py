"""Shorten a text that is too long, keeping its start and end."""


def excerpt(text: str, longest: int) -> str:
    """The text in at most `longest` characters, with the middle left out.

    The end of a command matters as much as its start. Below 60 characters, there is no room to say
    what is missing.
    """
    if len(text) <= longest:
        return text
    room = max(0, longest - len(_missing(len(text))))
    head, tail = room - room // 2, room // 2
    return text[:head] + _missing(len(text) - room) + text[len(text) - tail :]


def _missing(count: int) -> str:
    return f" … {count:,} characters not shown … "
