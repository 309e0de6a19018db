"""Script that selects features with fri 9.0.0, for the Python environment of fri.

usage: python fri_selection.py TABLE.npz CHOSEN.npy SEED
"""

import sys

import numpy as np
from fri import FRI, ProblemName

table, chosen, seed = sys.argv[1:]
data = np.load(table)
model = FRI(ProblemName.CLASSIFICATION, random_state=int(seed)).fit(data["X"], data["y"])
np.save(chosen, np.asarray(model.relevance_classes_) > 0)
