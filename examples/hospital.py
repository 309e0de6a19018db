"""A table of a hospital with text, missing values, codes, dates and several rows per patient.

This script writes `hospital.csv` and `hospital.xlsx` (requires pandas and XlsxWriter). Then analyze
either file with one command:

    allrelevant report hospital.xlsx --target relapse \\
        --groups patient --categorical ward --dates days

The relapse depends on age, site, CRP and temperature. `region` is another name of `site`, `fever`
is the temperature in degrees Fahrenheit, and the other columns are noise. Whether a biopsy was made
depends on the relapse, so missing values of `biopsy` are informative.

usage: python examples/hospital.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

N_PATIENTS = 110

SITES = {"Bern": "south", "Oslo": "north", "Lyon": "west", "Riga": "east"}
RISK_OF_SITE = {"Bern": 0.0, "Oslo": 1.6, "Lyon": -1.6, "Riga": 0.4}


def make_hospital(seed: int = 0) -> pd.DataFrame:
    """Return a table with one row per visit."""
    rng = np.random.RandomState(seed)
    visits = rng.randint(1, 6, size=N_PATIENTS)
    patient = np.repeat(np.arange(N_PATIENTS), visits)
    n_rows = len(patient)

    age = rng.randint(25, 90, size=N_PATIENTS)[patient]
    site = rng.choice(list(SITES), size=N_PATIENTS)[patient]
    temperature = 37.5 + 0.8 * rng.normal(size=n_rows)
    crp = rng.lognormal(2.0, 0.7, size=n_rows)
    pressure = 130 + 15 * rng.normal(size=n_rows)
    risk = (
        1.2 * (age - 57) / 19
        + np.array([RISK_OF_SITE[name] for name in site])
        + 1.2 * (np.log(crp) - 2.0) / 0.7
        + 1.0 * (temperature - 37.5) / 0.8
        + 0.7 * rng.normal(size=N_PATIENTS)[patient]
        + 0.5 * rng.normal(size=n_rows)
    )
    relapse = risk > np.median(risk)
    has_biopsy = rng.uniform(size=n_rows) < np.where(relapse, 0.9, 0.5)
    return pd.DataFrame(
        {
            "patient": [f"P{number:03}" for number in patient],
            "visit": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(rng.randint(700, size=n_rows), unit="D"),
            "sex": rng.choice(["f", "m"], size=N_PATIENTS)[patient],
            "age": age,
            "site": site,
            "region": [SITES[name] for name in site],
            "ward": rng.choice([3, 7, 11, 12], size=n_rows),
            "blood group": rng.choice(["0", "A", "B", "AB"], size=N_PATIENTS)[patient],
            "smoker": rng.uniform(size=N_PATIENTS)[patient] < 0.3,
            "temperature": temperature.round(2),
            "fever": (temperature * 1.8 + 32).round(2),
            "pressure": np.where(rng.uniform(size=n_rows) < 0.1, np.nan, pressure.round()),
            "CRP": np.where(rng.uniform(size=n_rows) < 0.2, np.nan, np.log(crp).round(2)),
            "biopsy": np.where(has_biopsy, rng.normal(size=n_rows).round(2), np.nan),
            "relapse": np.where(relapse, "yes", "no"),
        }
    )


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    table = make_hospital()
    table.to_csv(folder / "hospital.csv", index=False)
    table.to_excel(folder / "hospital.xlsx", index=False)
    print(f"{len(table)} rows of {N_PATIENTS} patients in hospital.csv and hospital.xlsx")
