"""Settings of the whole suite.

Hypothesis runs with the profile that the environment variable HYPOTHESIS_PROFILE names:
`test` (the default), or `fuzz` (`make fuzz`) with ten times the examples.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "test", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("fuzz", settings.get_profile("test"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))
