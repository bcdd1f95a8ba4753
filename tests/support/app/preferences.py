"""Preferences in which nothing is as it is at first."""

from pathlib import Path

from app.config.preferences import (
    CaptionChoices,
    InterfaceChoices,
    ListeningChoices,
    OverlayChoices,
    Preferences,
    PrivacyChoices,
    TranslationChoices,
)

CHOSEN = Preferences(
    model=Path('/models/ö "x"'),
    translation=TranslationChoices(language="fr", policy="wait:5", adapter="mine", glossary=True),
    captions=CaptionChoices(
        lines=3,
        characters=36,
        point_size=40,
        preset="yellow on black",
        outline=False,
        shows="both",
        smooth=False,
    ),
    overlay=OverlayChoices(visible=False, locked=True, hide_from_share=True, through_xwayland=True),
    listening=ListeningChoices(recognizer="small", microphone="mic 1", system="out 1"),
    privacy=PrivacyChoices(
        journal=False,
        journal_days=3,
        live_text=True,
        live_text_file=Path("/captions/live.txt"),
        page=True,
        page_port=9000,
    ),
    interface=InterfaceChoices(language="de"),
    shortcuts={"pause": "F9", "lock": "", "of the future": "Ctrl+U"},
)
