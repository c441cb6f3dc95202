"""What the frames of several dialects share: DataFrame in, DataFrame out, lazy."""
