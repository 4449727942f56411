"""When a key is an answer: only after a pause, so that a sentence being typed never answers."""

from __future__ import annotations

from collections.abc import Sequence

GUARD = 0.4  # seconds after a question is seen, and after every key meanwhile
QUIET = 0.6  # seconds without a key after which nobody is typing any more
REPEAT = 0.75  # seconds within which a key that is held down comes again at the latest
HOLD = 0.25  # seconds an answer waits for a next key, which would make it a word
FEW = 4  # early letters that are no word yet
BURST = 0.03  # seconds Enter waits: at the beginning of a paste it is none


class Guard:
    """Knows of times only; what a key means is decided by who asks."""

    def __init__(self) -> None:
        self._until = self._fresh = 0.0
        self._pressed = float("-inf")
        self._unseen = False
        self.typed = False  # since the question appeared
        self.moved = False  # the selection, since somebody typed

    def start(self, now: float) -> None:
        """Another question is to appear; a sentence begun before it may still go on.

        So may the key that answered the last one: held down, it comes again.
        """
        self._fresh = max(now + GUARD, self._pressed + REPEAT)
        self._until = max(self._until, self._fresh)
        self._unseen = True
        self.typed = self.moved = False

    def seen(self, now: float) -> None:
        """The question is on the screen now, or again: nobody answers what was not read."""
        self._unseen = False
        self._fresh = now + GUARD
        self._until = max(self._until, self._fresh)

    def fresh(self, now: float) -> bool:
        """Whether what is typed now cannot be about this question yet."""
        return self._unseen or now < self._fresh

    def press(self, now: float) -> None:
        """A key, whatever it means."""
        self._pressed = max(self._pressed, now)

    def pasting(self, now: float) -> bool:
        """Whether the key before came so shortly before that nobody pressed it."""
        return now - self._pressed < BURST

    def blocks(self, now: float) -> bool:
        """Whether a key at this moment is no answer; such a key starts the wait again."""
        if now >= self._until and not self._unseen:
            return False
        self._until = max(self._until, now + GUARD)
        return True

    def draft_changed(self, now: float) -> None:
        self._until = max(self._until, now + QUIET)

    def type(self, now: float) -> None:
        """A key was typing while the question stood."""
        self.draft_changed(now)
        self.typed, self.moved = True, False

    def rested(self, now: float) -> bool:
        """Whether no key that is held down would come again as late as this."""
        return now - self._pressed >= REPEAT

    @property
    def hold(self) -> float:
        """How long an answer waits: longer when somebody pauses within a sentence."""
        return QUIET if self.typed else HOLD


class Early:
    """The letter of an answer that came before the question could be read, into an empty draft.

    It is no answer, and stays in the draft; the same one once more, after a pause, is meant.
    """

    def __init__(self) -> None:
        self._letter = ""

    def typed(self, draft: str, letter: str, answers: Sequence[str]) -> bool:
        """Whether it may have been meant as an answer."""
        if not draft:
            self._letter = letter if letter in answers else ""
        return bool(self._letter) and not draft

    def of(self, draft: str) -> str:
        """The letter, where the draft is nothing else."""
        alone = 0 < len(draft) <= FEW and not draft.strip(self._letter or " ")
        return self._letter if alone else ""
