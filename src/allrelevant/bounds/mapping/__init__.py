"""Linear mappings of data: which of them are the same, and what their features weigh."""
