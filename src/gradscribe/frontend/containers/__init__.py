"""Arrays, lists, dicts and sets: subscripts, stores, methods, what iterates over them."""
