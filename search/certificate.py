"""Whether the best candidates are the best of all: a bound on what was not scored exactly."""

from search.scoring import K1, B

ROUNDING, ROUNDING_PER_TERM = 1e-4, 2.5e-7
"""By how much tantivy's scores may be off, which computes in 32 bits: many times what it can be."""


def highest_ratio(average: float, proposed_average: float, shortest: int, longest: int) -> float:
    """How many times its proposed score a document's exact one may be at most.

    A term's exact share is that of tantivy times (f + t) / (f + e), where f is how often it occurs, and t and e grow
    with the length by each one's average. That is above one where t > e, most so for f = 1, and monotone in the length:
    the shortest and the longest document bound all others. Tantivy rounds lengths down, which lowers t, and has one
    token more in each.

    Args:
        average: the envelope's average length.
        proposed_average: tantivy's.
        shortest: the fewest terms of a document of the envelope.
        longest: the most.
    """
    return max(
        1.0,
        *((1 + _norm(length + 1, proposed_average)) / (1 + _norm(length, average)) for length in (shortest, longest)),
    )


def certifies(kth: float, last: float, ratio: float, terms: int) -> bool:
    """Whether the k-th best exact score is above that of every document whose proposed score is at most `last`."""
    return last * ratio * (1 + ROUNDING + terms * ROUNDING_PER_TERM) < kth


def _norm(length: float, average: float) -> float:
    return K1 * (1 - B + B * length / average)
