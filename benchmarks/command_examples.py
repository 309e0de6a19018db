"""Output of the commands ``select`` and ``explain`` on the breast cancer data, as shown in docs/.

usage: python -m benchmarks.command_examples
"""

from __future__ import annotations

from contextlib import chdir, suppress
from tempfile import TemporaryDirectory

from sklearn.datasets import load_breast_cancer

from allrelevant.cli.group import cli

COMMANDS = (
    "select breast_cancer.csv --target diagnosis --n-features 5",
    "explain breast_cancer.csv --target diagnosis --row 17",
)


def main() -> None:
    """Write the table to a temporary folder and run the commands there."""
    bundle = load_breast_cancer(as_frame=True)
    frame = bundle.data.assign(diagnosis=bundle.target_names[bundle.target])
    with TemporaryDirectory() as folder, chdir(folder):
        frame.to_csv("breast_cancer.csv", index=False)
        for command in COMMANDS:
            print(f"$ allrelevant {command}", flush=True)
            with suppress(SystemExit):  # raised when a command ends
                cli.main(command.split())
            print()


if __name__ == "__main__":
    main()
