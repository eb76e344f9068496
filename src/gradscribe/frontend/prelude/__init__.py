"""Python source that the compiler lowers: what built-in and library functions mean."""
