"""The default fit: which features matter, which clusters there are, and the factors for them.

``pipeline`` has the steps in the order in which they run, ``defaults`` every constant.
"""
