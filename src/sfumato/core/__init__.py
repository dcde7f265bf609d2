"""The data model and its mathematics; stands on NumPy and SciPy alone."""
