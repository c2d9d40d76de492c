"""The mathematics: sub-problems, weightings, the update of the basis. No scikit-learn, no I/O."""
