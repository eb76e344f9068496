"""Joins: what branches and loops leave behind of values, names and memory."""
