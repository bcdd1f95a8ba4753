"""Sentences that files and threads of the program report to people, by their codes.

As the engine's (``engine.messages``): windows word them by ``app.config.translations``.
"""

import enum

from engine.messages import Codes, tr


@enum.unique
class AppCode(Codes):
    """The messages of the program; those of the engine are in ``engine.messages``."""

    # captions on the disk
    JOURNAL_UNWRITABLE = tr(
        "this session cannot be saved in {folder}: {reason}; captions go on, and a crash would "
        "lose them"
    )
    EXPORT_UNWRITABLE = tr(
        "the captions cannot be written to {path}: {reason}; choose another place"
    )

    # captions
    LEFT_OUT = tr("… {seconds} s not captioned")

    # glossaries
    GLOSSARY_UNWRITABLE = tr(
        "the glossary could not be written to {path}: {reason}; it holds for now"
    )
    GLOSSARY_NO_FILE = tr("the glossary {path} is no regular file: replace it by one")
    GLOSSARY_NO_LANGUAGE = tr(
        "there is no glossary for {language}, which is no language code: choose another language"
    )

    # settings
    SETTINGS_LOST = tr("{path} cannot be read ({reason}); Surtitle starts with its own choices")
    SETTINGS_OF_COPY = tr("{path} cannot be read ({reason}); the choices are those of {copy}")
    SETTINGS_NOT_STORED = tr(
        "Your choices could not be stored in {path}: {reason}; they hold until Surtitle is closed"
    )
    SETTINGS_UNWRITABLE = tr(
        "The settings could not be written to {path}: {reason}; choose another file"
    )
    SETTINGS_WRONG = tr("In {path}, {values} could not be used")
    MANY_DOTS = tr("it has more than {most:,} dots")
    TOO_DEEP = tr("it is nested too deeply")
    DEEPER_THAN = tr("it is nested more than {most} levels deep")
    NUMBER_TOO_LARGE = tr("a whole number in it is too large")

    # scores of a file
    RECOGNISER_NOT_FETCHED = tr("the speech model {name} is not on this computer yet: {reason}")

    UNEXPECTED = tr(
        "something unexpected went wrong ({reason}); Surtitle goes on, and its log says more"
    )
