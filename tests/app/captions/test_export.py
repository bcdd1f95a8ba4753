import json
import os
import random
import sys
from dataclasses import replace

import pytest
import webvtt

from app.captions.cues import LINE, Cue, FurtherText, lines_of
from app.captions.export import ALL, FORMS, Times, export
from app.captions.subtitles import split
from app.config.text_io import TextError
from tests.support.app.cues import DOUBTFUL, EIGHT_HOURS, SURE, spoken


def exported(tmp_path, cues, form, content="captions"):
    path = tmp_path / f"captions.{form}"
    count = export(path, cues, form, content)
    return count, path.read_text(encoding="utf-8")


def test_eight_hours_are_exported_as_webvtt(tmp_path):
    exported(tmp_path, EIGHT_HOURS, "vtt", "both")
    read = webvtt.read(tmp_path / "captions.vtt")
    assert len(read) == 7200
    assert read[7199].lines == ["This is sentence 7199.", "Das ist Satz 7199 &amp; &lt;mehr&gt;."]


def test_text_of_both_languages_stands_in_pairs(tmp_path):
    _, text = exported(tmp_path, EIGHT_HOURS[:2], "txt", "both")
    assert text.split("\n\n")[0] == "This is sentence 0.\nDas ist Satz 0 & <mehr>."
    _, text = exported(tmp_path, EIGHT_HOURS[:2], "txt", "source")
    assert text == "This is sentence 0.\nThis is sentence 1.\n"


LONG = Cue(
    start_s=10.0,
    end_s=34.0,
    text=" ".join(f"wort{number:02}" for number in range(30)),
    source=" ".join(f"word{number:02}" for number in range(24)),
    speaker="me",
    marked=True,
)


def test_a_long_utterance_is_cut_as_in_the_terminal(tmp_path):
    late = Cue(start_s=12.0, end_s=13.0, text="Ja.", speaker="them")
    for form, read in (("srt", webvtt.from_srt), ("vtt", webvtt.read)):
        count, text = exported(tmp_path, [LONG, late], form)
        cues = read(tmp_path / f"captions.{form}")
        assert count == len(cues) == 5
        texts = [cue.text.removeprefix("me: ").removeprefix("them: ") for cue in cues]
        assert [one.replace("\n", " ") for one in texts if one != "Ja."] == split_text(LONG)
        assert max(len(cue.lines) for cue in cues) == 2
        assert max(len(line) for cue in cues for line in cue.lines) <= LINE
        assert text.count("NOTE marked") == (form == "vtt")
    _, text = exported(tmp_path, [LONG], "jsonl")
    lines = [json.loads(line) for line in text.splitlines()]
    assert " ".join(line["source"] for line in lines) == LONG.source
    assert [line["start_s"] for line in lines] == [10.0, *(line["end_s"] for line in lines[:-1])]
    assert lines[-1]["end_s"] == 34.0
    _, text = exported(tmp_path, [LONG], "txt")
    assert text == f"→ {LONG.text}\n", "a text has a line for each utterance"


def split_text(cue):
    return [one.text for one in split(cue)]


def test_lines_are_about_equally_long_and_none_has_more_than_42_characters():
    assert lines_of("a" * 42) == ["a" * 42]
    assert lines_of("aaaa " * 8 + "bbb") == ["aaaa aaaa aaaa aaaa", "aaaa aaaa aaaa aaaa bbb"]
    assert lines_of("a" * 50) == ["a" * 42, "a" * 8]  # a language without blanks
    rng = random.Random(1)
    for _ in range(500):
        text = " ".join("x" * rng.randint(1, 60) for _ in range(rng.randint(1, 30)))
        cue = Cue(start_s=0, end_s=9, text=text, speaker=rng.choice(["", "me", "Dr. Rosenstein"]))
        for part in split(cue):
            label = f"{part.speaker}: " if part.speaker else ""
            lines = lines_of(part.text, label)
            assert len(lines) <= 2
            assert all(line and len(line) <= LINE for line in lines)
            assert "".join(lines).replace(" ", "") == (label + part.text).replace(" ", "")


def test_of_the_source_alone_the_source_is_cut(tmp_path):
    exported(tmp_path, [LONG], "srt", "source")
    texts = [cue.text.replace("\n", " ") for cue in webvtt.from_srt(tmp_path / "captions.srt")]
    assert " ".join(texts) == LONG.source
    assert [len(text) for text in texts] == [41] * 4, "each for 6 of the 24 s"
    exported(tmp_path, [LONG], "srt", "both")
    lines = [line for cue in webvtt.from_srt(tmp_path / "captions.srt") for line in cue.lines]
    assert " ".join(line for line in lines if "word" in line) == LONG.source
    assert " ".join(line for line in lines if "wort" in line) == LONG.text
    assert max(map(len, lines)) <= LINE


def times(path):
    return [(one.start_in_seconds, one.end_in_seconds) for one in webvtt.from_srt(path)]


def flashes(*starts):
    """Cues as typed text has them: each is there as long as it took to compute."""
    return [Cue(start_s=start, end_s=start + 0.1, text="Ja, das ist es.") for start in starts]


