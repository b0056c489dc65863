"""A table as people have it: categories, dates, missing values, an id, a constant, rare positives."""

import numpy as np
import pandas as pd

TRUE_COLUMNS = {"city", "plan", "signup", "income", "n_calls", "age"}


def messy_table(rows, seed):
    """A table of 22 columns with its 0/1 target ("churned") apart: about 11% ones, which TRUE_COLUMNS explain."""
    rng = np.random.default_rng(seed)
    city = rng.choice(["Rome", "Oslo", "Bern", "Wien", "Lima"], rows, p=[0.4, 0.25, 0.2, 0.1, 0.05])
    plan = rng.choice(["basic", "plus", "pro"], rows, p=[0.6, 0.3, 0.1])
    days = rng.integers(0, 1800, rows)
    income = np.exp(rng.normal(10, 0.5, rows))
    no_income = rng.random(rows) < 0.06
    calls, age = rng.poisson(2.0, rows), rng.normal(45, 12, rows)
    eta = -3.1 + 1.2 * (city == "Oslo") - 0.8 * (city == "Bern") + 1.0 * (plan == "pro") - 0.7 * (plan == "plus")
    eta += -0.8 * (days - 900) / 520 + 1.0 * (np.log(income) - 10) / 0.5 * ~no_income + 1.5 * no_income
    eta += 0.4 * (calls - 2) + 0.03 * (age - 45)
    churned = (rng.random(rows) < 1 / (1 + np.exp(-eta))).astype(int)
    # few streets: 1 in 200 rows each
    table = pd.DataFrame(
        {
            "customer_id": rng.permutation(rows) + 100_000,
            "city": np.where(rng.random(rows) < 0.03, None, city),
            "street": [f"street {i}" for i in rng.integers(0, rows // 2, rows)],
            "plan": plan,
            "channel": rng.choice(["web", "shop", "phone", "fax"], rows, p=[0.5, 0.3, 0.196, 0.004]),
            "newsletter": rng.choice(["yes", "no"], rows),
            "signup": [str(day) for day in np.datetime64("2019-01-01") + days],
            "last_login": [str(day) for day in np.datetime64("2024-01-01") + rng.integers(0, 300, rows)],
            "income": np.where(no_income, np.nan, income),
            "age": np.where(rng.random(rows) < 0.005, np.nan, age),
            "n_calls": calls,
            "country": "CH",
        }
    )
    for j in range(9):
        table[f"use_{j}"] = rng.normal(size=rows)
    table["spend"] = np.where(rng.random(rows) < 0.1, np.nan, rng.exponential(size=rows))
    return table, churned
