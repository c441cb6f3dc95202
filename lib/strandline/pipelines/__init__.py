"""One use case a file. No pipeline names a dialect, and none calls another but `demo`."""
