"""The sessions of the golden record, by name: scripts of what a person types, says and chooses.

Each takes the record it is kept in, the models and an empty folder.
"""

import random

from PySide6.QtCore import Qt

from tests.golden import stage
from tests.golden.stage import (
    CaptionChanged,
    Clear,
    Configure,
    DeviceKind,
    EndPassage,
    LayoutSettings,
    LoadAdapter,
    Played,
    Skip,
    TranslationSettings,
    UnloadAdapter,
    UseAdapter,
    UtteranceLimits,
    heard_window,
    listen,
    translate,
    window,
)

ENTER = Qt.Key.Key_Return
SESSIONS = {}
_STANDARD = {"policy": "read:2", "target_language": "de"}


def session(play):
    """Take a script into the record, under its name."""
    SESSIONS[play.__name__] = play
    return play


def chosen(**changes):
    return TranslationSettings(**{**_STANDARD, **changes})


def talk(seed, n_sentences=3):
    """Sentences of seeded words."""
    rng = random.Random(seed)

    def word():
        return "".join(rng.choice("abcdefgh") for _ in range(rng.randint(1, 6)))

    sentences = ([word() for _ in range(rng.randint(3, 9))] for _ in range(n_sentences))
    return " ".join(f"{' '.join(words).capitalize()}." for words in sentences)


# --- the engine: commands and events --------------------------------------------------------------


@session
def typed_with_edits(record, models, home):
    words = talk(1).split()
    with Played(record, models, translation=chosen(), home=home) as one:
        for n in range(1, len(words) + 1):
            one.typed(" ".join(words[:n]))
        one.typed(" ".join([*words[:1], "gab", *words[2:]]))
        one.typed(" ".join([*words[:5], *words[6:]]))
        one.typed(" ".join([*words[:-2], "hag", "bed", *words[-2:]]))
        one.typed(" ".join(words[2:]))
        one.typed(" ".join(words[:4]))
        one.send(EndPassage())
        one.typed("Abc de", "Abc de fgh")
        one.send(EndPassage())


@session
def pasted_lines(record, models, home):
    with Played(record, models, translation=chosen(), home=home) as one:
        for seed in (2, 3):
            one.typed(talk(seed))
            one.send(EndPassage())
        one.typed("ab cd ef")
        one.send(EndPassage())


@session
def edited_while_it_translates(record, models, home):
    with Played(record, models, translation=chosen(), home=home) as one:
        words = talk(44).split()
        edited = [*words[:2], "hag", *words[3:]]
        one.meanwhile(_nth_caption(3), stage.typed(edited))
        one.typed(" ".join(words))
        one.meanwhile(_nth_caption(2), Configure(chosen(policy="read:1")), EndPassage())
        one.typed(" ".join(["Bad", *edited]))
        one.heard("ab cd ef gh.")


def _nth_caption(n):
    seen = []

    def condition(event):
        seen.append(isinstance(event, CaptionChanged))
        return sum(seen) == n

    return condition


@session
def skipped_and_cleared(record, models, home):
    with Played(record, models, translation=chosen(), home=home) as one:
        one.meanwhile(_nth_caption(2), Skip())
        one.heard(talk(5, 5), at_once=True)
        one.meanwhile(_nth_caption(2), Clear())
        one.heard(talk(6), at_once=True)
        one.heard("ab cd. ef")
        one.send(Clear(), EndPassage())
        one.heard("ab cd.")


def _policy(name, policy, model="plain", last="abc de fgh"):
    def play(record, models, home):
        translation = chosen(policy=policy)
        with Played(record, models, model=model, translation=translation, home=home) as one:
            one.heard(talk(7, 2))
            one.heard(last)
            one.send(EndPassage())

    play.__name__ = f"policy_{name}"
    session(play)


for _name, _text, *_others in (
    ("read_1", "read:1", "short"),
    ("read_3", "read:3", "short"),
    ("wait_1", "wait:1", "short"),
    ("wait_3", "wait:3", "short"),
    ("offline", "offline", "short"),
):
    _policy(_name, _text, *_others)


