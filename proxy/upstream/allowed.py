"""Whether an organisation lets its people's requests go to a provider."""

from __future__ import annotations

from memory.policy import Policy
from proxy.errors import Refusal
from proxy.settings import UpstreamRoute


def checked(policy: Policy, address: str) -> str:
    """The address of a provider, to which a request may go.

    Raises:
        Refusal: 403, when the policy does not let it.
    """
    if policy.allows(address):
        return address
    allowed = ", ".join(policy.upstreams or ()) or "none"
    raise Refusal(
        403, f"requests may not go to {address} (memory.policies.{policy.name}.upstreams): allowed are {allowed}"
    )


def check_bridge(policy: Policy, route: UpstreamRoute, model: str) -> None:
    """Whether a request may go over a bridge: to the route's address, or else to litellm's name of the model.

    Raises:
        Refusal: 403, when the policy does not let it.
    """
    checked(policy, route.url or (route.bridge or "").replace("*", model))
