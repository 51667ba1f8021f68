from pydantic import BaseModel

from api.paging import Paging
from models.schemas.common import ListQuery, Page


class Letter(BaseModel):
    name: str


def page_of(names: str, *, limit: int = 2, looked_up_to: str | None = None) -> tuple[str, str]:
    """The items of a page of letters, and where the next one goes on."""
    paging = Paging(ListQuery(limit=limit), "letters")
    page = paging.page(
        Page[Letter],
        names,
        show=lambda name: Letter(name=name),
        position=lambda name: [name],
        looked_up_to=None if looked_up_to is None else [looked_up_to],
    )
    following = None if page.next_cursor is None else Paging(ListQuery(cursor=page.next_cursor), "letters").after_id
    return "".join(item.name for item in page.items), following or ""


def test_a_page_goes_on_after_its_last_item_where_there_are_more() -> None:
    assert page_of("abc") == ("ab", "b")
    assert page_of("ab") == ("ab", "")


def test_a_page_that_looked_through_no_more_goes_on_there_and_may_be_empty() -> None:
    assert page_of("a", looked_up_to="d") == ("a", "d")
    assert page_of("", looked_up_to="d") == ("", "d")
    assert page_of("abc", looked_up_to="d") == ("ab", "b")
