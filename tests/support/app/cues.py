"""Cues of sessions that some tests export."""

from app.captions.cues import Cue

EIGHT_HOURS = [
    Cue(
        start_s=number * 4.0,
        end_s=number * 4.0 + 3.9,
        text=f"Das ist Satz {number} & <mehr>.",
        source=f"This is sentence {number}.",
        language="de",
    )
    for number in range(8 * 3600 // 4)
]


def spoken(*speakers):
    return [
        Cue(start_s=number, end_s=number + 1, text=f"Satz {number}.", speaker=speaker)
        for number, speaker in enumerate(speakers)
    ]


SURE = Cue(start_s=0.0, end_s=1.0, text="Ja.", source="Yes.", language="de", confidence=0.9)


DOUBTFUL = Cue(
    start_s=2.0,
    end_s=9.0,
    text="Wort " * 30,
    source="word " * 30,
    language="de",
    confidence=0.2,
    doubtful=True,
)
