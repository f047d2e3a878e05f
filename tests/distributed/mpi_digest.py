"""The digest that the program prints is the same alone, with threads and on 1 to 5 ranks, with any map.

mpi_digest.py WORKLOAD ORGANISATION TOPOLOGY [KEY=VALUE]...: WORKLOAD is `stores`, `hot`, or `bfs`, a trace of Rodinia's breadth-first
search that is used where it lies beside the sources (../shared/traces), and else skipped."""

import os
import sys
import tarfile
import tempfile

import program

name, organisation, topology, *more = sys.argv[1:]
options = [*program.sets(*program.SMALL, "coherence.directory_entries=64", f"llc.organisation={organisation}",
                         f"link.topology={topology}", *more)]


def check(workload, extra=()):
    arguments = ["run", "sac-4chip", "-w", workload, *options, *extra]
    layouts = [(None, ()), (None, ("--threads", "3")), (1, ()), (2, ()), (3, ()), (4, ()), (5, ()),
               (2, ("--threads", "2")), (3, ("--map", "2,0,1,0,1"))]
    wanted = None
    for ranks, more in layouts:
        outcome = program.run([*arguments, *more], ranks, timeout=30)
        if outcome.code != 0:
            sys.exit(f"failed:\n{outcome}")
        digest = outcome.digest()
        print(f"{ranks or 'no'} ranks {' '.join(more):<16} {digest}  {outcome.seconds:.2f} s", flush=True)
        wanted = wanted or digest
        if digest != wanted:
            sys.exit(f"the digest should be {wanted}:\n{outcome}")


if name != "bfs":
    check(program.workload(name))
else:
    archive = os.path.join(program.SOURCE, "..", "shared", "traces", "bfs-rodinia-2.0-ft.tar.xz")
    if not os.path.exists(archive):
        print("skipped: the trace of bfs is not here")
        sys.exit(program.SKIPPED)
    with tempfile.TemporaryDirectory(dir=os.getcwd(), prefix="bfs-") as folder:  # CTest runs this in the build folder
        with tarfile.open(archive, "r:xz") as tar:
            for member in tar.getmembers():
                if not (member.isfile() or member.isdir()) or member.name.startswith("/") or ".." in member.name.split("/"):
                    sys.exit(f"{archive}: a member outside the folder: {member.name}")
            tar.extractall(folder)
        check(os.path.join(folder, "bfs-rodinia-2.0-ft", "kernelslist.g"))
