"""Figures of a report: one module each, a function from data to a Chart or to None where there is nothing to show."""
