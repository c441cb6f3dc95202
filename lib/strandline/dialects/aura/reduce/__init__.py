"""The state of an authority as a pure function of its accepted facts."""
