"""What an answer of our endpoints holds, where it is put together from the fields of several types."""

from __future__ import annotations

from typing import Any, Final


class Fields:
    """Says of a dictionary which fields it has: ``Annotated[dict[str, Any], Fields("Name", Held, More)]``.

    ``of`` are dataclasses, TypedDicts, other dictionaries marked so, unions of these, of which a field that only some
    have may be missing, or functions that give the types of fields by their names. A later one's fields stand in the
    place of an earlier one's; those in ``without`` are not told. The description of our endpoints calls the whole
    ``name``.
    """

    def __init__(self, name: str, *of: Any, without: tuple[str, ...] = ()) -> None:
        self.name: Final = name
        self.of: Final = of
        self.without: Final = without
