import html
import json
import os
import random

import av
import pytest
import webvtt

from app.captions.cues import Cue, to_json, to_srt, to_vtt
from app.captions.export import WRITTEN, SubtitleWriter
from app.config.text_io import TextError

NASTY = ["<i>", "</b>", "<b", "{\\an8}", "-->", "--", ">", "&", "&amp;", "<", "\n", " ", "NOTE",
         "7", "WEBVTT", "é", "漢字", "🙂", "مرحبا", "\u2028", "\r\n", "\x1b[31m", "\0", "{y:i}",
         "a", "00:01"]  # fmt: skip


def cue(start_s=1.0, end_s=2.0, text="Hallo", **more):
    return Cue(start_s=start_s, end_s=end_s, text=text, **more)


def random_cues(rng, count):
    cues, start_s = [], 0.0
    for _ in range(count):
        start_s += rng.uniform(0, 5000)
        text = "".join(rng.choice(NASTY) for _ in range(rng.randrange(1, 12)))
        cues.append(cue(start_s, start_s + rng.uniform(0, 9), f"x{text}"))
    return cues


def shown(text):
    """What a person sees of a text: its lines without breaks, controls and things of no width."""
    lines = []
    for line in text.splitlines():
        letters = ["\N{REPLACEMENT CHARACTER}" if ord(c) < 32 else c for c in line]
        if words := "".join(letters).replace("\N{WORD JOINER}", "").split():
            lines.append(" ".join(words))
    return lines


def write(path, form, cues):
    writer = SubtitleWriter(path, form)
    for each in cues:
        writer.write(each)
    writer.close()
    return path


def seconds(time_text):
    hours, minutes, rest = time_text.replace(",", ".").split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(rest)


def test_times_are_written_to_the_millisecond():
    assert to_srt(cue(0, 1.0004), 1) == "1\n00:00:00,000 --> 00:00:01,000\nHallo\n\n"
    assert to_srt(cue(3661.0019, 360_000), 12).startswith("12\n01:01:01,002 --> 100:00:00,000\n")
    assert to_vtt(cue(59.9996, 60)) == "00:01:00.000 --> 00:01:00.001\nHallo\n\n"


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u2029"])
def test_a_cue_without_text_is_not_written(tmp_path, text):
    cues = [cue(1, 2), cue(2, 3, text), cue(3, 4)]
    assert len(webvtt.from_srt(write(tmp_path / "a.srt", "srt", cues))) == 2
    assert len(webvtt.read(write(tmp_path / "a.vtt", "vtt", cues))) == 2
    assert "\n2\n" in (tmp_path / "a.srt").read_text()


SPOKEN = {"source_language": "en"}


def test_who_speaks_is_told_in_every_format(tmp_path):
    said = [cue(text="Hallo", source="Hello", speaker="Me & you", language="de", **SPOKEN)]
    assert to_srt(said[0], 1).splitlines()[2] == "Me & you: Hallo"
    (read,) = webvtt.read(write(tmp_path / "a.vtt", "vtt", said))
    assert (read.voice.split(), read.text) == (["Me", "you"], "Hallo")
    assert json.loads(to_json(said[0])) == {
        "start_s": 1.0,
        "end_s": 2.0,
        "text": "Hallo",
        "source": "Hello",
        "speaker": "Me & you",
        "language": "de",
        **SPOKEN,
    }


def test_the_name_of_a_speaker_stays_in_its_line():
    name = "A\nB\x1b<v C>"
    assert to_vtt(cue(speaker=name)).splitlines()[1] == "<v A B\N{REPLACEMENT CHARACTER}v C>Hallo"
    assert (
        to_srt(cue(speaker=name), 1).splitlines()[2] == "A B\N{REPLACEMENT CHARACTER}‹v C›: Hallo"
    )


def in_srt(text):
    return text.translate(str.maketrans("<>{}", "‹›()"))


@pytest.mark.slow
def test_srt_and_webvtt_are_read_back_as_they_were_written(tmp_path):
    rng = random.Random(0)
    for number in range(20):
        cues = random_cues(rng, 15)
        srt = webvtt.from_srt(write(tmp_path / f"{number}.srt", "srt", cues))
        vtt = webvtt.read(write(tmp_path / f"{number}.vtt", "vtt", cues))
        assert len(srt) == len(vtt) == len(cues)
        for wanted, in_one, in_other in zip(cues, srt, vtt, strict=True):
            assert shown(in_one.text) == shown(in_srt(wanted.text))
            assert shown(html.unescape(in_other.text)) == shown(wanted.text)
            for found in (in_one, in_other):
                assert seconds(found.start) == pytest.approx(wanted.start_s, abs=1e-3)
                assert seconds(found.end) == pytest.approx(wanted.end_s, abs=2e-3)


