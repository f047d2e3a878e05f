"""The results of the experiments, by paper, with the functions of the validation pages that read them. Needs h5py."""

import functools
import importlib.util
import json
import pathlib
import sys
import types

VALIDATION = pathlib.Path(__file__).resolve().parents[1]


class Missing(Exception):
    """An experiment has no results, or not all of its points."""


def module(paper, name="report"):
    """A script of the paper's folder; their names are alike, so that an import statement cannot tell them apart."""
    folder = VALIDATION / paper
    if str(folder) not in sys.path:
        sys.path.append(str(folder))  # what it imports from its own folder
    spec = importlib.util.spec_from_file_location(f"{paper}_{name}", folder / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


class Runs:
    """Experiment NAME is in folder/NAME."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def of(self, name):
        """Its folder, if it is complete."""
        folder = self.folder / name
        if not (folder / "experiment.json").exists():
            raise Missing(f"{folder} has no results")
        asked = json.loads((folder / "experiment.json").read_text())
        points = [f"{w['name']}__{v['name']}.h5" for w in asked["workloads"] for v in asked["variants"]]
        missing = [p for p in points if not (folder / p).exists()]
        if missing:
            raise Missing(f"{folder} lacks {len(missing)} of {len(points)} points, {missing[0]} among them")
        return folder

    @functools.cached_property
    def sac(self):
        page = module("sac")
        runs = page.load(self.of("sac"))
        return types.SimpleNamespace(page=page, runs=runs, columns=page.speedup_columns(runs))

    @functools.cached_property
    def sac_window(self):
        """Cycles by workload and variant."""
        points = sorted(self.of("sac_window").glob("*__*.h5"))
        return {tuple(p.stem.split("__")): self.sac.page.read(p)["cycles"] for p in points}

    @functools.cached_property
    def selrep_page(self):
        return module("selrep")

    @functools.cached_property
    def selrep(self):
        page = self.selrep_page
        return types.SimpleNamespace(page=page, all=page.Results(self.of("selrep")))

    @functools.cached_property
    def selrep_neutral(self):
        return self.selrep_page.Results(self.of("selrep_neutral"))

    @functools.cached_property
    def selrep_epoch(self):
        return self.selrep.page.Results(self.of("selrep_epoch"))

    @functools.cached_property
    def selrep_sharing(self):
        """By benchmark, mean of its configurations."""
        table = module("selrep", "workload_table")
        read: dict[str, list] = {}
        for p in sorted(self.of("selrep_sharing").glob("*__*.h5")):
            read.setdefault(p.stem.split("_")[0], []).append(table.read(p))
        return {b: {k: sum(float(r[k]) for r in rows) / len(rows) for k in rows[0]} for b, rows in read.items()}

    @functools.cached_property
    def read_only_structures(self):
        """Of the committed traces: found, and all."""
        script = module("selrep", "read_only")
        return [sum(n) for n in zip(*map(script.structures, sorted(script.TRACES.glob("*.h5"))))]

    @functools.cached_property
    def rec(self):
        """Of the twelve programs; a claim asks for the points that it rests on."""
        page = module("rec")
        experiments = {"main": ("rec", "rec_products"), "sizes": ("rec_sizes",),
                       "large": ("rec", "rec_products", "rec_sizes", "rec_sizes_others")}
        results = {name: page.Results(self.folder, *names, missing=Missing) for name, names in experiments.items()}
        results["sizes"].names = page.SIZED
        return types.SimpleNamespace(page=page, **results)

    @functools.cached_property
    def colab(self):
        page = module("colab")
        return types.SimpleNamespace(page=page, all=page.Results(self.of("colab")),
                                     arbitration=page.Results(self.of("colab_arbitration")))