@session
def two_lanes_heard(record, models, home):
    with Played(record, models, translation=chosen(), home=home) as one:
        mine, theirs = talk(8, 2).split(), talk(9, 2).split()
        for n in range(max(len(mine), len(theirs))):
            for lane, words in (("me", mine), ("them", theirs)):
                one.heard(" ".join(words[n : n + 1]), lane)
        one.heard("ab cd", "me")
        one.heard("ef", "them")
        one.send(EndPassage("me"), EndPassage("them"))


@session
def larger_steps_while_words_wait(record, models, home):
    translation = chosen(policy="read:1", catch_up_words=4)
    with Played(record, models, translation=translation, home=home) as one:
        one.heard(talk(10, 4), at_once=True)
        one.heard("ab cd ef.")


@session
def adapters(record, models, home):
    with Played(record, models, translation=chosen(), home=home) as one:
        one.heard("Ab cd ef gh.")
        one.heard("ab cd")
        one.send(LoadAdapter(models["one"]))
        one.heard("ef gh. abc")
        one.send(EndPassage())
        one.send(LoadAdapter(models["two"], use=False))
        one.heard("Ab cd ef gh.")
        one.send(UseAdapter("two"))
        one.heard("Ab cd ef gh.")
        one.send(Configure(chosen(target_language="fr")))
        one.heard("Ab cd ef gh.")
        one.send(UnloadAdapter("two"), UnloadAdapter("one"), UnloadAdapter("none of them"))
        one.send(LoadAdapter(models["stranger"]), UseAdapter("one"), UseAdapter(None))
        one.heard("Ab cd ef gh.")


@session
def adapter_from_the_start(record, models, home):
    with Played(record, models, translation=chosen(), home=home, adapter="one") as one:
        one.heard("Ab cd ef gh.")
        one.send(UseAdapter(None))
        one.heard("Ab cd ef gh.")


@session
def other_settings(record, models, home):
    with Played(record, models, translation=chosen(policy="stable:2"), home=home) as one:
        one.heard("Ab cd ef gh.")
        one.heard("ab cd")
        one.send(Configure(chosen(target_language="fr", policy="wait:2")))
        one.heard("ef gh. Ab cd ef gh.")
        one.send(Configure(chosen(policy="stable:3")))
        one.heard("Ab cd ef gh.")
        one.send(Configure(chosen(target_language="pl")))
        one.send(Configure(chosen(layout=LayoutSettings(slot_length=5))))
        one.heard("Ab cd ef gh bad.")
        one.send(Configure(chosen(source_language="fr")))
        one.heard("Ab cd ef gh.")


@session
def overflow_and_eviction(record, models, home):
    words = talk(11, 1).split()
    translation = chosen(layout=LayoutSettings(slot_length=5))
    with Played(record, models, translation=translation, home=home, capacity=48) as one:
        one.heard(" ".join(word.strip(".").lower() for word in (words * 4)[:24]))
        one.send(EndPassage())
        one.heard(talk(12, 2))


@session
def sentences_given_up(record, models, home):
    with Played(record, models, translation=chosen(), home=home, capacity=24) as one:
        one.heard("abcdefgh " * 6, at_once=True)
        one.send(EndPassage())
        one.heard("ab.")


@session
def a_model_that_cannot_be_loaded(record, models, home):
    folder = models["short"]
    with Played(record, models, translation=chosen(), home=home, model="damaged") as one:
        one.heard("ab.")
    assert folder.exists()


@session
def too_many_words(record, models, home):
    with Played(record, models, translation=chosen(), home=home) as one:
        one.heard("ab " * 20_001, at_once=True)
        one.heard("ab cd.")


@session
def glossary(record, models, home):
    """The terms of a model that was trained for slots are copied."""
    terms = (("bad hag", "Hexe"), ("cab", "Taxi"))
    with Played(record, models, translation=chosen(glossary=terms), home=home) as one:
        one.heard("A bad hag fed a cab. Ab bad hag cab.")
        one.send(Configure(chosen(glossary=(("fed", "satt"),))))
        one.heard("A bad hag fed a cab.")


@session
def glossary_and_sentences_before_in_the_prompt(record, models, home):
    terms = (("hag", "Hexe"), ("cab", "Taxi"))
    translation = chosen(glossary=terms, context_sentences=2)
    with Played(record, models, translation=translation, home=home, model="prompt") as one:
        one.heard("A bad hag fed a cab. Ab cd. Ef gh. Ab bad hag.")
        one.send(Configure(chosen(context_sentences=1)))
        one.heard("A bad hag fed a cab. Ab cd.")


