"""`gs.autograd.anomaly_mode`: where a NaN or an error of a backward comes from."""

from gradscribe.runtime.graph.anomaly import detect_anomaly, set_detect_anomaly

__all__ = ["detect_anomaly", "set_detect_anomaly"]
