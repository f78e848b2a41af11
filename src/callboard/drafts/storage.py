"""Access to the contents of lists and dicts that bypasses the methods of a subclass.

A draft is a real list or dict that overrides these methods; this is how it reaches its own
contents.
"""

from collections.abc import Callable, ItemsView, Iterable, Iterator

# The methods of unparametrized classes have unknown types; these don't.
_list: type[list[object]] = list
_dict: type[dict[str, object]] = dict

elements: Callable[[list[object]], Iterator[object]] = _list.__iter__
element: Callable[[list[object], int], object] = _list.__getitem__
stretch: Callable[[list[object], slice], list[object]] = _list.__getitem__
put_element: Callable[[list[object], int, object], None] = _list.__setitem__
put_stretch: Callable[[list[object], slice, list[object]], None] = _list.__setitem__
cut: Callable[[list[object], int | slice], None] = _list.__delitem__
append: Callable[[list[object], object], None] = _list.append
extend: Callable[[list[object], Iterable[object]], None] = _list.extend
insert: Callable[[list[object], int, object], None] = _list.insert
sort: Callable[..., None] = _list.sort

members: Callable[[dict[str, object]], ItemsView[str, object]] = _dict.items
member: Callable[[dict[str, object], str], object] = _dict.__getitem__
names: Callable[[dict[str, object]], Iterator[str]] = _dict.__iter__
put_member: Callable[[dict[str, object], str, object], None] = _dict.__setitem__
drop: Callable[[dict[str, object], str], None] = _dict.__delitem__
fill: Callable[[dict[str, object], dict[str, object]], None] = _dict.update


def whole(values: list[object]) -> list[object]:
    """Copy a list into a plain one, as fast as copying a plain one."""
    return stretch(values, slice(None))
