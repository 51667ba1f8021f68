from bench.measuring import Comparison, Schedule, interleaved, table


def test_subjects_take_turns_and_each_begins_in_its_turn() -> None:
    seen: list[str] = []

    def subject(name: str) -> float:
        seen.append(name)
        return 1.0

    interleaved({"a": lambda: subject("a"), "b": lambda: subject("b")}, Schedule(rounds=1, repeats=2, warm_up=1))
    assert "".join(seen) == "abbaab"


def test_a_round_counts_by_its_median_and_the_warm_up_does_not_count() -> None:
    times = iter([900.0, 1.0, 2.0, 100.0, 4.0, 5.0, 6.0])
    assert interleaved({"a": lambda: next(times)}, Schedule(rounds=2, repeats=3, warm_up=1)) == {"a": [2.0, 5.0]}


def test_ratios_are_taken_round_by_round() -> None:
    comparison = Comparison("mine", [10.0, 30.0, 30.0], "theirs", [10.0, 10.0, 20.0], at_most=1.5)
    assert (comparison.ratios, comparison.verdict) == ([1.0, 3.0, 1.5], "PASS")


def test_a_median_above_the_target_is_over() -> None:
    assert Comparison("mine", [16.0], "theirs", [10.0], at_most=1.5).verdict == "over"


def test_without_a_target_there_is_no_verdict() -> None:
    assert Comparison("mine", [16.0], "theirs", [10.0]).verdict == ""


def test_the_table_shows_median_spread_target_and_verdict() -> None:
    row = table([Comparison("mine", [10.0, 30.0, 30.0], "theirs", [10.0, 10.0, 20.0], at_most=1.5)]).splitlines()[-1]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells == ["mine", "30.0", "theirs", "10.0", "1.50x", "1.00 to 3.00", "at most 1.5x", "PASS"]
