"""The steps of the simulator: planted distributions, annotators, panels, answers."""
