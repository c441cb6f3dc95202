"""What only a classic session has: a JVM that this process reaches. No other module imports py4j or touches the JVM."""
