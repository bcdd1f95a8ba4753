"""Two processes as ``accelerate launch`` starts them, copies of one that has imported everything.

The launcher itself is left out: it and the processes would import torch and transformers anew each.
What it tells them is asked of accelerate.
"""

import json
import os
import socket
import sys
from importlib import import_module

from tests.support.programs.run import ran

N_PROCESSES = 2
IMPORTED_ONCE = (
    "torch.distributed.fsdp", "accelerate", "peft", "sacrebleu", "tests.support.fakes",
    "training.trainer.finetuning",
)  # fmt: skip


def launch(jobs):
    """Run commands of ``surtitle-train`` one after the other, each in two processes.

    Args:
        jobs: for each the options of ``accelerate launch``, and the words of the command.

    Returns:
        the finished process; its status is 0 where all ended well.
    """
    return ran(
        sys.executable, "-m", "tests.training.trainer.two_processes", json.dumps(jobs), timeout=500
    )


def _surroundings(options):
    """What accelerate and torch put into the environment of each process."""
    from accelerate.commands.launch import launch_command_parser  # noqa: PLC0415  only in that process
    from accelerate.utils.launch import prepare_multi_gpu_env  # noqa: PLC0415  likewise

    plain = ["--num_processes", str(N_PROCESSES), "--num_machines", "1"]
    plain += ["--mixed_precision", "no", "--dynamo_backend", "no"]
    words = [*plain, *options, "-m", "training"]
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    of_accelerate = prepare_multi_gpu_env(launch_command_parser().parse_args(words))
    return of_accelerate | {
        "WORLD_SIZE": str(N_PROCESSES), "LOCAL_WORLD_SIZE": str(N_PROCESSES),
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1",
    }  # fmt: skip


def _run(options, command):
    """Run a command in two processes; return the exit status of one that failed, or 0."""
    from accelerate import PartialState  # noqa: PLC0415  only in that process

    from training.__main__ import main  # noqa: PLC0415  likewise

    surroundings, processes = _surroundings(options), set()
    for rank in map(str, range(N_PROCESSES)):
        process = os.fork()
        if not process:
            os.environ |= surroundings | {"RANK": rank, "LOCAL_RANK": rank}
            status = main(command)
            sys.exit(status or PartialState().num_processes != N_PROCESSES)
        processes.add(process)
    while processes:
        process, status = os.wait()
        processes.remove(process)
        if status:
            for other in processes:  # it would wait for the first for ever
                os.kill(other, 9)
            return os.waitstatus_to_exitcode(status)
    return 0


if __name__ == "__main__":
    for name in IMPORTED_ONCE:
        import_module(name)
    sys.exit(any(_run(*job) for job in json.loads(sys.argv[1])))
