"""What somebody is to somebody: "my wife", "our manager", "Petra's landlord"."""

from __future__ import annotations

from typing import Final

RELATION: Final = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|sons?|daughters?|child(?:ren)?|kids?|mother|mom|mum|father|dad"
    r"|parents?|brothers?|sisters?|aunt|uncle|cousins?|niece|nephew|friends?|boss|manager|lead|colleagues?|co-?workers?"
    r"|team ?mates?|room-?mates?|neighbou?rs?|clients?|customers?|teacher|doctor|therapist|mentor|landlord|intern"
    r"|designer)"
)
"""A pattern of one such word, in lower case."""
