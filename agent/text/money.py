"""Dollars as people read them, alike wherever they stand: to the cent, and finer below ten."""

from __future__ import annotations

DIME = 0.1
LEAST = 0.0001


def dollars(amount: float) -> str:
    """$1.84, $0.0920, <$0.0001, $0.00 where nothing was spent."""
    if amount >= DIME - LEAST / 2 or amount <= 0:
        return f"${max(0.0, amount):,.2f}"
    return f"${amount:.4f}" if amount >= LEAST / 2 else f"<${LEAST}"
