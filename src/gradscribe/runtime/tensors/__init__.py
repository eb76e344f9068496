"""`Tensor`: its attributes and methods, creation, printing, in-place operations, views."""
