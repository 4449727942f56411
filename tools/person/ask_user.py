"""AskUserQuestion: one to four questions to the person, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field, model_validator

from gatewright.tools.access import Effect, Where
from gatewright.tools.blocks import Block, Table, Text
from gatewright.tools.checked import CheckedTool
from gatewright.tools.interact import Answer, Ask, Option
from gatewright.tools.protocol import Run, ToolContext, ToolResult

BACK = "(back)"  # of an option that is none of the model's
UNANSWERED = "(not answered: the person closed the question)"


class Choice(BaseModel):
    label: str = Field(min_length=1, max_length=100, description="1-5 words")
    description: str = Field(default="", description="What it means or what follows from it")


class Question(BaseModel):
    question: str = Field(min_length=1, description="Complete, ending in a question mark")
    header: str = Field(default="", max_length=12, description="A word or two for a chip")
    options: list[Choice] = Field(min_length=2, max_length=4)
    multiSelect: bool = False

    @model_validator(mode="after")
    def _distinct(self) -> Question:
        if len({option.label for option in self.options}) < len(self.options):
            raise ValueError("two options have the same label")
        return self


class AskUserInput(BaseModel):
    questions: list[Question] = Field(min_length=1, max_length=4)


class AskUserQuestion(CheckedTool[AskUserInput]):
    name = "AskUserQuestion"
    input = AskUserInput
    prompt = "ask_user.md"
    effects = Effect.HUMAN

    def title(self, input: AskUserInput, where: Where) -> tuple[str, str]:
        del where
        first = input.questions[0]
        return "Ask", first.header or first.question

    async def run(self, input: AskUserInput, ctx: ToolContext) -> Run:
        asked, given, before = input.questions, list[str](), ""
        while len(given) < len(asked):
            ask = _ask(asked, given, before)
            answer, before = await ctx.ask(ask), ""
            if answer.cancelled:
                break
            if given and BACK in answer.choices and ask.options[-1].id == BACK:
                before = given.pop()  # to the question before, which is asked again
            else:
                given.append(_words(answer))
        answers = dict(zip([each.question for each in asked], given, strict=False))
        if not answers:
            yield ToolResult.refused("The person did not answer.", ends_turn=True)
            return
        open = [each.question for each in input.questions if each.question not in answers]
        lines = [f"{question}\n-> {answer}" for question, answer in answers.items()]
        said = "\n".join((*lines, *(f"{question}\n-> {UNANSWERED}" for question in open)))
        yield ToolResult.text(
            f"The person answered:\n{said}",
            summary=", ".join(answers.values()),
            data={
                "questions": [question.model_dump() for question in input.questions],
                "answers": answers,
            },
        )

    def view(self, input: AskUserInput, result: ToolResult | None) -> Sequence[Block]:
        if result is None:
            return tuple(Text(question.question) for question in input.questions)
        answers = result.data.get("answers", {})
        rows = tuple((str(question), str(answer)) for question, answer in answers.items())
        return (Table(("Question", "Answer"), rows),) if rows else ()


def _ask(questions: Sequence[Question], given: Sequence[str], before: str) -> Ask:
    """The next one. What was answered to those before stands above its options, and the last of
    them can be answered anew; `before` was said then.
    """
    count, number = len(questions), len(given) + 1
    question = questions[number - 1]
    said = "\n".join(
        f"{each.question}  {answer}" for each, answer in zip(questions, given, strict=False)
    )
    again = f" You said: {before}." if before else ""
    taken = any(option.label == BACK for option in question.options)
    back = (Option(BACK, f"Back to question {number - 1}", "b", alone=True),)
    return Ask(
        reason=f"Question {number} of {count}.{again}" if count > 1 else "",
        kind="question",
        title=question.question,
        body=(Text(said, "dim"),) if said else (),
        options=tuple(
            Option(id=option.label, label=option.label, key=str(i), help=option.description)
            for i, option in enumerate(question.options, 1)
        )
        + (back if given and not taken else ()),
        tool=AskUserQuestion.name,
        multiple=question.multiSelect,
        free_text=True,
    )


def _words(answer: Answer) -> str:
    picked = ", ".join(answer.choices)
    return "; ".join(part for part in (picked, answer.text.strip()) if part) or "(nothing)"
