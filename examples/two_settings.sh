#!/bin/sh
# The embedded model asked in two ways, and how sure it is that one of them is better.
#
#     sh examples/two_settings.sh [OPTION ...]        options of `tunaeval run`, for both runs
#
# Once the model writes what it likes, once it is forced to follow a JSON schema of the calls. Both runs are
# kept below runs/, so that they can be read again. Needs the extra `local`, and a minute or two.

set -eu

tunaeval run --suite smoke --free-text --quiet --out runs/free "$@"
tunaeval run --suite smoke --quiet --out runs/constrained "$@"

# They were given their tools in different ways, so this has to be asked for.
exec tunaeval compare runs/free runs/constrained --latest --different-prompts
