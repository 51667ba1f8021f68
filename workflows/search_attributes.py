"""By what operators find workflows; imports nothing, so that the launcher can register the names at no cost."""

from collections.abc import Mapping

ORGANIZATION_ID = "OrganizationId"
PROJECT_ID = "ProjectId"
REVIEW_ID = "ReviewId"
REVIEW_STATUS = "ReviewStatus"

SEARCH_ATTRIBUTES: Mapping[str, str] = {
    ORGANIZATION_ID: "Keyword",
    PROJECT_ID: "Keyword",
    REVIEW_ID: "Keyword",
    REVIEW_STATUS: "Keyword",
}
"""Names and types of every search attribute that our workflows set."""
