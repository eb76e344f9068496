"""Values in parts: objects, keyed dicts, classes; into IR values and back."""
