import pytest
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import make_url

from models.database import libpq_url

URLS = [
    "postgresql://canonry@/canonry?host=%2Ftmp%2F%C3%BC%20x%2Fd%2Be",
    "postgresql://canonry@/canonry?host=/tmp/plain&application_name=a+b",
    "postgresql://ca%2Bn:a%2Bb%20c%3F%40@db.example:5433/canonry?sslmode=require",
]


@pytest.mark.parametrize("url", URLS)
def test_psycopg_connects_to_what_sqlalchemy_connects_to(url: str) -> None:
    parsed = make_url(url).set(drivername="postgresql+psycopg")
    _, expected = parsed.get_dialect()().create_connect_args(parsed)
    assert conninfo_to_dict(libpq_url(url)) == {name: str(value) for name, value in expected.items()}
