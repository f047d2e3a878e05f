"""What happens to a run while it runs: layouts, kills, signals, rivals for its output, disks that fill up."""

import glob
import os
import resource
import signal
import subprocess
import time

import program
import systems
from lab import REFUSALS, Failure, quiet_kill, start
from program import SMALL, sets, workload


def layout(rng, mpi=0.2, chips=4):
    """Options and ranks of mpirun."""
    if rng.random() < mpi:
        return [], rng.randrange(2, chips + 2)
    return ["--threads", rng.randrange(2, chips + 2)], None


def legal_run(lab, but=()):
    """Arguments of a run of any legal system, the digest of that run undisturbed, and the number of chips. What is refused,
    in one message, is drawn again, and so is what has a key that begins with one of `but`."""
    while True:
        preset, overrides, chips = systems.system(lab.rng)
        arguments = ["run", preset, "-w", systems.workload(lab), *overrides]
        outcome = lab.run(arguments)
        if not lab.refused(outcome) and not any(text.startswith(but) for text in overrides):
            return arguments, outcome.digest(), chips


def determinism(lab):
    """Any legal system gives one digest, however its chips are spread."""
    arguments, wanted, chips = legal_run(lab)
    options, ranks = layout(lab.rng, chips=chips)
    return lab.same(lab.run([*arguments, *options], ranks), wanted)


def coherence(lab):
    """No read of any legal system gets stale data."""
    arguments, wanted, _ = legal_run(lab, but=("observe.",))
    return lab.same(lab.run([*arguments, "--check"], timeout=300), wanted)


def left_by(output):
    return sorted(glob.glob(glob.escape(output) + ".*.ckpt"), key=lambda p: int(p.split(".")[-2]))


def resumes(lab):
    """What a run of any legal system leaves is gone on with on any layout, to the same digest: no sound state is refused."""
    rng = lab.rng
    arguments, wanted, chips = legal_run(lab)
    output = lab.fresh(".h5")
    stopped = lab.run([*arguments, "-o", output, "--checkpoint-every", rng.choice((500, 2000, 7000)), "--max-cycles",
                       rng.choice((1500, 4000, 12000))])
    if stopped.code != 0:
        raise Failure(f"a run that succeeds does not when it leaves checkpoints: {stopped}")
    options, ranks = layout(rng, 0.1, chips)
    left = left_by(output)
    return lab.same(lab.run(["resume", rng.choice(left), "-f", "--max-cycles", "none", "--checkpoint-every", "none", *options], ranks),
                    wanted) if left else "same"


def going(lab, *options, repeat=60, ranks=None):
    """A run of a second or so that has begun, and its output."""
    output = lab.fresh(".h5")
    process = start(["run", "sac-4chip", "-w", lab.long(repeat), "-o", output, *options, *sets(*SMALL)], ranks)
    end = time.monotonic() + 20
    while not os.path.exists(output + ".lock") and process.poll() is None and time.monotonic() < end:
        time.sleep(0.005)
    return process, output


def ended(lab, process, seconds=60):
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        quiet_kill(process)
        raise Failure(f"hang: did not end within {seconds} s of a signal") from None
    return program.Outcome(process.args, process.returncode, out, err, 0)


def kills(lab):
    """SIGKILL at any moment: the last checkpoint is good, and a run that goes on ends with the digest of one that was left
    alone. Without a checkpoint nothing stands under the output's name."""
    rng = lab.rng
    wanted = lab.digest(["run", "sac-4chip", "-w", lab.long(60), *sets(*SMALL)])
    process, output = going(lab, "--checkpoint-every", rng.choice((1000, 4000)))
    time.sleep(rng.random() ** 2)
    quiet_kill(process)
    if process.returncode == 0:
        return lab.same(lab.run(["resume", left_by(output)[0], "-f"]), wanted)
    if os.path.exists(output):
        raise Failure(f"{output} is there, and its run was killed")
    if not left_by(output):
        return "refused"
    options, ranks = layout(rng, 0.1)
    return lab.same(lab.run(["resume", left_by(output)[-1], *options], ranks), wanted)


