"""Which nudge a turn deserves (memory.md §5), sentence by sentence."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.rules.nudges import NUDGES, NudgeKind, Turn, due_nudges, is_completion, is_correction

TURN = Turn(texts=("Do it.", "Go on."), events=(), in_scope=3, read_only=False, resumes=False)
EVERYTHING = replace(TURN, texts=("Do it.", "No, thanks! That works."), events=("resume", "tool_error", "denial"))

CORRECTIONS = [
    "No, use tabs", "no. Use tabs", "NO, WRONG", "  no , tabs", "“No, tabs”",
    "Stop!", "stop the server", "Actually, tabs", "Instead use tabs", "Wrong file", "I said tabs", "I meant tabs",
    "Please don't", "Please don\u2019t do that",
    "no it is blue", "no it's blue", "No I want tabs", "no you misread", "no they are", "no we use tabs",
    "no this one", "no that's blue", "No these", "no those", "no a tab", "no an apple", "no the other", "no not that",
    "no do it again", "no did you read it", "no but close", "no\nthe other",
    "We don't do that", "We DON\u2019T do that", "Well, not like that", "but that's not it", "That\u2019s not it",
    "Never use spaces, always use tabs", "never that.\nalways this",
]  # fmt: skip
NO_CORRECTIONS = [
    "", "Use tabs", "no", "nope, tabs", "Nothing", "No one likes it", "notice, this", "no.5 is next",
    "no wonder it fails",
    "Stopping now", "stop-words are English", "Actuality", "He said stop", "It went wrong", "I say tabs", "Please do",
    "that's nothing", "always this, never that", "never mind", "donts", "nevertheless it always works",
    "No problem, don't worry", "no worries, that's not urgent", "No, thanks. No thanks!", "no idea, don't ask",
    "Stop when you like, no rush", "No problem.", "No thanks", "no rush",
]  # fmt: skip
COMPLETIONS = [
    "That's all", "that\u2019s all for today", "LGTM", "lgtm, ship it", "LGTM " + "x" * 200,
    "Thanks", "thanks!", "Thanks a lot", "Thank you", "thank you for the fix",
    "Perfect", "perfect.", "Great job!", "Done.",
    "It looks good", "Looks good to me", "Yes, that works", "Done" + " x" * 38,
]  # fmt: skip
NO_COMPLETIONS = [
    "", "Ship it", "Thanks for the fix", "thanks  for it", "Thankless", "Perfectly blue", "Undone", "Great jobs",
    "That's almost it", "it looks goodish", "Done" + " x" * 39, "It is done",
    "Done?", "Thanks. Can you test it", "LGTM, could you merge", "Perfect, please merge", "Thanks, also test it",
    "Looks good but slow", "Done, now test", "Great job, next file", "That's all, and then test", "LGTM after that",
    "Thanks, one more thing", "Perfect, however slow",
]  # fmt: skip


@pytest.mark.parametrize("message", CORRECTIONS)
def test_a_message_that_corrects_is_a_correction(message: str) -> None:
    assert is_correction(message)


@pytest.mark.parametrize("message", NO_CORRECTIONS)
def test_a_message_that_corrects_nothing_is_none(message: str) -> None:
    assert not is_correction(message)


@pytest.mark.parametrize("message", COMPLETIONS)
def test_a_message_that_is_content_is_a_completion(message: str) -> None:
    assert is_completion(message)


@pytest.mark.parametrize("message", NO_COMPLETIONS)
def test_a_message_that_asks_or_goes_on_is_no_completion(message: str) -> None:
    assert not is_completion(message)


def test_a_turn_of_which_there_is_nothing_to_say_deserves_no_nudge() -> None:
    assert due_nudges(TURN) == []


def test_the_kinds_have_one_priority() -> None:
    everything = replace(EVERYTHING, texts=("Do it.", "Done, don't"))
    assert due_nudges(everything) == ["denial", "tool_error", "correction", "completion", "resume"] == list(NUDGES)


@pytest.mark.parametrize("event", ["denial", "tool_error", "resume"])
def test_an_event_gives_reason_for_its_nudge(event: NudgeKind) -> None:
    assert due_nudges(replace(EVERYTHING, texts=TURN.texts, events=(event,))) == [event]  # type: ignore[arg-type]


def test_what_is_found_by_searching_has_to_be_there() -> None:
    assert due_nudges(replace(TURN, events=("tool_error", "resume"), resumes=True, in_scope=0)) == []


def test_work_that_goes_on_is_resumed_without_being_told() -> None:
    assert due_nudges(replace(TURN, resumes=True)) == ["resume"]


@pytest.mark.parametrize("texts", [(), ("Stop, don't. Done",)])
def test_before_and_on_the_first_user_message_only_resume_is_nudged(texts: tuple[str, ...]) -> None:
    assert due_nudges(replace(EVERYTHING, texts=texts)) == ["resume"]


def test_a_read_only_session_is_not_asked_to_save() -> None:
    saying = replace(EVERYTHING, texts=("Do it.", "Done, don't"), read_only=True)
    assert due_nudges(saying) == ["tool_error", "resume"]


def test_only_the_last_user_message_is_judged() -> None:
    assert due_nudges(replace(TURN, texts=("No, tabs.", "Thanks", "Go on."))) == []


@given(st.text())
def test_no_message_is_too_strange(message: str) -> None:
    is_correction(message)
    is_completion(message)
