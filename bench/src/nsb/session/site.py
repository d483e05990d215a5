"""The published copy: a folder with the page of every committed run, and an index."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from nsb.errors import Refused
from nsb.measure.journal import write_whole
from nsb.registry.claims import Claims
from nsb.render import site as pages
from nsb.session.outputs import drawn_apart, outputs
from nsb.session.runs import WITHDRAWN, read_run

KEPT = ("run.json", "cells.jsonl", "starts.jsonl", "code.json", "raw.tar.xz", "SHA256SUMS", "chain.sha256", WITHDRAWN)
"""Records of a run, as they are committed; all else is made again."""


def publish(results: Path, target: Path, claims: Claims, say: Callable[[str], None]) -> None:
    """`target` is made, and must not be there yet.

    Raises JournalError and Altered for a run that cannot be read, and Refused where a page cannot be drawn.
    """
    folders = sorted((file.parent for file in results.glob("*/run.json")), key=lambda folder: folder.name, reverse=True)
    if not folders:
        raise Refused(f"{results} has no run")
    try:
        target.mkdir(parents=True)
    except FileExistsError:
        raise Refused(f"{target} is there already: delete it, or name another folder") from None
    runs = []
    for number, folder in enumerate(folders, 1):
        say(f"[{number}/{len(folders)}] {folder.name}")
        copy = target / folder.name
        copy.mkdir()
        for name in KEPT:
            if (folder / name).exists():
                shutil.copyfile(folder / name, copy / name)
        run, cells = read_run(copy)
        outputs(copy, run, cells, claims)
        if (why := drawn_apart(copy, alone=True)) is not None:
            raise Refused(f"the page of {folder.name} could not be drawn: {why}")
        runs.append((folder.name, run))
    for language, name in pages.INDEX.items():
        write_whole(target / name, pages.index(runs, language))
