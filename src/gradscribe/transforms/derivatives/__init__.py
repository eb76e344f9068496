"""What both modes of differentiation need: rules of operations and calls, cotangents by type."""
