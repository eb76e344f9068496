"""Memory and names: what values reach, what is captured, what code may have kept."""
