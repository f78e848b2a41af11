"""Lists and dicts as they are stored, past what a subclass makes of reading and writing them.

A draft is a real list or dict that overrides these; this is how it reaches its own contents.
"""

from collections.abc import Callable, ItemsView, Iterable, Iterator
from typing import Any

# The methods of an unparametrised class are of unknown type; the declarations give them one.
_list: Any = list
_dict: Any = dict

elements: Callable[[list[Any]], Iterator[Any]] = _list.__iter__
element: Callable[[list[Any], int], Any] = _list.__getitem__
stretch: Callable[[list[Any], slice], list[Any]] = _list.__getitem__
put_element: Callable[[list[Any], int, Any], None] = _list.__setitem__
put_stretch: Callable[[list[Any], slice, list[Any]], None] = _list.__setitem__
cut: Callable[[list[Any], int | slice], None] = _list.__delitem__
append: Callable[[list[Any], Any], None] = _list.append
extend: Callable[[list[Any], Iterable[Any]], None] = _list.extend
insert: Callable[[list[Any], int, Any], None] = _list.insert

members: Callable[[dict[str, Any]], ItemsView[str, Any]] = _dict.items
member: Callable[[dict[str, Any], str], Any] = _dict.__getitem__
names: Callable[[dict[str, Any]], Iterator[str]] = _dict.__iter__
put_member: Callable[[dict[str, Any], str, Any], None] = _dict.__setitem__
drop: Callable[[dict[str, Any], str], None] = _dict.__delitem__
fill: Callable[[dict[str, Any], dict[str, Any]], None] = _dict.update


def whole(values: list[Any]) -> list[Any]:
    """Copy a list into a plain one, as quickly as a plain one is copied."""
    return stretch(values, slice(None))
