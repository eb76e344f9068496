"""Data: subscripts, lists, dicts, objects, and values taken apart into structures."""
