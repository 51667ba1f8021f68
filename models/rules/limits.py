"""How much a Draft, a Review and an import hold (publication.md §1, §6)."""

MAX_DRAFT_OPERATIONS = 1_000
"""Operations a Draft may hold."""

MAX_REVIEW_DRAFTS = 100
"""Drafts a Review may hold."""

MAX_REVIEW_OPERATIONS = MAX_REVIEW_DRAFTS * MAX_DRAFT_OPERATIONS
"""Operations a Review may hold."""

MAX_IMPORT_FILES = MAX_REVIEW_OPERATIONS
"""Files an import may hold, reported ones included: as many as one Review can create."""
