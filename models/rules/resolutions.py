"""Resolutions: what a person may choose instead of a conflict, ready to be applied (reconciliation-table.md)."""

from models.rules.conflicts import Reconciliation
from models.rules.free_paths import Places
from models.rules.three_way import Read


def offer_resolutions(reconciliation: Reconciliation, *, places: Places, read: Read) -> None:
    """Give every conflict of a Draft its resolutions, and `reconciliation.texts` the texts they are made of.

    Whichever is chosen for each contested Memory, the states that result collide neither with Current nor with
    one another.

    Args:
        reconciliation: complete but for the resolutions, with the conflicts over paths.
        places: what stands where; shared by the Drafts of a Review, since what is offered to one is kept from the next.
        read: gives the texts of all states.
    """
