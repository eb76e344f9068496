"""Attributes of objects of the user's classes, and making such objects."""
