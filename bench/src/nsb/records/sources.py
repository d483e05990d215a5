"""How much code each service is: the sizes of a run's code.json. Pure."""

from __future__ import annotations

from pydantic import Field, ValidationError

from nsb.registry.terms import Frozen


class Size(Frozen):
    """The sources that make a running program, counted alike in every language (measure/code.py: how, and what it cannot see)."""

    files: int = Field(gt=0)
    lines: int = Field(ge=0)
    """Neither blank nor comment nor docstring."""
    complexity: int = Field(ge=0)
    """McCabe's sum over the functions: one for each of them, and one for each decision."""
    functions: int = Field(ge=0)
    """Those that lie in no other one."""


class Code(Frozen):
    """code.json: a service that was not counted is not in `services`, which is not the same as a size of zero."""

    tool: str = Field(min_length=1)
    """Name and version."""
    services: dict[str, Size]
    contenders: dict[str, str]
    """Contender → its service, of every contender of the run."""

    def size(self, contender: str) -> Size | None:
        """Of the service that a contender runs; None where it was not counted."""
        return self.services.get(self.contenders.get(contender, ""))


def read_code(text: str) -> Code:
    """The record of code.json. Raises ValueError with a sentence for a text that is none."""
    try:
        return Code.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the text"
        raise ValueError(f"these are no sizes of code: {where}: {first['msg']}") from None
