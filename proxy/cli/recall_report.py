"""Why recall gives what it gives, as a person reads it."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from proxy.cli.output import SHORT, screen


def explained(held: dict[str, Any], limit: int) -> None:
    """The questions that were asked of memory, and what became of the best candidates: ``limit`` of those left out."""
    console = screen()
    if not held["asked"] and not held["looked"]:
        console.print("it asks nothing of memory")
        return
    if not held["asked"]:
        console.print("asked as a whole: what is known of that time, of what is open, or of somebody")
    for each in held["asked"]:
        kind = f" ({each['shape']}, counts {each['weight']:.2f})" if each["shape"] else ""
        console.print(Text(f"asked{kind}: {each['text']}"), soft_wrap=True)
        times = f"; said about {', '.join(each['times'])}" if each["times"] else ""
        passed = "passes" if each["best"] >= each["needed"] else "does not pass"
        console.print(
            Text(
                f"  words {', '.join(each['stems'])}{times}; the best of {each['found']} comes to {each['best']:.2f}"
                f" and {passed} the floor of {each['needed']:.2f}",
                "dim",
            ),
            soft_wrap=True,
        )
    left = 0
    for each in held["looked"]:
        if each["fate"] != "shown":
            left += 1
            if left > limit:
                continue
        why = "  ".join(f"{name} {value:.2f}" for name, value in each["why"].items())
        console.print(
            Text(f"{each['id'][:SHORT]}  {each['fate']}  score {each['score']:.2f}  {why}", "dim"), soft_wrap=True
        )
        console.print(Text(f"  {each['text']}"), soft_wrap=True)
    if left > limit:
        console.print(f"{left - limit} more were looked at (--limit shows more of them)")
    if held["steps"]:
        steps = "  ".join(f"{name} {value:.1f}" for name, value in held["steps"].items())
        console.print(Text(f"milliseconds  {steps}", "dim"))
