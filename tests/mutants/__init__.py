"""Does the suite find faults? `python -m tests.mutants` plants some in a copy, one by one."""
