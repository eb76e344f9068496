"""Settings of the whole suite."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "test", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("test")
