"""Laws are drawn at random and never timed: a busy machine is no failure."""

from hypothesis import HealthCheck, settings

settings.register_profile("palimpsest", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("palimpsest")