def test_subtitles_stay_until_the_next_one_or_for_seven_seconds(tmp_path):
    export(tmp_path / "it.srt", flashes(311.0, 314.0, 330.0), "srt")
    assert times(tmp_path / "it.srt") == [(311, 314), (314, 321), (330, 337)]
    export(tmp_path / "it.srt", flashes(311.0, 314.0), "srt", times=Times(end_s=316.0))
    assert times(tmp_path / "it.srt") == [(311, 314), (314, 316)], "a recording ends then"


def test_times_may_begin_with_the_first_subtitle_that_is_written(tmp_path):
    silent = Cue(start_s=1.0, end_s=2.0, text=" ", source="x")
    export(tmp_path / "it.srt", [silent, *flashes(311.0, 314.0)], "srt", times=Times("first"))
    assert times(tmp_path / "it.srt") == [(0, 3), (3, 10)]


def test_a_place_that_cannot_be_written_is_told_and_left_as_it_was(tmp_path):
    with pytest.raises(TextError, match="choose another place"):
        export(tmp_path / "no" / "captions.srt", EIGHT_HOURS, "srt")
    there = tmp_path / "folder.srt"
    there.mkdir()
    with pytest.raises(TextError):
        export(there, EIGHT_HOURS[:3], "srt")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.srt"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes with a name")
@pytest.mark.parametrize("name", ["pipe", "link", "a\0b"])
def test_no_file_takes_the_place_of_a_pipe_or_a_device(tmp_path, name):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/null")
    with pytest.raises(TextError, match="choose another place"):
        export(tmp_path / name, EIGHT_HOURS[:3], "srt")
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "link").is_symlink()
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("form", FORMS)
def test_half_a_character_is_written_as_a_question_mark(tmp_path, form):
    count, text = exported(tmp_path, [Cue(start_s=0, end_s=1, text="so \ud83d")], form)
    assert (count, "so ?" in text or "so \ufffd" in text) == (1, True)


def test_who_speaks_is_told_where_two_are_told_apart(tmp_path):
    two = spoken("me", "them", "me")
    assert exported(tmp_path, two, "txt")[1] == "me: Satz 0.\nthem: Satz 1.\nme: Satz 2.\n"
    assert "them: Satz 1." in exported(tmp_path, two, "srt")[1]
    assert "<v them>Satz 1." in exported(tmp_path, two, "vtt")[1]
    one = spoken("me", "me")
    assert exported(tmp_path, one, "txt")[1] == "Satz 0.\nSatz 1.\n"
    assert "me" not in exported(tmp_path, one, "srt")[1]
    assert "<v" not in exported(tmp_path, one, "vtt")[1]
    lines = exported(tmp_path, one, "jsonl")[1].splitlines()
    assert [json.loads(line)["speaker"] for line in lines] == ["me", "me"]


@pytest.mark.parametrize("form", ["srt", "vtt", "txt"])
@pytest.mark.parametrize("content", ["captions", "both", "source"])
def test_doubtful_captions_end_in_a_sign_if_that_is_wanted(tmp_path, form, content):
    path = tmp_path / "it"
    export(path, [SURE, DOUBTFUL], form, content)
    assert "(?)" not in path.read_text()
    export(path, [SURE, DOUBTFUL], form, content, marks_doubt=True)
    text = path.read_text()
    assert text.count("(?)") == text.count("Wort (?)\n") == (0 if content == "source" else 1)
    assert "Ja. (?)" not in text


def test_json_lines_have_the_confidence_where_the_model_gives_one(tmp_path):
    unknown = replace(SURE, confidence=None)
    _, text = exported(tmp_path, [SURE, DOUBTFUL, unknown], "jsonl")
    lines = [json.loads(line) for line in text.splitlines()]
    assert [(line.get("confidence"), line.get("doubtful")) for line in lines] == [
        (0.9, False),
        (None, None),
        *[(0.2, True)] * len(split(DOUBTFUL)),
    ]


FRENCH = FurtherText(language="fr", text="Bonjour à tous.", pieces=((7, 1, 0.5),))
TWO = Cue(
    start_s=0.0,
    end_s=2.0,
    text="Guten Morgen alle.",
    source="Good morning everyone.",
    language="de",
    further=(FRENCH,),
)


def test_a_further_language_is_exported_alone_and_below_the_others(tmp_path):
    alone = replace(TWO, start_s=3.0, end_s=4.0, further=())
    count, text = exported(tmp_path, [TWO, alone], "srt", "fr")
    assert (count, text.splitlines()[2]) == (1, FRENCH.text)
    _, text = exported(tmp_path, [TWO], "vtt", ALL)
    assert text.splitlines()[3:6] == [TWO.source, TWO.text, FRENCH.text]
    _, text = exported(tmp_path, [TWO, alone], "jsonl", "fr")
    first, second = map(json.loads, text.splitlines())
    assert (first["text"], first["further"]) == (TWO.text, {"fr": FRENCH.text})
    assert "further" not in second


def test_the_parts_of_a_long_cue_share_out_the_words_of_every_language():
    words = [f"mot{number}" for number in range(60)]
    long = replace(
        TWO,
        text=" ".join(f"Wort{number}" for number in range(40)),
        further=(replace(FRENCH, text=" ".join(words)),),
    )
    parts = split(long)
    assert len(parts) > 1
    assert [word for part in parts for word in part.further[0].text.split()] == words
