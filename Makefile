# make attraction   the attraction experiment on the bundled models, set-up included
# make test         the checks and tests, set-up included
# make docs         the documentation as pages, in site/; a broken link is an error
# make docs-serve   the same in a browser, built again whenever a page is saved
# make clean        remove the environment and everything built
#
# Settings, on the command line or in the environment:
#   PYTHON=python3.12     which Python makes the environment in .venv (3.11 or newer)
#   MODEL=cbr-rnn/1       which model `make attraction` runs
#   PIP_ARGS="..."        more options for pip, for example for a torch without GPU libraries on Linux:
#                         PIP_ARGS="--extra-index-url https://download.pytorch.org/whl/cpu"
#   PYTEST_ARGS="-n 2"    more options for pytest

.DEFAULT_GOAL := help
.PHONY: help attraction test lint docs docs-serve setup setup-test setup-docs clean

MODEL ?= cbr-rnn
RUN := .venv/bin/python
export PYTHON PIP_ARGS
export NO_MKDOCS_2_WARNING := 1

help:
	@sed -n '/^$$/q; s/^# \{0,1\}//p' Makefile

attraction: setup
	$(RUN) -m psymem attraction --model "$(MODEL)"

test: lint
	OMP_NUM_THREADS=1 $(RUN) -m pytest $(PYTEST_ARGS)

lint: setup-test
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(RUN) -c 'from importlinter.cli import lint_imports_command as run; run()' --no-cache --no-logo

docs: setup-docs
	$(RUN) -m mkdocs build --strict

docs-serve: setup-docs
	$(RUN) -m mkdocs serve

setup:
	@sh .ci/environment

setup-test:
	@sh .ci/environment dev,docs,parity

setup-docs:
	@sh .ci/environment docs

clean:
	rm -rf .venv site build dist psymem.egg-info
