"""The abstract values of the frontend: what names stand for while a function is lowered."""
