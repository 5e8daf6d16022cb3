"""What kind of request a message is: about the work at hand, for advice on the person's own life, after something that
they told before, or after what anybody could know.

"Which dishes should I try in Bangkok?" says in no word that what the person cannot eat has to do with it, and a list
of words that ask for advice knows one such question in five. The meaning of the message by the embedding table, and
one small hidden layer fitted to requests of people who are not in any evaluation, know three in four.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from memory.understanding.network import DenseLayer, Floats, softmax

REQUEST_KINDS: Final = ("work", "advice", "told", "known")
MAX_REQUEST_CHARS: Final = 400
"""Characters of a message that are read."""
_VECTOR: Final = np.float32(4.0)
"""What a unit vector is multiplied by, so that its parts are about as large as the other inputs."""
_MANY_WORDS: Final = 40


def request_inputs(text: str, vector: Floats) -> Floats:
    """What the model reads of a message: its vector, whether it asks, how long it is; shape (d + 2,)."""
    numbers = np.array(["?" in text, 2.0 * min(len(text.split()), _MANY_WORDS) / _MANY_WORDS], np.float32)
    found: Floats = np.concatenate([vector * _VECTOR, numbers]).astype(np.float32)
    return found


@dataclass(frozen=True, slots=True)
class RequestKinds:
    """The model. ``embed`` gives texts their vectors in the table that it was trained on. Deterministic."""

    hidden: DenseLayer
    out: DenseLayer
    embed: Callable[[Sequence[str]], Floats]

    def advice(self, text: str) -> float:
        """How likely a message asks for advice in which what its writer likes, avoids, has and is has a say."""
        read = text[:MAX_REQUEST_CHARS]
        inputs = request_inputs(read, self.embed([read])[0])
        return float(softmax(self.out(np.maximum(self.hidden(inputs[None]), 0.0)))[0, REQUEST_KINDS.index("advice")])
