"""Node journals as frames: DataFrame in, DataFrame out, lazy."""
