"""Numbers of things, tokens and money, as people read them. Pure."""

from typing import Final

_LEAST: Final = 0.001
_EXACT_FROM: Final = 0.1
_UNITS: Final = ((10**9, "G"), (10**6, "M"), (10**3, "k"))


def dollars(amount: float) -> str:
    """`$0`, `<$0.001`, `$0.034`, `$12.30`, `$1,234.50`."""
    if not amount:
        return "$0"
    if amount < _LEAST:
        return f"<${_LEAST}"
    return f"${amount:.3f}" if amount < _EXACT_FROM else f"${amount:,.2f}"


def counted(count: int, noun: str) -> str:
    """`1 file`, `2 files`, `1,000 files`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def short_count(count: int) -> str:
    """`940`, `12.3k`, `1.2M`."""
    for size, unit in _UNITS:
        if count >= size:
            return f"{count / size:.1f}".removesuffix(".0") + unit
    return str(count)


def total_text(tokens: int, cost: float | None) -> str:
    """`1.2M tokens, $4.31`; without a known price, only the tokens."""
    return f"{short_count(tokens)} tokens{'' if cost is None else f', {dollars(cost)}'}"
