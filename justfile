# What contributors run, by name: `uvx --from rust-just just` lists it. Continuous integration runs .ci/run, which has the same commands.

# List the tasks
default:
    @just --list --unsorted

# Run the tests on all cores; arguments go to pytest
test *arguments:
    uv run --extra dev pytest -n auto {{arguments}}

# Run the tests that need no compiled kernels, as plain Python
quick *arguments:
    NUMBA_DISABLE_JIT=1 uv run --extra dev pytest -n auto -m quick -p no:cacheprovider {{arguments}}

# Check style, types and import contracts
lint:
    uv run --extra dev ruff check .
    uv run --extra dev ruff format --check .
    uv run --extra dev mypy
    uv run --extra dev lint-imports

# Mend what style checks can mend
format:
    uv run --extra dev ruff check --fix .
    uv run --extra dev ruff format .

# Build the site, or `just docs serve`
docs task="build":
    uv run --extra docs python -m tools.docs {{task}}

# Build wheels and sdists of all packages, checked as an index would
release:
    uv run --extra docs python tools/release.py

# Keep the answers of all methods in a file, before a change
answers-write file:
    uv run --extra dev python -m tests.stress.answers write {{file}}

# Compare them after it
answers-compare file:
    uv run --extra dev python -m tests.stress.answers compare {{file}}

# Everything, as on a fresh machine
all:
    .ci/run
