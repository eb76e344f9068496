"""What is known of a function: read from its IR, which stays as it is."""
