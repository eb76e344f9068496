"""`torchlike.signal`: windows of signals."""

from gradscribe.torchlike.signal import windows as windows
