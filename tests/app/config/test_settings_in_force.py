from dataclasses import replace
from pathlib import Path

import pytest

from app.config.preferences import (
    LaunchSettings,
    Preferences,
    TranslationPreferences,
)
from app.config.settings_in_force import (
    MOST_TOKEN,
    ModelChoice,
    SettingsInForce,
    for_window,
    is_token,
    read_token,
)
from engine.models.resolve import STANDARD_POLICY
from engine.settings import ServerSettings


@pytest.mark.parametrize("content", [b"\xff", b"two\nlines", b"a" * (MOST_TOKEN + 1), b"tab\tin"])
def test_what_cannot_be_sent_is_no_token(tmp_path, content):
    (tmp_path / "token").write_bytes(content)
    assert read_token(tmp_path / "token") == ""
    assert read_token(tmp_path / "none") == ""


def test_the_longest_token_may_be_sent_and_no_letter_that_needs_an_encoding(tmp_path):
    (tmp_path / "token").write_text("a" * MOST_TOKEN + "\n", "ascii")
    assert read_token(tmp_path / "token") == "a" * MOST_TOKEN
    assert not is_token("ü")
    assert not is_token("a" * (MOST_TOKEN + 1))


STORED = Preferences(
    model=Path("stored"),
    translation=TranslationPreferences(language="es", policy="wait:3", adapter="a"),
)
TERMS = (("cat", "Katze"),)


@pytest.fixture
def in_force(tmp_path):
    """Makes the settings over preferences that lie in a file."""

    def make(stored=None, **launch):
        folders = dict.fromkeys(("places_file", "data_folder", "log_folder"), tmp_path)
        path = tmp_path / "settings.toml"
        settings = SettingsInForce(LaunchSettings(preferences_file=path, **folders, **launch))
        if stored is not None:
            settings.choose(stored)
            return make(**launch)
        return settings

    return make


def chosen(model, language, source="en", **more):
    return ModelChoice(model=Path(model), language=language, source=source, **more)


def heard(signal):
    """What a signal carries from now on."""
    values = []
    signal.connect(values.append)
    return values


def test_where_the_command_line_says_nothing_the_preferences_are_in_force(in_force):
    settings = in_force(STORED)
    assert (settings.model, settings.adapter) == (Path("stored"), "a")
    assert settings.translation.target_language == "es"
    assert settings.translation.policy == "wait:3"


def test_the_command_line_is_in_force_before_the_preferences(in_force):
    settings = in_force(
        STORED, model=Path("m"), adapter=Path("mine"), language="fr", policy="read:5"
    )
    assert (settings.model, settings.adapter) == (Path("m"), Path("mine"))
    assert settings.translation.target_language == "fr"
    assert settings.translation.policy == "read:5"
    assert in_force(no_adapter=True).adapter == "none"


@pytest.mark.parametrize("what", ["language", "policy"])
def test_a_choice_is_in_force_once_and_stored(in_force, what):
    settings = in_force(language="fr", policy="read:5")
    translations = heard(settings.translation_changed)
    value = {"language": "es", "policy": "wait:3"}[what]
    getattr(settings, f"choose_{what}")(value)
    assert len(translations) == 1
    assert translations[0] == settings.translation
    assert getattr(settings.preferences.translation, what) == value


def test_a_policy_that_the_model_cannot_follow_waits_for_one_that_can(in_force):
    settings = in_force()
    translations = heard(settings.translation_changed)
    settings.choose_policy("stable:2")
    settings.suit_policy(makes_drafts=False)
    assert settings.preferences.translation.policy == "stable:2"
    now = settings.preferences
    settings.choose(replace(now, translation=replace(now.translation, policy="stable:3")))
    settings.suit_policy(makes_drafts=True)
    settings.suit_policy(makes_drafts=True)
    assert [one.policy for one in translations] == ["stable:2", STANDARD_POLICY, "stable:3"]


def test_no_choice_is_the_standard_policy_of_each_model_and_a_choice_stays(in_force):
    settings = in_force()
    translations = heard(settings.translation_changed)
    assert (settings.preferences.translation.policy, settings.translation.policy) == (
        "",
        STANDARD_POLICY,
    )
    settings.suit_policy(makes_drafts=True)
    settings.suit_policy(makes_drafts=False)
    settings.choose_policy("read:7")
    settings.suit_policy(makes_drafts=True)
    settings.choose_policy("")
    assert [one.policy for one in translations] == [
        "stable:2",
        STANDARD_POLICY,
        "read:7",
        "stable:2",
    ]
    assert in_force().translation.policy == STANDARD_POLICY  # until its model is known


def test_a_glossary_is_in_force_and_not_stored_with_its_terms(in_force):
    settings = in_force()
    settings.use_glossary(TERMS)
    assert settings.translation.glossary == TERMS
    assert in_force().translation.glossary == ()


