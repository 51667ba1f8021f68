"""What is proposed and said in the demonstration; the documents themselves are in `documents` and `proposals`."""

from dataclasses import dataclass

INCIDENT, RENAMED = "runbooks/incident.md", "runbooks/incident-response.md"
ALERTS, DEPLOY = "runbooks/alerts.md", "runbooks/deploy.md"
FLAGS, NAMES = "conventions/feature-flags.md", "support/names.md"

# Reviews are found again by their titles.
LIBRARY_TITLE = "The handbook of the platform team"
SUPPORT_TITLE = "The first pages of support"
ALERTS_TITLE = "Alerts that lead somewhere"
FLAGS_TITLE = "How we use feature flags"
RENAME_TITLE = "Say what we learn from an incident"
OPEN_TITLE = "Write residents' names as they do"

QUESTION_AT = "An alert that rang three times"
QUESTION = "Why three times, and not two?"
ANSWER = "Twice can be one bad night. The third time it is a habit."
REASON = "How does a flag end? Each one needs an owner and a date."


@dataclass(frozen=True)
class Note:
    """What an agent saves."""

    name: str
    scope: str
    type: str
    description: str
    content: str


NOTES = (
    Note(
        "phone_line_hours",
        "global",
        "reference",
        "Hours of our phone line",
        "Weekdays from 7 to 19. At night people write in our app.",
    ),
    Note(
        "door_stays_shut",
        "project",
        "general",
        "A parcel behind a door that does not open",
        "Open it from the desk with the number on its label; if it stays shut twice, escalate.",
    ),
    Note(
        "short_answers",
        "user",
        "user",
        "How Mira likes to be answered",
        "In two sentences, without a greeting.",
    ),
)
CLAIM = "What do we tell residents about a refund?"
CORRECTION = "No, it takes five working days, not three."
LEARNED = Note(
    "refund_takes_five_days",
    "project",
    "feedback",
    "How long a refund takes",
    "Five working days until the money is there. Never promise three.",
)
ASKED = "The door stays shut, and the resident wants a refund. How long will it take?"
