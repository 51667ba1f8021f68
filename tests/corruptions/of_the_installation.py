"""Corruptions of what belongs to no organization."""

from tests.corruptions.breaking import breaks

OF_THE_INSTALLATION = [
    breaks(
        "texts of an organization that is not there",
        "organization.unknown",
        "'blobs of org_nowhere'",
        "insert into blobs select distinct on (blob_id) 'org_nowhere', blob_id, content_hash, content from blobs",
    ),
    breaks(
        "events of an organization that is not there",
        "organization.unknown",
        "'events of org_nowhere'",
        "insert into events (org_id, kind, resource_type, resource_id, at)"
        " values ('org_nowhere', 'draft.created', 'draft', 'drf_nowhere', now())",
    ),
    breaks("a feed without an epoch", "feed.epoch", "'feed_epochs'", "delete from feed_epochs"),
]
