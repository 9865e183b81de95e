import pytest

import prompts


def test_answer_prompt_is_a_chat_with_a_stable_prefix() -> None:
    prompt = prompts.load("answer")
    assert [role for role, _ in prompt.sections][:2] == ["system", "user"]
    assert prompt.sections[-1][0] == "user"
    assert prompt.variables == {"evidence", "question"}
    assert not any("{{" in text for _, text in prompt.prefix)


def test_filling_checks_variables() -> None:
    prompt = prompts.load("answer")
    with pytest.raises(KeyError, match="missing \\['question'\\]"):
        prompt.fill(evidence="[1] A.")
    with pytest.raises(KeyError, match="unknown \\['colour'\\]"):
        prompt.fill(evidence="[1] A.", question="Q?", colour="red")


def test_a_variable_inside_a_value_stays_text() -> None:
    filled = prompts.load("answer").fill(evidence="[1] {{question}}", question="Why?")
    assert "[1] {{question}}" in filled
    assert filled.endswith("Question: Why?")
