"""Preferences in which nothing is as it is at first."""

from pathlib import Path

from app.config.preferences import (
    CaptionPreferences,
    InterfacePreferences,
    ListeningPreferences,
    OverlayPreferences,
    Preferences,
    PrivacyPreferences,
    ProjectorPreferences,
    ServerPreferences,
    TranslationPreferences,
)

CHOSEN = Preferences(
    model=Path('/models/ö "x"'),
    accepted=Path("some/model"),
    translation=TranslationPreferences(
        language="fr", source="pl", policy="wait:5", adapter="mine", glossary=True
    ),
    server=ServerPreferences(
        in_use=True, address="https://house.example:8754", certificate=Path("/tls/house.pem")
    ),
    captions=CaptionPreferences(
        lines=2,
        characters=36,
        point_size=40,
        preset="yellow on black",
        outline=False,
        mode="both",
        second="es",
        smooth=False,
        font="DejaVu Serif",
        text_colour="#00ff00",
        background_colour="#000080",
        opacity=0.5,
        name_me="Ada",
        name_them="Grace",
        doubt="sign",
        announced=False,
    ),
    projector=ProjectorPreferences(place="top", letters=9),
    overlay=OverlayPreferences(
        visible=False,
        locked=True,
        hide_from_share=True,
        through_xwayland=True,
        hide_after_s=25,
    ),
    listening=ListeningPreferences(recognizer="small", microphone="mic 1", system="out 1"),
    privacy=PrivacyPreferences(
        journal=False,
        journal_days=3,
        page=True,
        page_port=9000,
    ),
    interface=InterfacePreferences(
        language="de", appearance="dark", text_size=150, source_share=30, knows_tray=True
    ),
    shortcuts={"pause": "F9", "lock": "", "of the future": "Ctrl+U"},
)
