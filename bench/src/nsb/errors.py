"""What can go wrong as a matter of course: every such error is a sentence for the user and an exit code. Imports nothing."""

from __future__ import annotations


class Failure(Exception):
    """An expected failure; `str` of it is the whole message."""

    exits = 3


class Refused(Failure):
    """The command cannot do on this machine what was asked; the message names the remedy."""