@session
def numbers_and_names(record, models, home):
    text = "On 24 May Abe paid 3,500 euros. See www.abc.de or ask a@bc.de at 9:30 with Gabe Faa."
    for constrained in (True, False):
        translation = chosen(constrained=constrained)
        with Played(record, models, translation=translation, home=home) as one:
            one.heard(text)


@session
def other_scripts_and_long_texts(record, models, home):
    limits = UtteranceLimits(soft_words=6, max_words=9, max_bytes=60)
    with Played(record, models, translation=chosen(limits=limits), home=home) as one:
        one.heard("漢字 漢字。 🙂 ab 🙂 cd. Привет мир!")
        one.heard("ab cd ef gh ab, cd ef gh ab cd ef gh ab cd ef")
        one.heard("abcdefgh" * 12)
        one.send(EndPassage())
        one.typed("שלום", "שלום ab", "ab cd <|end|> ef.")


@session
def calibrated(record, models, home):
    with Played(record, models, translation=chosen(), home=home, model="calibrated") as one:
        one.heard(talk(13, 4))


@session
def retranslated(record, models, home):
    translation = chosen(policy="stable:2")
    with Played(record, models, translation=translation, home=home, system="retranslate") as one:
        words = talk(14, 2).split()
        one.heard(" ".join(words))
        one.typed(" ".join(words))
        one.typed(" ".join([*words[:2], "hag", *words[3:]]))
        one.send(Configure(chosen(policy="wait:2")))
        one.heard(" ".join(words))


@session
def encoder_decoder(record, models, home):
    text = "the old house is green and we go to see 12 books in Rome."
    translation = chosen(policy="stable:2")
    whole = {"model": "m2m100", "quantise": "none"}  # in 8 bits kinds of processors differ a lot
    with Played(record, models, translation=translation, home=home, **whole) as one:
        one.heard(text)
        one.send(Configure(chosen(policy="wait:2", target_language="fr")))
        one.heard(text)
        one.send(Configure(chosen(policy="read:3", target_language="pl", source_language="de")))
        one.typed("das Haus grün", "das Haus", "das alte Haus ist grün.")
        one.send(EndPassage())


@session
def computed_by_onnx_runtime(record, models, home):
    with Played(record, models, translation=chosen(), home=home, model="graph") as one:
        words = talk(16, 2).split()
        one.typed(" ".join(words))
        one.typed(" ".join([*words[:2], "hag", *words[3:]]))
        one.send(EndPassage(), LoadAdapter(models["one"]))
        one.heard(" ".join(words))


# --- the terminal ---------------------------------------------------------------------------------

_TEXT = f"{talk(20, 2)}\n\nab cd ef\n漢字\nOn 24 May Abe paid 3,500 euros.\n"


@session
def terminal_lines(record, models, home):
    translate(record, models, _TEXT, home=home)


@session
def terminal_live(record, models, home):
    translate(record, models, _TEXT, "--live", "--policy", "wait:2", "--to", "fr", home=home)


@session
def terminal_options(record, models, home):
    terms = home / "terms.tsv"
    terms.write_text("hag\tHexe\ncab\tTaxi\n", "utf-8")
    text = "A bad hag fed a cab. Ab cd.\nEf gh. Ab bad hag.\n"
    told = ["--glossary", terms, "--context", "1"]
    translate(record, models, text, *told, home=home, model="prompt")
    translate(record, models, text, "--system", "retranslate", home=home)
    translate(record, models, text, "--adapter", models["one"], "--slot", "8", home=home)
    translate(record, models, text, "--mark-doubtful", home=home, model="calibrated")


@session
def terminal_refusals(record, models, home):
    for options in (
        ["--to", "pl"],
        ["--policy", "read:0"],
        ["--policy", "stable:2"],
        ["--policy", "adaptive:0.3"],
        ["--slot", "0"],
        ["--adapter", models["stranger"]],
        [home / "none.txt"],
    ):
        translate(record, models, "ab cd.\n", *options, home=home)


_SAID = "we went to the old house. then it rained all day, and we stayed at home."


@session
def terminal_listens_to_a_file(record, models, home):
    listen(record, models, [_SAID], "--policy", "read:2", home=home)


