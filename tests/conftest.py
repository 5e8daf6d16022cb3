"""Laws are tried on the same examples in every run of the suite, on new ones by ``make fuzz``, and never timed."""

from hypothesis import HealthCheck, settings

settings.register_profile("palimpsest", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fuzz", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("palimpsest")
