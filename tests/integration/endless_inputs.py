"""What may have no end, or keeps whoever opens it waiting, is refused by name by every command that reads a file."""

import os

import program
from program import SMALL, sets, workload


class EndlessInputs(program.ProgramTest):
    def commands(self, path):
        run = ["run", "sac-4chip", *sets(*SMALL), "-w"]
        return {"workload": [*run, path], "system": ["run", path, "-w", workload("hot")], "config": ["config", path],
                "policy": [*run, workload("hot"), "--policy", path], "checkpoint": ["resume", path, "-o", self.path("o.h5")],
                "result": ["info", path], "explain": ["explain", path], "compare": ["compare", path, path],
                "export": ["export", path, "--csv", self.path("csv")], "experiment": ["sweep", path], "ptx": ["ptx", path],
                "list": ["import", "accel-sim", path, "-o", self.path("o.h5")]}

    def test_devices_and_pipes_are_refused_by_every_reader(self):
        os.mkfifo(self.path("pipe"))
        for path in ("/dev/zero", self.path("pipe")):
            for name, command in self.commands(path).items():
                with self.subTest(name, path=path):
                    self.refused(command, 2, path, layouts=[None], timeout=10)
        self.refused(self.commands("/dev/zero")["workload"], 2, "is a device, pipe or socket", layouts=[3])

    def test_a_kernels_file_of_a_list_and_a_folders_experiment_are_looked_at_too(self):
        os.mkfifo(self.path("kernel-1.traceg"))
        self.refused(["run", "sac-4chip", "-w", self.write("kernelslist.g", "kernel-1.traceg\n")], 2,
                     "kernel-1.traceg: is a device, pipe or socket", layouts=[None])
        os.mkfifo(self.path("experiment.json"))
        self.refused(["table", self.folder], 2, "experiment.json: is a device, pipe or socket", layouts=[None])

    def test_a_text_of_more_bytes_than_any_text_has_is_refused_by_its_size(self):
        with open(self.path("huge.json"), "wb") as file:
            file.write(b"{")
            file.truncate(1 << 40)
        for command in (["config", self.path("huge.json")], ["ptx", self.path("huge.json")], ["sweep", self.path("huge.json")]):
            self.refused(command, 2, "huge.json: is longer than 256 MiB", layouts=[None])


if __name__ == "__main__":
    program.main()
