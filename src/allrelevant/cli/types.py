"""Value types of options."""
