"""Cancela, Bolón-Canedo, Alonso-Betanzos and Gama (2020): Tables 2 to 6, 8 to 13 and 15."""

from __future__ import annotations

from ..table import Paper
from . import challenge_sets, image_sets
from .deciding_features import TABLE_3
from .regressions import TABLE_9, TABLE_10

# Reasons why lines are worse than the paper, by data set.
REMARKS = {
    "arcene": {
        "SFS by NN, gamma 0.9": "One of three seeds has the paper's accuracy. The other two are "
        "one of a hundred held-out rows below it.",
        "": "There are a hundred held-out rows, so one point is one row.",
    },
    "dexter": {
        "": "There are 300 held-out rows, so one row is 0.33 points. The differences are one to "
        "four rows.",
    },
    "dorothea": {
        "all features": "The paper appears to have exchanged the accuracies of RBF and sigmoid.",
        "DFS": "The network is trained for 20 epochs where the paper has 100.",
        "SFS by NN, gamma 0.9": "The network is trained for 4 epochs per round where the paper has "
        "100.",
        "": "There are 350 held-out rows, so one row is 0.29 points. The differences are one or "
        "two rows.",
    },
    "madelon": {
        "SFS best, gamma 0": "For the sigmoid SVM, the paper's 62.3 with 58 features depends on "
        "the order of the rows, because the linear ranking model is stopped long before it "
        "converges (`python -m benchmarks.unconverged_svm --data FOLDER`).",
        "SFS by linear, gamma 0.975": "The classes are not linearly separable. A linear SVM would "
        "need millions of libsvm's steps; stopped early, its ranking depends on the order of the "
        "rows.",
        "MIM": "The estimate of mutual information is random, and the ranking varies with it.",
        "": "There are 600 held-out rows, so one row is 0.17 points. The differences are at most "
        "nine rows, and largest for linear and sigmoid SVMs, which are not far from a constant "
        "prediction with any ranking.",
    },
}

TABLES = [
    TABLE_3,
    *(challenge_sets.table(name, remarks) for name, remarks in REMARKS.items()),
    TABLE_9,
    TABLE_10,
    *(image_sets.table(name) for name in image_sets.NUMBERS),
    image_sets.TABLE_15,
]
PAPER = Paper(
    "sfs20",
    "Cancela, Bolón-Canedo, Alonso-Betanzos and Gama (2020), A scalable saliency-based feature "
    "selection method with instance-level information",
    TABLES,
    {
        "Figures 1 to 3 and 7, Table 1": "they contain no results (diagrams, sizes of the data).",
        "Figures 4 and 5 (number of repetitions, gamma)": "not measured.",
        "Figure 6 (C of the ranking SVM on ARCENE)": "not measured.",
        "Table 2, GISETTE, and Table 7": "the data are not available here.",
        "Table 9": "reproduced on 682 of 53,500 rows only; the other rows are not available here.",
        "Table 10": "the energies of molecules are not available here. The page uses other data.",
        "Tables 11 to 13, ranking by WRN-16-4": "not measured, because training takes a GPU. The "
        "evaluation model is a smaller network for the same reason, so the accuracies are lower.",
        "Table 14 (CIFAR-100)": "the data are not available here.",
        "Table 15": "the paper shows images. The page measures the size of the perturbations, for "
        "a smaller network.",
    },
)