def read_with_ffmpeg(path):
    """Texts as a player that uses FFmpeg and libass shows them."""
    with av.open(str(path)) as container:
        events = [
            event.ass.decode().split(",", 8)[8]
            for packet in container.demux(subtitles=0)
            for event in packet.decode()
        ]
    for event in events:
        assert "{" not in event.replace("\\{{}", ""), "no override is left"
    return [event.replace("\\{{}", "{").replace("\\N", "\n") for event in events]


@pytest.mark.slow
def test_a_player_shows_what_was_meant(tmp_path):
    cues = random_cues(random.Random(1), 100)
    vtt = read_with_ffmpeg(write(tmp_path / "a.vtt", "vtt", cues))
    srt = read_with_ffmpeg(write(tmp_path / "a.srt", "srt", cues))
    assert len(srt) == len(vtt) == len(cues)
    for wanted, in_one, in_other in zip(cues, srt, vtt, strict=True):
        assert shown(in_one) == shown(in_srt(wanted.text))
        assert shown(in_other) == shown(wanted.text)


@pytest.mark.parametrize(("form", "written"), [("srt", ""), ("jsonl", '{"me": "für"}\n')])
def test_a_summary_is_a_line_of_json_lines_alone(tmp_path, form, written):
    writer = SubtitleWriter(tmp_path / "a", form)
    writer.write_summary({"me": "für"})
    writer.close()
    assert (tmp_path / "a").read_text("utf-8") == written


def test_json_lines_are_read_back_as_they_were_written(tmp_path):
    cues = random_cues(random.Random(0), 100)
    text = write(tmp_path / "a.jsonl", "jsonl", cues).read_text(encoding="utf-8")
    assert len(text.splitlines()) == len(cues)
    for wanted, line in zip(cues, text.splitlines(), strict=True):
        found = json.loads(line)
        assert found["text"] == wanted.text
        assert found["start_s"] == pytest.approx(wanted.start_s, abs=1e-3)


def test_webvtt_begins_in_order_whoever_spoke_first(tmp_path):
    path = write(tmp_path / "a.vtt", "vtt", [cue(5, 6), cue(3, 4), cue(4, 9), cue(7, 8)])
    read = [(seconds(each.start), seconds(each.end)) for each in webvtt.read(path)]
    assert read == [(5, 6), (5, 5.001), (5, 9), (7, 8)]


def test_without_a_cue_the_file_is_whole(tmp_path):
    assert write(tmp_path / "a.srt", "srt", []).read_bytes() == b""
    assert list(webvtt.read(write(tmp_path / "a.vtt", "vtt", []))) == []


@pytest.mark.parametrize("form", WRITTEN)
def test_what_is_there_is_never_overwritten(tmp_path, form):
    path = tmp_path / "a"
    path.write_text("precious")
    with pytest.raises(TextError, match=r"would overwrite .*name another file"):
        SubtitleWriter(path, form)
    assert path.read_text() == "precious"


def test_where_nothing_can_be_written_it_is_told(tmp_path):
    with pytest.raises(TextError, match="No such file or directory; name another file"):
        SubtitleWriter(tmp_path / "nowhere" / "a.srt", "srt")
    with pytest.raises(TextError, match="Is a directory"):
        SubtitleWriter(tmp_path, "srt")
    with pytest.raises(ValueError, match="one of srt, vtt, jsonl, got 'ass'"):
        SubtitleWriter(tmp_path / "a.ass", "ass")


def test_a_pipe_may_take_subtitles(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reading = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write(tmp_path / "pipe", "srt", [cue()])
    assert os.read(reading, 999).endswith(b"Hallo\n\n")
    os.close(reading)


def test_a_full_disk_leaves_whole_cues(tmp_path, monkeypatch):
    writer = SubtitleWriter(tmp_path / "a.srt", "srt")
    writer.write(cue(text="eins"))
    real_write = os.write

    def write_half(file, data):
        if len(data) < 10:
            raise OSError(28, "No space left on device")
        return real_write(file, data[: len(data) // 2])

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", write_half)
        with pytest.raises(TextError, match="cannot be written: No space left on device"):
            writer.write(cue(2, 3, "zwei"))
    writer.write(cue(3, 4, "drei"))
    writer.close()
    writer.close()
    assert [each.text for each in webvtt.from_srt(tmp_path / "a.srt")] == ["eins", "drei"]
    with pytest.raises(ValueError, match="closed"):
        writer.write(cue())


def test_a_cue_cannot_end_before_it_begins_nor_last_for_ever():
    with pytest.raises(ValueError, match="got 2 to 1"):
        cue(2, 1)
    with pytest.raises(ValueError, match="got -1 to 1"):
        cue(-1, 1)
    for end_s in (float("inf"), float("nan"), 1e308, 10**400):
        with pytest.raises(ValueError, match="a cue lasts from 0"):
            cue(0, end_s)
