"""`sql`: one query over tables and views. It changes nothing."""
