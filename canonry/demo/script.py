"""What is proposed and said in the demonstration; the documents themselves are in `documents` and `proposals`."""

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
