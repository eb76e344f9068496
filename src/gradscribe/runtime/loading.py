"""The lock under which the compiler is imported, when it is first needed.

Its modules import each other in circles; threads that entered at different places would find them
half made.
"""

from threading import RLock

LOADING = RLock()