def signals(lab):
    """SIGTERM ends, SIGUSR1 leaves a checkpoint, SIGINT a result that says that it is incomplete; each by its exit code."""
    rng = lab.rng
    number, code = rng.choice(((signal.SIGTERM, 143), (signal.SIGUSR1, 75), (signal.SIGINT, 130)))
    options = rng.choice(([], ["--threads", 2]))
    process, output = going(lab, *options)
    time.sleep(0.3 * rng.random())
    if process.poll() is None:
        os.kill(process.pid, number)
    outcome = ended(lab, process)
    if outcome.code == 0:
        return "same"
    if outcome.code != code:
        raise Failure(f"{signal.Signals(number).name} ended the run with {outcome.code}: {outcome}")
    if number == signal.SIGUSR1:
        wanted = lab.digest(["run", "sac-4chip", "-w", lab.long(60), *sets(*SMALL)])
        return lab.same(lab.run(["resume", left_by(output)[-1]]), wanted)
    if (number == signal.SIGINT) != os.path.exists(output):
        raise Failure(f"after {signal.Signals(number).name}: result {'missing' if number == signal.SIGINT else 'there'}")
    if number == signal.SIGINT:
        cycles = outcome.err.split("interrupted at cycle ")[1].split(";")[0]
        # Chips hear of the end control.latency_cycles later.
        limited = lab.run(["run", "sac-4chip", "-w", lab.long(60), "--max-cycles", int(cycles) - 200, *sets(*SMALL)])
        return lab.same(limited, outcome.digest())
    return "refused"


def writers(lab):
    """Of those who write one output at a time one succeeds, and what stands there is whole."""
    rng = lab.rng
    output = lab.fresh(".h5")
    arguments = ["run", "sac-4chip", "-w", workload("hot"), "-o", output, *rng.choice(([], ["--force"])), *sets(*SMALL)]
    runs = [start(arguments) for _ in range(rng.randrange(2, 5))]
    outcomes = [ended(lab, process) for process in runs]
    good = [o for o in outcomes if o.code == 0]
    for o in outcomes:
        if o.code != 0:
            lab.refused(o)
    if not good or (len(good) > 1 and "--force" not in arguments):
        raise Failure(f"{len(good)} of {len(runs)} wrote {output}: " + "".join(str(o) for o in outcomes))
    if good[0].digest() not in lab.run(["info", output]).out:
        raise Failure(f"{output} is not what was said")
    return "same"


def full_disk(lab):
    """A limit on the size of files, anywhere: the result is whole where the message says, or nothing was simulated."""
    rng = lab.rng
    limit = rng.choice((rng.randrange(1, 96 << 10), rng.randrange(96 << 10, 400 << 10)))
    output = lab.fresh(".h5")
    arguments = ["run", "sac-4chip", "-w", workload("stores"), "-o", output, *sets(*SMALL),
                 *rng.choice(([], ["--checkpoint-every", 3000]))]
    outcome = lab.run(arguments, env={**program.environment(), "TMPDIR": lab.folder},
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    if outcome.code == 0:
        return lab.same(lab.run(["info", output]), outcome.digest())
    if outcome.code not in REFUSALS or os.path.exists(output):
        raise Failure(f"limit {limit}: {outcome}")
    if "nothing has been simulated" not in outcome.err:
        outcome.digest()
        return "kept"
    return "refused"


def endless(lab):
    """Devices, pipes and folders with nothing in them instead of files."""
    rng = lab.rng
    pipe, empty = lab.fresh(".pipe"), lab.fresh("")
    os.mkfifo(pipe)
    os.mkdir(empty)
    path = rng.choice(("/dev/zero", "/dev/random", "/dev/full", pipe, empty))
    run = ["run", "sac-4chip", *sets(*SMALL), "-w"]
    command = rng.choice(([*run, path], ["run", path, "-w", workload("hot")], ["config", path], ["resume", path, "-o", lab.fresh(".h5")],
                          [*run, workload("hot"), "--policy", path], ["info", path], ["explain", path], ["compare", path, path],
                          ["export", path, "--csv", lab.path("csv")], ["sweep", path], ["ptx", path], ["table", path],
                          ["import", "accel-sim", path, "-o", lab.fresh(".h5")]))
    if not lab.refused(lab.run(command, timeout=15)):
        raise Failure(f"{command} was accepted")
    return "refused"
