"""The example notebook: committed without outputs, and it runs from start to plot. That it runs is skipped without jupyter."""

import base64
import importlib.util
import json
import os
import pathlib
import sys
import unittest

import support

NOTEBOOK = support.HERE.parent.parent / "examples/notebook/link_bandwidth.ipynb"
_NEEDED = {"nbformat": "python3-nbformat", "nbclient": "python3-nbclient", "ipykernel": "python3-ipykernel"}


def missing() -> list[str]:
    return [package for name, package in _NEEDED.items() if importlib.util.find_spec(name) is None]


class Notebook(support.FolderTest):
    def test_it_is_committed_without_outputs(self) -> None:
        for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None), cell["source"])

    @unittest.skipIf(missing(), f"needs Debian's {' '.join(missing())}")
    def test_it_answers_its_question_from_start_to_plot(self) -> None:
        import nbclient
        import nbformat

        book = nbformat.read(NOTEBOOK, as_version=4)
        os.environ["TMPDIR"] = str(self.folder)
        self.addCleanup(os.environ.pop, "TMPDIR")
        nbclient.NotebookClient(book, timeout=300, kernel_name="python3",
                                resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()
        outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
        text = "".join(output.get("text", "") for output in outputs)
        self.assertRegex(text, r"SM-side is faster (up to \d+ GB/s|at every bandwidth)\.")
        self.assertRegex(text, r"4 GB/s\nmemory_side +1\.00 x .*\nsm_side +\d+\.\d\d x .* cycles: ")
        images = [base64.b64decode(output["data"]["image/png"]) for output in outputs if "image/png" in output.get("data", {})]
        self.assertEqual([image[:8] for image in images], [b"\x89PNG\r\n\x1a\n"])


if __name__ == "__main__":
    if not pathlib.Path(os.environ.get("ATOLL", "")).is_file():
        print("skipped: ATOLL names no program")
        sys.exit(77)
    if missing():
        print(f"that the notebook runs is skipped: {sys.executable} has no {', '.join(missing())}")
    support.main()
