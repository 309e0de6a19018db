"""Check a proof of relevance bounds against a table, in exact rational arithmetic.

    python proof_checker.py proof.json table.csv

This file imports only parts of the standard library and runs on its own. All numbers of proof and
table are float64, which are fractions. There is no rounding and no tolerance. A problem consists of
constraints r on linear models with weights w, one for each scaled column, and offsets o:

    sum_i s_ri (w . x_i) + g_r . o + slack_r  >=  target_r,    slack_r >= 0 (= 0 if r is hard).

The sample i has the sign s_ri in the constraint, and g_r are coefficients. The set of models is

    sum_k |w_k|  <=  norm,    sum_r weight_r slack_r  <=  loss.

Attained: a model in the set has this weight. The set is convex, so other models in it have the
values between two attained weights. Proven: no model in the set has a larger (or smaller) weight.
Take a factor a_r >= 0 for each constraint, such that sum_r a_r g_r = 0. With the combination
v = sum_r a_r sum_i s_ri x_i, the constraints add up to v . w + a . slack >= a . target, hence

    sign w_j  <=  (sign e_j + v) . w + a . slack - a . target
              <=  max_k |sign e_j + v|_k norm + max_r (a_r / weight_r) loss - a . target.
"""

import csv
import json
import sys
from fractions import Fraction

FORMAT, PRIME = "allrelevant proof 1", 2**255 - 19
TRUTH = {"true": "1", "false": "0"}


def digest(value):
    """Return the JSON text of a value, read as one number, modulo a prime."""
    return f"{int.from_bytes(json.dumps(value, sort_keys=True).encode(), 'big') % PRIME:x}"


def read_csv(path, proof):
    """Return the cells of each column that the proof uses: numbers, words, or None if missing."""

    def read(text, kind):
        if text.strip() in proof["missing"]:
            return None
        return text if kind == "word" else float(TRUTH.get(text.lower(), text))

    with open(path, newline="", encoding="utf-8-sig") as file:  # noqa: PTH123 (no further import)
        header, *rows = [row for row in csv.reader(file) if row]
    used = [(k, name, proof["kinds"].get(name)) for k, name in enumerate(header)]
    return {name: [read(row[k], kind) for row in rows] for k, name, kind in used if kind}


