"""The child process of the embedded model: a llama.cpp server that ends with its parent.

It is run as a script with one argument, a JSON object of options. It prints its address as one line
when the model is loaded, and ends when its standard input is closed, which happens however its
parent ends. It imports nothing of tunaeval.
"""

from __future__ import annotations

import json
import os
import signal
import sys


def main(options: dict[str, object]) -> None:
    # Ctrl-C goes to the whole terminal group; what it means is the parent's to decide.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Before the import: OpenMP's busy waiting makes a shared machine ten times slower.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import xllamacpp  # noqa: PLC0415 - see above

    parameters = xllamacpp.CommonParams()
    parameters.model.path = options["model_file"]
    parameters.model_alias = {options["alias"]}
    parameters.n_ctx = options["context"]
    parameters.n_parallel = options["slots"]
    parameters.cpuparams.n_threads = options["threads"]
    parameters.cpuparams_batch.n_threads = options["threads"]
    if options.get("chat_template"):
        parameters.chat_template = options["chat_template"]
    parameters.port = 0  # any free one; the address is 127.0.0.1
    parameters.endpoint_props = True
    parameters.verbosity = 1  # errors alone, and why a start failed
    parameters.ui = False
    parameters.cache_ram_mib = 0  # the default is 8 GiB
    parameters.warmup = False
    try:
        server = xllamacpp.Server(parameters)
    except RuntimeError as error:  # the reason is on standard error already
        sys.exit(str(error))
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)  # at once, even in the middle of a reply


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
