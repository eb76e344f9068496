"""What is known of values: of which kind they are, and whether they vary."""