def exact(numbers):
    """Return integers and a power of two: each number is its integer divided by the power."""
    ratios = [float(number).as_integer_ratio() for number in numbers]
    unit = max((denominator for _, denominator in ratios), default=1)
    return [numerator * (unit // denominator) for numerator, denominator in ratios], unit


def scale(column, cells):
    """Return (value - center) * factor for each cell of a column, in the form of ``exact``."""
    if "equals" in column:  # the value is 1 or 0
        cells = [float(cell in column["equals"]) for cell in cells]
    cells = [column["fill"] if cell is None else cell for cell in cells]
    (center, *values), unit = exact([column["center"], *cells])
    (factor,), factor_unit = exact([column["factor"]])
    return [(value - center) * factor for value in values], unit * factor_unit


def constraints(task, coding, cells, weights):
    """Return all constraints: signs of samples, coefficients, target, weight (None if hard)."""
    samples, one = range(len(cells)), Fraction(1)
    if task == "regression":  # the target is within epsilon of the model, up to slack
        center, factor, epsilon = (Fraction(coding[key]) for key in ("center", "factor", "epsilon"))
        y = [(Fraction(cell) - center) * factor for cell in cells]
        above = [({i: 1}, {0: 1}, y[i] - epsilon, weights[i]) for i in samples]
        return above + [({i: -1}, {0: -1}, -y[i] - epsilon, weights[i]) for i in samples]
    code_of = dict(coding["codes"])
    code = [int(code_of[cell]) for cell in cells]
    top = max(code)
    if set(code) != (set(range(top + 1)) if task == "ordinal" else {-1, 1}):
        raise ValueError("the codes of the classes do not suit the task")
    if task == "classification":  # the model is at least 1 with the sign of the class
        return [({i: code[i]}, {0: code[i]}, one, weights[i]) for i in samples]
    if task == "ordinal":  # offset k is the threshold between the classes k and k + 1
        below = [({i: -1}, {code[i]: 1}, one, weights[i]) for i in samples if code[i] < top]
        above = [({i: 1}, {code[i] - 1: -1}, one, weights[i]) for i in samples if code[i] > 0]
        return below + above + [({}, {k + 1: 1, k: -1}, 0 * one, None) for k in range(top - 1)]
    # Ranking: the model is larger by at least 1 for each row of code 1 than for each of code -1.
    pairs = [(i, j) for i in samples if code[i] > 0 for j in samples if code[j] < 0]
    total = sum(weights[i] * weights[j] for i, j in pairs)
    return [({i: 1, j: -1}, {}, one, weights[i] * weights[j] / total) for i, j in pairs]


class Problem:
    """Set of models of one problem. The columns are integers, to be divided by ``unit``."""

    def __init__(self, proof, problem, table):
        rows, weights = proof["rows"], [Fraction(weight) for weight in problem["weights"]]
        if len(weights) != len(rows) or min(rows) < 0 or min(weights) <= 0:
            raise ValueError("each row needs a positive weight")
        parts = [scale(c, [table[c["source"]][i] for i in rows]) for c in proof["columns"]]
        self.unit = max((unit for _, unit in parts), default=1)
        self.columns = [[x * (self.unit // unit) for x in values] for values, unit in parts]
        self.zeros, cells = [0] * len(rows), [table[proof["target"]][i] for i in rows]
        self.constraints = constraints(proof["task"], problem["coding"], cells, weights)
        self.norm, self.loss = Fraction(problem["norm"]), Fraction(problem["loss"])

    def measure(self, model):
        """Return norm, loss and largest violation of a constraint of a model (below 0: none)."""
        weight_of = dict(model["weights"])
        weights, unit = exact(weight_of.values())
        totals = self.zeros
        for k, weight in zip(weight_of, weights, strict=True):
            totals = [total + weight * x for total, x in zip(totals, self.columns[k], strict=True)]
        values = [Fraction(total, unit * self.unit) for total in totals]
        offsets = [Fraction(offset) for offset in model["offsets"]]
        loss, violation = Fraction(0), 1 if min(weight_of, default=0) < 0 else -1  # no such column
        for samples, coefficients, target, weight in self.constraints:
            slack = target - sum(sign * values[i] for i, sign in samples.items())
            slack -= sum(g * offsets[k] for k, g in coefficients.items())
            loss += 0 if weight is None else weight * max(slack, 0)
            violation = max(violation, slack) if weight is None else violation
        return Fraction(sum(map(abs, weights)), unit), loss, violation

    def combine(self, factors):
        """Return v, its two largest entries, and the part of a limit without ``norm``."""
        factor_of = dict(factors)
        values, unit = exact(factor_of.values())
        alpha, price, rest, balance = [*self.zeros], Fraction(0), Fraction(0), {}
        for r, a in zip(factor_of, values, strict=True):
            samples, coefficients, target, weight = self.constraints[r]
            for i, sign in samples.items():
                alpha[i] += sign * a
            for k, g in coefficients.items():
                balance[k] = balance.get(k, 0) + g * a
            price = price if weight is None else max(price, a / weight)
            rest -= a * target
        if min([*factor_of, *values], default=0) < 0 or any(balance.values()):
            raise ValueError("the factors of constraints are negative or do not cancel the offsets")
        used = [i for i, a in enumerate(alpha) if a]
        v = [sum(alpha[i] * column[i] for i in used) for column in self.columns]
        largest = sorted(range(len(v)), key=lambda k: abs(v[k]))[-2:]
        v = [Fraction(x, unit * self.unit) for x in v]
        return v, largest, (price * self.loss + rest) / unit

    def limit(self, combined, j, sign, times):
        """Return the limit on ``sign * w_j`` if all factors are multiplied by ``times``."""
        v, largest, rest = combined
        others = max((abs(v[k]) for k in largest if k != j), default=0)
        return max(times * others, abs(sign + times * v[j])) * self.norm + times * rest


def check_problem(proof, problem, table):
    """Yield for each column its four stated weights, and a list of its false claims."""
    models = Problem(proof, problem, table)
    place = {column["name"]: j for j, column in enumerate(proof["columns"])}
    measures = [models.measure(model) for model in problem["models"]]
    inside = [n <= models.norm and x <= models.loss and v <= 0 for n, x, v in measures]
    combined = [models.combine(factors) for factors in problem["certificates"]]
    for name, *claims in problem["bounds"]:
        false, j = [], place[name]
        for sign, side, claim in zip((-1, 1), ("smallest", "largest"), claims, strict=True):
            times, proven = Fraction(claim["times"]), Fraction(claim["proven"])
            limit = models.limit(combined[claim["certificate"]], j, sign, times)
            if times < 0 or limit > sign * proven:
                false.append(f"its {side} weight can be beyond {claim['proven']}")
            weight = dict(problem["models"][claim["model"]]["weights"]).get(j, 0)
            if not inside[claim["model"]] or weight != claim["attained"]:
                false.append(f"no model shows that its weight can be {claim['attained']}")
        (least, low), (most, high) = ((claim["proven"], claim["attained"]) for claim in claims)
        ends = max(0, least, -most), max(0, low, -high), max(-low, high), max(-least, most)
        yield name, ends, false


def verify(proof, table):
    """Return what is proven for each column of each problem, and one line for each failure.

    The smallest absolute weight is between the first two values, the largest between the others.
    """
    content = {key: value for key, value in proof.items() if key != "digest"}
    if proof["format"] != FORMAT or digest(content) != proof["digest"]:
        return {}, ["The proof was changed: its content does not have the digest that it states."]
    used = [[table[name][i] for i in proof["rows"]] for name in sorted(proof["kinds"])]
    if digest(used) != proof["fingerprint"]:
        return {}, ["The table is not that of the proof: its values have a different fingerprint."]
    bounds, failures = {}, []
    for problem in proof["problems"]:
        for name, ends, false in check_problem(proof, problem, table):
            bounds[problem["label"], name] = ends
            failures += [f"{name!r} ({problem['label']!r}): {line}." for line in false]
    return bounds, failures


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as proof_file:  # noqa: PTH123
        stated = json.load(proof_file)
    proven, failed = verify(stated, read_csv(sys.argv[2], stated))
    print("\n".join(failed or [f"{where}: {ends}" for where, ends in proven.items()]))
    sys.exit(1 if failed else 0)
