"""What operations do with arrays, and say of them: nothing here knows of Tensors or graphs."""
