"""Figures of a report: one module each, a function from data to a Chart or to None where there is nothing to show."""

from atoll_analysis.figures.chart import Chart

__all__ = ["Chart"]
