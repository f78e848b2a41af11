"""auto_approve: yes, and the first option."""

from callboard.engine.ports import Request
from callboard.handlers.auto import auto_approve
from callboard.handlers.custom import as_handler


def request(type: str, options: list[str] | None = None) -> Request:
    return Request("q", "s", type, "Go?", options, False, "p", None, None)


async def test_it_says_yes_and_takes_the_first_option():
    handler = as_handler(auto_approve())

    assert handler is not None
    assert await handler.answer(request("approval")) is True
    assert await handler.answer(request("choice", ["b", "a"])) == "b"


async def test_it_is_a_handler_like_any_other():
    mixed = as_handler(
        {"approval": lambda prompt: False, "choice": auto_approve().choice},
    )

    assert mixed is not None
    assert await mixed.answer(request("approval")) is False
    assert await mixed.answer(request("choice", ["b", "a"])) == "b"
