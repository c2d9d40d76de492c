"""
Customers: from a table to sentences and a report
=================================================

Purchases of 300 customers, and eight columns that have nothing to do with them. The report below is
the page that ``fnmf cluster`` writes: choose a cluster, a feature, a customer.
"""

# %%
# Four groups that differ in what they buy.
import numpy as np

import fnmf
from fnmf.describe import describe_clusters

rng = np.random.default_rng(0)
habits = {"bread": [9, 1, 1, 5], "milk": [1, 9, 2, 5], "tea": [1, 2, 9, 5], "coffee": [5, 5, 5, 1]}
groups = rng.integers(0, 4, 300)
columns = {name: rng.normal(np.array(means)[groups], 1) for name, means in habits.items()}
columns |= {f"day {k}": rng.uniform(0, 10, 300) for k in range(1, 9)}
X = np.clip(np.column_stack(list(columns.values())), 0, None)
names = list(columns)

model = fnmf.FNMF(4, random_state=0).fit(X)

# %%
# Every cluster in a sentence, in the units of the table.
for cluster in describe_clusters(X, model.labels_, feature_names=names, unit="customers"):
    print(f"{cluster.title}: {cluster}")

# %%
# And on one page. Without a path it shows itself here, as it would in a notebook.
fnmf.report(
    model,
    X,
    title="300 customers",
    feature_names=names,
    sample_names=[f"C{i:03}" for i in range(300)],
    labels_true=[f"habit {g}" for g in groups],
    n_restarts=2,
    unit="customers",
)

# sphinx_gallery_thumbnail_path = "images/report-light.png"
