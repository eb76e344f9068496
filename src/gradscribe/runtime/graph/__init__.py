"""The recorded graph: its nodes, what they save, hooks, and the engine that runs it backwards."""
