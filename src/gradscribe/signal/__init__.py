"""`gs.signal`: windows of signals."""

from gradscribe.signal import windows as windows
