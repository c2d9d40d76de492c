"""What the compiler may do to sums."""

# Reassociation lets sums be vectorised; NaN and infinity keep their meaning.
FAST = {"reassoc", "contract", "nsz", "arcp"}
