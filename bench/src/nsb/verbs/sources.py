"""Verbs about the sources: show, schema, test."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from nsb.verbs.common import BENCH, ROOT, console, registry_of


def show(part: str) -> None:
    """One part of every service, one after the other."""
    from nsb.measure import show as showing
    from nsb.registry.load import ConfigurationError

    registry = registry_of()
    found = showing.part(ROOT, registry, part)
    if not found:
        raise ConfigurationError([f"PART: no service has a file named {part!r}; try {', '.join(showing.parts(ROOT, registry))}"])
    for path, text in found:
        console.rule(path)
        console.print(text, markup=False)


def schemas() -> None:
    """The documented columns and fields of every output, into bench/schema/ (ignored by git: they follow from the models)."""
    from nsb.render import schema

    (BENCH / "schema").mkdir(exist_ok=True)
    schema.write(BENCH / "schema")


def manifests() -> None:
    """What deploy/kubernetes has of each default contender, from contenders.toml; folders of others go."""
    import shutil

    from nsb.measure.journal import write_whole
    from nsb.registry.manifests import FOLDER, texts

    folder, made = ROOT / FOLDER, texts(registry_of())
    for gone in [each for each in folder.iterdir() if each.is_dir() and f"{each.name}/kustomization.yaml" not in made]:
        shutil.rmtree(gone)
    for path, text in made.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_whole(folder / path, text)


def test(only: Sequence[str], quick: bool, names: bool) -> None:
    """The checks, the same as CI; exits 1 where one fails. `names`: prints what CI runs at the same time, as JSON, and checks nothing."""
    from nsb.session import checks

    if names:
        print(json.dumps(checks.names(ROOT, registry_of())))
        return
    sys.exit(checks.run_all(ROOT, registry_of(), only, console, quick))
