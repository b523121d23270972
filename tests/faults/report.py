"""What a fault did, in a line: how often it fired, what it cost, and how long recovery took."""

from collections.abc import Collection


class Report:
    def __init__(self, name: str, lines: list[str]) -> None:
        self._name = name
        self._lines = lines

    def __call__(self, **figures: object) -> None:
        said = ", ".join(f"{name.replace('_', ' ')} {shown(value)}" for name, value in figures.items())
        self._lines.append(f"{self._name}: {said}")


def shown(value: object) -> str:
    match value:
        case float():
            return f"{value:.2f}"
        case dict():
            return "; ".join(f"{name}: {shown(each)}" for name, each in value.items()) or "none"
        case _:
            return str(value)


def spread(seconds: Collection[float]) -> str:
    """The middle one and the worst."""
    ordered = sorted(seconds)
    if not ordered:
        return "none"
    return f"{ordered[len(ordered) // 2]:.2f} s (worst {ordered[-1]:.2f} s)"