def test_another_model_is_wanted_first_and_in_force_and_stored_once_it_works(in_force):
    settings = in_force()
    wanted, translations = heard(settings.model_wanted), heard(settings.translation_changed)
    other = ModelChoice(model=Path("other"), language="es")
    assert settings.choose_model(other)
    assert (wanted, translations) == ([other], [])
    assert (settings.model, settings.translation.target_language) == (None, "de")
    assert in_force().model is None
    settings.adopt_model(other)
    assert (settings.model, settings.translation.target_language) == (Path("other"), "es")
    assert len(translations) == 1
    assert in_force().model == Path("other")


def test_a_model_that_failed_is_loaded_again_when_it_is_chosen_again(in_force):
    settings = in_force(STORED)
    wanted = heard(settings.model_wanted)
    same = ModelChoice(model=STORED.model, language="es")
    settings.choose_model(same)
    settings.model_works = False
    settings.choose_model(same)
    assert wanted == [same]


def test_the_model_and_the_language_of_the_command_line_stay_until_the_end(in_force):
    settings = in_force(model=Path("m"), language="fr")
    models = heard(settings.model_wanted)
    assert not settings.choose_model(chosen("other", "es", "pl"))
    assert (settings.model, models) == (Path("m"), [])
    assert settings.translation.target_language == "fr"
    assert settings.preferences.model == Path("other")
    assert settings.preferences.translation.language == "es"


def test_a_language_that_the_model_knows_is_in_force_and_not_stored(in_force):
    settings = in_force(STORED)
    told = heard(settings.translation_changed), heard(settings.language_changed)
    settings.use_language("fr")
    assert settings.translation.target_language == "fr"
    assert told == ([], [])
    settings.use_known_language("pl")
    assert [one.target_language for one in told[0]] == told[1] == ["pl"]
    assert settings.preferences == in_force().preferences
    assert settings.preferences.translation.language == "es"


def test_a_server_is_stored_once_it_works_and_its_token_in_a_file_of_its_own(in_force, tmp_path):
    settings = in_force(STORED, model=Path("m"))
    assert settings.known_server is None
    token = "a-token-of-36-letters-0123456789abcd"
    server = ServerSettings(address="https://house:1", token=token, certificate=Path("/c"))
    settings.adopt_model(chosen("m", "es", server=server))
    assert (settings.server, settings.preferences.model) == (server, STORED.model)
    assert in_force().server == for_window(server)
    assert in_force(model=Path("m")).server is None
    assert token not in (tmp_path / "settings.toml").read_text()
    settings.adopt_model(chosen("other", "es"))
    assert settings.server is in_force().server is None
    assert settings.known_server == for_window(server)
    assert settings.preferences.model == Path("other")
    failures = heard(settings.failed)
    (tmp_path / "server-token").unlink()
    (tmp_path / "server-token").mkdir()
    settings.adopt_model(chosen("other", "es", server=server))
    assert ["server-token" in failure for failure in failures] == [True]


def test_what_is_spoken_is_chosen_with_the_model_and_understood_by_the_recogniser(in_force):
    settings = in_force()
    translations = heard(settings.translation_changed)
    assert (settings.translation.source_language, settings.recognizer) == ("en", "base.en")
    settings.adopt_model(chosen("m", "en", "pl"))
    assert (settings.translation.source_language, settings.recognizer) == ("pl", "base")
    assert settings.preferences.listening.recognizer == "base.en"
    assert settings.languages == ("pl", "en")
    settings.choose_mode("captions only")
    assert settings.languages == ("pl", "pl")
    assert in_force().translation.source_language == "pl"
    settings.choose_model(chosen("m", "en", "de"))
    assert [one.source_language for one in translations] == ["pl", "de"]
    assert in_force(model=Path("other")).translation.source_language == "en"


def test_a_licence_is_accepted_once_for_one_model(in_force):
    settings = in_force()
    settings.model_wanted.connect(settings.adopt_model)
    wanted = heard(settings.model_wanted)
    settings.choose_model(chosen("m", "es"))
    assert not settings.accepts_licence
    settings.choose_model(chosen("m", "es", accepts_licence=True))
    assert len(wanted) == 2, "it is loaded again, as it could not be without"
    assert in_force().accepts_licence
    settings.choose_model(chosen("other", "es"))
    assert not settings.accepts_licence
    settings.choose_model(chosen("m", "es"))
    assert settings.accepts_licence
    assert not in_force(model=Path("other")).accepts_licence
    settings = in_force(model=Path("other"))
    settings.accept_licence()
    assert settings.accepts_licence


def test_what_could_not_be_stored_holds_all_the_same(in_force, tmp_path, qtbot):
    settings = in_force()
    (tmp_path / "settings.toml").mkdir()
    with qtbot.waitSignals([settings.preferences_changed, settings.failed]):
        settings.choose(STORED)
    assert settings.preferences == STORED


def test_the_same_choice_again_is_not_told(in_force, tmp_path, qtbot):
    settings = in_force()
    with qtbot.assertNotEmitted(settings.preferences_changed):
        settings.choose(Preferences())
    assert not (tmp_path / "settings.toml").exists()
