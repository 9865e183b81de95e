"""What people say of answers is kept, one line each."""

import json

from rag.feedback import FILE, append


def test_entries_are_appended_whole(tmp_path):
    append(tmp_path / "new", "wrong_answer", {"question": "Q\u2028?"}, history=[("a", "b")], comment="no")
    append(tmp_path / "new", "good", {"question": "Q2"})
    lines = (tmp_path / "new" / FILE).read_bytes().decode().split("\n")
    assert [json.loads(line)["verdict"] for line in lines if line] == ["wrong_answer", "good"]
    assert json.loads(lines[0]) == {
        "verdict": "wrong_answer",
        "comment": "no",
        "history": [{"question": "a", "answer": "b"}],
        "row": {"question": "Q\u2028?"},
    }
