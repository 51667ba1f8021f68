"""Times on the wire: RFC 3339 with six fixed digits and `Z`."""

from datetime import datetime
from typing import Annotated

from pydantic import PlainSerializer

from models.rules.hashes import instant

Instant = Annotated[datetime, PlainSerializer(instant, return_type=str)]
"""A time that is written with six fixed digits and `Z`."""
