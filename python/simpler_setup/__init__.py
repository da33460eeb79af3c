"""What tools and tests of PyPTO's public runtime import beside `simpler`: tensors as arguments, readers of records."""
