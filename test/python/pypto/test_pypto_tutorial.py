"""The tutorial: every block runs and prints what it says, every mistake gives the message that is shown."""

import importlib.util
import re
import xml.etree.ElementTree

import pytest
from conftest import ROOT

_SPEC = importlib.util.spec_from_file_location("tutorial", ROOT / "scripts" / "tutorial.py")
tutorial = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(tutorial)


def test_there_are_eight_chapters_and_an_index():
    index = (tutorial.FOLDER / "README.md").read_text()
    assert re.findall(r"\(([\w-]+\.md)\)", index)[:8] == [each.name for each in tutorial.CHAPTERS]
    assert len(tutorial.CHAPTERS) == 8


@pytest.mark.parametrize("chapter", tutorial.CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_does_what_it_says(chapter, tmp_path):
    blocks = tutorial.blocks(chapter)
    mistakes = [each for each in blocks if each.broken]
    assert len(mistakes) == 3 and len(blocks) > 3 and all(each.text for each in mistakes)
    run = tutorial.Run(tmp_path)
    try:
        for block in blocks:
            assert run.execute(block) == block.text, block.code
        shown = tutorial.picture(chapter)
        if shown is None:
            return
        fresh = tutorial.drawn(shown, run)
    finally:
        run.close()
    labels = [
        {each.text for each in xml.etree.ElementTree.fromstring(text).iter() if each.get("text-anchor") == "end"}
        for text in (shown.file.read_text(), fresh)
    ]
    rows = [{each for each in held if not each.endswith(" us")} for held in labels]
    assert rows[0] == rows[1] and shown.file.stat().st_size < 40000
