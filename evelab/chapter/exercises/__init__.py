"""The exercises of 8.12, each with a check that makes an answer work and says what is still missing."""

from evelab.chapter.exercises import anonymous_session, incident_state, own_provider, profile_slot, shared_scope
from evelab.chapter.exercises.requirement import AnswerError, Exercise, Finding, Report, Requirement, Seen

EXERCISES: dict[str, Exercise] = {
    module.EXERCISE.id: module.EXERCISE
    for module in (incident_state, profile_slot, shared_scope, anonymous_session, own_provider)
}
"""id -> exercise, in the chapter's order."""

__all__ = ["EXERCISES", "AnswerError", "Exercise", "Finding", "Report", "Requirement", "Seen"]
