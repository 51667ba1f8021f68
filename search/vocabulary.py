"""Terms by number, so that documents are arrays of numbers."""

from collections.abc import Iterable, Sequence


class Vocabulary:
    """Every term that was ever indexed, numbered in the order of its first appearance.

    No score depends on the numbers. They are never taken back: what nobody uses any more goes when the index is built
    anew.
    """

    def __init__(self, terms: Iterable[str] = ()) -> None:
        self._terms = list(terms)
        self._numbers = {term: number for number, term in enumerate(self._terms)}

    def __len__(self) -> int:
        return len(self._terms)

    @property
    def terms(self) -> Sequence[str]:
        """The terms by number."""
        return self._terms

    def numbers_of(self, terms: Iterable[str]) -> list[int]:
        """The terms' numbers; new terms get one."""
        numbers, known = [], self._numbers
        for term in terms:
            number = known.get(term)
            if number is None:
                number = known[term] = len(self._terms)
                self._terms.append(term)
            numbers.append(number)
        return numbers

    def number_of(self, term: str) -> int | None:
        """The term's number, if it was ever indexed."""
        return self._numbers.get(term)
