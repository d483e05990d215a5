"""A run's folder as values: its lines from the journal, judged now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nsb.analyse import duet
from nsb.analyse.cells import read_cells
from nsb.analyse.physics import Given, Impossible
from nsb.measure.archive import summaries
from nsb.measure.integrity import Altered, chain_of
from nsb.measure.journal import CELLS, JournalError, read_facts, read_starts_of, whole_lines
from nsb.records.judged import Cell


def read_run(folder: Path) -> tuple[dict[str, Any], list[Cell]]:
    """run.json and the cells of a run, without their checks (analyse/cells.py, read_cells).

    Raises JournalError where the folder is not one of a run, or one of another version of this program, and Altered where a record is
    not what was written, or says what cannot be.
    """
    run = read_facts(folder)
    given = Given(run.get("plan", {}).get("holds_ms", {}), summaries(folder))
    try:
        with (folder / CELLS).open("rb") as file:
            cells = read_cells(whole_lines(file, CELLS, chain_of(folder)), given)
        return run, duet.doubt_cold(cells, read_starts_of(folder))
    except FileNotFoundError:
        return run, []
    except OSError as error:
        raise JournalError(f"{folder / CELLS} cannot be read: {error.strerror}") from None
    except Impossible as error:
        raise Altered(f"{folder}: {error}") from None
    except ValueError as error:
        raise JournalError(f"{folder}: {error}") from None