@session
def terminal_listens_to_two_files(record, models, home):
    listen(record, models, [_SAID, _SAID], home=home)


# --- the windows ----------------------------------------------------------------------------------


def _worked_with(one):
    """Type with mistakes, paste, mark, delete, begin a new session."""
    one.type("ab cd eh")
    one.press(Qt.Key.Key_Backspace)
    one.type("f gh. Bad ")
    one.keep_view("while typing")
    one.type("hag.")
    one.press(ENTER)
    one.paste("A bad hag.\nFed a cab.\nab cd")
    one.press(ENTER)
    keys = [view.key for view in one.window.transcript.rows.views]
    one.application.captions.mark(keys[1])
    one.window.transcript.delete_wanted.emit((keys[2],))
    one.settle()
    one.keep_view("all typed")
    one.keep_page()
    one.keep_exports()
    one.trigger("new_session")
    one.type("Ab cd.")
    one.press(ENTER)
    one.keep_view("a new session")
    one.close()
    one.keep_journals()


@session
def window_in_english(record, models, home):
    with window(record, models, home=home) as one:
        _worked_with(one)


@session
def window_in_german(record, models, home):
    with window(record, models, home=home, language="de", mode="both") as one:
        _worked_with(one)


@session
def window_with_captions_only(record, models, home):
    with window(record, models, home=home, model=None, mode="captions only") as one:
        _worked_with(one)


@session
def window_with_confidence(record, models, home):
    with window(record, models, home=home, model="calibrated") as one:
        one.type("ab cd ef gh. Bad hag. Fed a cab.")
        one.press(ENTER)
        one.keep_exports()
        one.close()
        one.keep_journals()


@session
def window_paused_failed_and_restarted(record, models, home):
    with window(record, models, home=home) as one:
        one.type("Ab cd. ")
        one.trigger("pause")
        one.type("Ef gh. ")
        one.keep_view("paused")
        one.trigger("pause")
        one.keep_view("goes on")
        one.type("Bad ha")
        one.program.session.fail("the engine is on fire")
        one.settle()
        one.type("g. Ab ")
        one.keep_view("failed", one.window.banner.sentence.text())
        one.window.banner.retry.click()
        one.wait(lambda: one.window.status.is_ready)
        one.settle()
        one.type("cd.")
        one.press(ENTER)
        one.keep_view("restarted")
        one.close()
        one.keep_journals()


@session
def window_with_other_choices(record, models, home):
    with window(record, models, home=home) as one:
        one.type("Ab cd ef. Ab ")
        one.window.choices.language.pick("fr")
        one.settle()
        one.type("cd. Ab cd. ")
        one.window.choices.timing.pick("offline")
        one.settle()
        one.type("Bad hag fed. ")
        one.press(ENTER)
        one.keep_view("chosen")
        one.keep_exports()
        one.close()
        one.keep_journals()


@session
def window_hears_two_lanes(record, models, home):
    texts = {
        DeviceKind.MICROPHONE: ["we went to the old house. then it rained."],
        DeviceKind.SYSTEM: ["the bad hag fed a cab. they had a bed."],
    }
    with heard_window(record, models, texts, home=home) as one:
        one.window.controls.microphone.button.click()
        one.window.controls.system.button.click()
        one.wait(lambda: _ended(one, 4))
        one.settle()
        one.keep_view("heard")
        one.keep_page()
        one.keep_exports()
        one.close()
        one.keep_journals()


def _ended(one, n_cues):
    return len(one.application.history.writer.cues) == n_cues


@session
def window_hears_a_file(record, models, home):
    path = home / "media" / "talk.mp4"
    path.parent.mkdir()
    path.write_text(_SAID)
    with heard_window(record, models, {}, home=home) as one:
        dialog = one.application.media.dialog
        dialog.open_file(path, "German")
        for form in ("srt", "vtt"):
            dialog.boxes[form].setChecked(True)
        dialog.start.click()
        one.wait(dialog.start.isVisible)
        record.add("dialog", [dialog.message.text()])
        one.keep_view("heard")  # nothing of it is in the transcript
        for form in ("srt", "vtt"):
            record.add(form, path.with_suffix(f".{form}").read_text("utf-8").splitlines())
        one.close()
        one.keep_journals()
