# The front door. Every verb calls something else; ./justw does the same where just is missing.
set positional-arguments
set no-exit-message # a verb says itself what went wrong, once

_default: help

verbs := quote(just_executable()) + " --justfile " + quote(justfile()) + " --list --unsorted --list-heading ''"

# These verbs; of one verb its options: just help bench
[group('start here')]
help *arguments:
    @[ $# -eq 0 ] || exec bench/nsb "$@" --help; echo "No Silver Bullet. Options of a verb: ./justw help VERB. To begin: ./justw doctor, then ./justw bench go --tier smoke"; {{ verbs }}

# Measure every default contender and print the one table
[group('measure')]
bench-all *arguments:
    @bench/nsb bench-all "$@"

# The same for one contender: just bench go --tier smoke
[group('measure')]
bench *arguments:
    @bench/nsb bench "$@"

# What would run, how long, what it could detect
[group('measure')]
plan *arguments:
    @bench/nsb plan "$@"

# The contract against live services: just conform go
[group('check')]
conform *arguments:
    @bench/nsb conform "$@"

# Odd requests, drawn by a seed, to all contenders, which must answer them alike
[group('check')]
fuzz *arguments:
    @bench/nsb fuzz "$@"

# What this machine has and lacks, per contender
[group('check')]
doctor *arguments:
    @bench/nsb doctor "$@"

# One service with its database and upstream, to try by hand; Ctrl-C stops all
[group('measure')]
up *arguments:
    @bench/nsb up "$@"

# Every output again from a run's raw data
[group('read')]
report *arguments:
    @bench/nsb report "$@"

# The claims of the articles and what decides each; with a run their verdicts
[group('read')]
claims *arguments:
    @bench/nsb claims "$@"

# A blog post in English and Korean, with its charts; published elsewhere: --base https://…/
[group('read')]
blog *arguments:
    @bench/nsb blog "$@"

# A finished run into bench/results: records, one archive of raw summaries, outputs
[group('read')]
keep *arguments:
    @bench/nsb keep "$@"

# One raw summary of a run, also of a kept one: just raw RUN k6/01-hello-rate-go.json
[group('read')]
raw *arguments:
    @bench/nsb raw "$@"

# The page of every committed run and an index, as the Pages workflow publishes them: just site FOLDER
[group('read')]
site *arguments:
    @bench/nsb site "$@"

# What a workload needs of each contender: just size --rate 2000 --wait 300ms --queries 2
[group('read')]
size *arguments:
    @bench/nsb size "$@"

# How precise a run was: half-widths of the cost rows, doubts, halves, plants
[group('read')]
quality *arguments:
    @bench/nsb quality "$@"

# Where the noise of the cost rows comes from: just noise RUN RUN
[group('read')]
noise *arguments:
    @bench/nsb noise "$@"

# What run B does worse or better than run A, cell by cell: just compare A B
[group('read')]
compare *arguments:
    @bench/nsb compare "$@"

# One part of every service, one after the other: just show fanout
[group('read')]
show *arguments:
    @bench/nsb show "$@"

# All checks, the same as CI; in three minutes: just test --quick; one part: just test go
[group('check')]
test *arguments:
    @bench/nsb --dev pytest --version >/dev/null
    @bench/nsb test "$@"

# Known cheats under real loads, each refused or marked by name (some minutes)
[group('check')]
cheats:
    @NSB_CHEATS=1 bench/nsb --dev pytest -q -s tests/test_cheats.py

# A new contender after one that is there: just new bun --like node
[group('develop')]
new *arguments:
    @bench/nsb new "$@"

# Write the schemas of the outputs into bench/schema/ (not committed)
[group('develop')]
schema:
    @bench/nsb schema

# Write the contenders of deploy/kubernetes again, from bench/contenders.toml
[group('develop')]
manifests:
    @bench/nsb manifests

# Write the lock files of the harness again (needs uv)
[group('develop')]
lock:
    uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --no-annotate --python-version 3.11 bench/pyproject.toml -o bench/requirements.lock
    uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --no-annotate --python-version 3.11 --group bench/pyproject.toml:dev bench/pyproject.toml -c bench/requirements.lock -o bench/requirements-dev.lock
    uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --no-annotate --python-version 3.11 --group bench/pyproject.toml:just -o bench/requirements-just.lock
    uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --no-annotate --python-version 3.11 --group bench/pyproject.toml:jdk21 -o bench/requirements-jdk21.lock
