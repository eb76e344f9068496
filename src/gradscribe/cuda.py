"""`gs.cuda`: there is no device beside main memory, which programs may ask."""


def is_available() -> bool:
    """False."""
    return False


def device_count() -> int:
    """Zero."""
    return 0
