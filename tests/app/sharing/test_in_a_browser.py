"""The page for phones in a headless Chromium."""

import os
import random
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from app.captions.model import UtteranceView
from app.sharing import room as room_module
from app.sharing.room import Room
from app.sharing.room_feed import CAPTION, MOST_LETTERS, SOURCE
from tests.support.audience.chromium import Chromium, needs_chromium

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = ROOT / "tests" / "support" / "programs" / "room_program.py"
SIZES = {"phone": (390, 844), "tablet": (820, 1180), "projector": (1920, 1080)}
SAID = {
    "de": ("Guten Morgen zusammen.", "Wir fangen mit dem Haushalt an."),
    "ar": ("صباح الخير جميعًا.", "نبدأ بالميزانية."),
    "ja": ("皆さん、おはようございます。", "予算から始めます。"),
}
SHOWN = "[...document.querySelectorAll('main p')].map(row => row.textContent).filter(Boolean)"
STATE = "document.getElementById('state').textContent"
SPOKEN = """
addEventListener("DOMContentLoaded", () => {
  window.spoken = [];
  const heard = changes => changes.forEach(change =>
    change.addedNodes.forEach(line => spoken.push(line.textContent)));
  new MutationObserver(heard).observe(document.getElementById("spoken"), { childList: true });
});
"""
CLOCK = """
(() => {  // turned by hand
  const timers = new Map();
  let now = 0, number = 0;
  window.setTimeout = (act, ms = 0) => timers.set(++number, { act, at: now + ms }) && number;
  window.clearTimeout = one => timers.delete(one);
  window.turn = ms => {
    const until = now + ms;
    for (;;) {
      const due = [...timers].filter(([, it]) => it.at <= until).sort((a, b) => a[1].at - b[1].at);
      if (!due.length) break;
      timers.delete(due[0][0]);
      now = due[0][1].at;
      due[0][1].act();
    }
    now = until;
  };
})();
"""
CONTRASTS = """
(() => {
  const parts = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = colour => {
    const [red, green, blue] = colour.map(it => it / 255).map(
      it => it <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = element => {
    for (; element; element = element.parentElement) {
      const colour = parts(getComputedStyle(element).backgroundColor);
      if (colour[3] !== 0) return colour;
    }
    return [255, 255, 255];
  };
  const between = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const texts = [], edges = [];
  for (const element of document.querySelectorAll("body *")) {
    if (!element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const says = [...element.childNodes].some(it => it.nodeType === 3 && it.data.trim());
    if (says) texts.push([element.textContent, between(parts(style.color), behind(element))]);
    if (element.matches("button, select, input"))
      edges.push([element.id, between(parts(style.borderTopColor), behind(element.parentElement))]);
  }
  return { texts, edges };
})()
"""
OVERFLOW = """
Math.max(document.documentElement.scrollWidth - innerWidth, ...["captions", "bar"].map(
  id => document.getElementById(id)).map(it => it.scrollWidth - it.clientWidth))
"""

pytestmark = [needs_chromium, pytest.mark.slow]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Chromium(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def opened(browser):
    """Open pages that are closed at the end."""
    pages = []

    def page(**settings):
        pages.append(browser.page(**settings))
        return pages[-1]

    yield page
    for one in pages:
        one.close()


@pytest.fixture
def shared(monkeypatch):
    """Share captions in languages that are said; the first is that of the captions."""
    monkeypatch.setattr(room_module, "PORT", 0)
    rooms = []

    def share(**settings):
        further = {code: code for code in SAID if code != "de"}
        rooms.append(Room("127.0.0.1", {SOURCE: "en", CAPTION: "de"} | further, **settings))
        return rooms[-1]

    yield share
    for room in rooms:
        room.close()


def say(room, *captions, **further):
    """Show sentences that are whole; return their views."""
    room.show_ready(further)
    texts = zip(*further.values(), strict=True) if further else [()] * len(captions)
    views = [
        UtteranceView(
            key=key,
            source=f"sentence {key}",
            caption=caption,
            ended=True,
            language="de",
            further=tuple(zip(further, others, strict=True)),
        )
        for key, (caption, others) in enumerate(zip(captions, texts, strict=True), 1)
    ]
    room.show_views(views)
    return views


def is_shown(*texts):
    return f"JSON.stringify({SHOWN}) === {_quoted(texts)}"


def _quoted(texts):
    quoted = ", ".join(f"`{text}`" for text in texts)
    return f"JSON.stringify([{quoted}])"


def choose(page, show):
    page.get(f"(it => {{ it.value = '{show}'; it.onchange(); }})(document.getElementById('show'))")


# How it looks and what it tells, at every size


@pytest.mark.parametrize(("dark", "language"), [(False, "de-DE"), (True, "en-GB")])
@pytest.mark.parametrize("size", SIZES)
def test_captions_can_be_read_in_every_writing_and_nobody_else_is_asked(
    opened, shared, size, dark, language
):
    room = shared()
    german, *others = SAID.items()
    say(room, *german[1], **dict(others))
    page = opened(size=SIZES[size], dark=dark, language=language)
    page.open(room.link)
    for show, code in (("caption", "de"), ("ar", "ar"), ("ja", "ja")):
        choose(page, show)
        page.wait(is_shown(*SAID[code]))
        rows = "[...document.querySelectorAll('main p')]"
        assert page.get(f"{rows}.map(row => row.lang)") == [code, code]
        direction = "rtl" if code == "ar" else "ltr"
        assert page.get(f"{rows}.every(row => row.matches(':dir({direction})'))")
        assert page.get(OVERFLOW) <= 0
    contrasts = page.get(CONTRASTS)
    assert {text for text, _ in contrasts["texts"]} >= {*SAID["ja"]}
    assert {text: ratio for text, ratio in contrasts["texts"] if ratio < 4.5} == {}
    assert {name: ratio for name, ratio in contrasts["edges"] if ratio < 3} == {}
    shortest = "Math.min(...[...document.querySelectorAll('header button, select')].map("
    assert page.get(f"{shortest} it => Math.min(it.offsetWidth, it.offsetHeight)))") >= 44
    assert page.get("document.documentElement.lang") == language[:2]
    assert page.get("document.documentElement.dataset.theme") == ("dark" if dark else "light")
    assert all(address.startswith(room.address) for address in page.asked)
    assert page.faults == []


def test_letters_are_larger_on_a_larger_screen_and_as_the_reader_chooses(opened, shared):
    room = shared()
    say(room, *SAID["de"])
    sizes = []
    for size in SIZES.values():
        page = opened(size=size)
        page.open(room.link)
        page.wait(is_shown(*SAID["de"]))
        measure = "parseFloat(getComputedStyle(document.querySelector('main p')).fontSize)"
        sizes.append(page.get(measure))
        page.get("document.getElementById('larger').click()")
        assert page.get(measure) == pytest.approx(1.15 * sizes[-1])
        page.get("document.getElementById('smaller').click()")
    assert sizes == sorted(set(sizes))
    assert sizes[0] >= 20
    assert sizes[-1] >= 40


@pytest.mark.parametrize(("language", "names"), [("en", ENGLISH := {
    "combobox": ["Language"], "log": ["Captions"], "RootWebArea": ["Captions"],
    "button": ["Smaller letters", "Larger letters", "Light or dark"],
}), ("de", {
    "combobox": ["Sprache"], "log": ["Untertitel"], "RootWebArea": ["Untertitel"],
    "button": ["Kleinere Schrift", "Größere Schrift", "Hell oder dunkel"],
})])  # fmt: skip
def test_a_screen_reader_finds_every_control_and_hears_each_whole_sentence_once(
    opened, shared, language, names
):
    room = shared()
    page = opened(language=language, before=SPOKEN)
    page.open(room.link)
    say(room, "Guten Morgen.", "Wir fangen an.")
    page.wait(is_shown("Guten Morgen.", "Wir fangen an."))
    views = say(room, "Guten Morgen.", "Wir fangen an.", "Es regnet.")
    page.wait("spoken.length === 3")
    room.show_views([replace(view) for view in views], lambda _view: "Anna")  # the same words
    page.wait("document.querySelectorAll('main b').length === 3")
    assert page.get("spoken") == ["Guten Morgen.", "Wir fangen an.", "Es regnet."]
    spoken = "document.getElementById('spoken')"
    assert page.get(f"{spoken}.getAttribute('aria-live')") == "polite"
    assert page.get(f"[...{spoken}.children].every(line => line.lang === 'de')")
    roles = page.roles()
    assert {role: roles[role] for role in names} == names
    assert "status" in roles


def test_before_the_first_caption_the_page_says_what_it_waits_for(opened, shared):
    room = shared()
    page = opened(language="de")
    page.open(room.link)
    page.wait("document.getElementById('state').textContent === 'Live'")
    before = "getComputedStyle(document.getElementById('captions'), '::before').content"
    assert page.get(before) == '"Hier erscheinen Untertitel."'
    say(room, "Guten Morgen.")
    page.wait(is_shown("Guten Morgen."))
    assert page.get(before) == "none"


def test_a_name_or_a_word_in_other_letters_does_not_turn_a_row(opened, shared):
    room = shared()
    views = say(room, "Guten Morgen.", "صباح heißt Morgen.", ar=("صباح الخير.", "Surtitle برنامج."))
    room.show_views([replace(view) for view in views], lambda _view: "Me")
    page = opened()
    page.open(room.link)
    edges = (
        "[...document.querySelectorAll('main p')].map(row => {"
        "const range = document.createRange(); range.selectNodeContents(row.querySelector('b'));"
        "const name = range.getBoundingClientRect(), whole = row.getBoundingClientRect();"
        "return Math.round(name.left - whole.left) === 0 ? 'left' :"
        " Math.round(whole.right - name.right) <= 12 ? 'right' : 'between'; })"
    )
    page.wait("document.querySelectorAll('main b').length === 2")
    assert page.get(edges) == ["left", "left"]
    choose(page, "ar")
    page.wait("document.querySelectorAll('main [lang=ar] b').length === 2")
    assert page.get(edges) == ["right", "right"]


def test_another_language_is_no_break_of_the_connection(opened, shared):
    room = shared()
    say(room, *SAID["de"], ar=SAID["ar"])
    page = opened()
    page.open(room.link)
    page.wait(is_shown(*SAID["de"]))
    page.get(
        "window.states = []; new MutationObserver(() => states.push("
        f"{STATE})).observe(document.getElementById('state'), {{ childList: true }})"
    )
    choose(page, "ar")
    page.wait(is_shown(*SAID["ar"]))
    assert page.get("states") == []


def test_who_scrolls_up_to_read_stays_there_until_the_newest_is_wanted(opened, shared):
    room, texts = shared(), [f"Satz {number}." for number in range(60)]
    say(room, *texts)
    page = opened()
    page.open(room.link)
    page.wait(is_shown(*texts))
    captions, newest = (f"document.getElementById('{name}')" for name in ("captions", "newest"))
    below = f"{captions}.scrollHeight - {captions}.scrollTop - {captions}.clientHeight"
    assert page.get(below) < 2
    page.get(f"{captions}.scrollTop = 100")
    texts.append("Und noch einer.")
    say(room, *texts)
    page.wait(f"!{newest}.hidden")
    assert page.get(f"{captions}.scrollTop") == 100
    page.get(f"{newest}.click()")
    page.wait(f"{newest}.hidden")
    assert page.get(below) < 2


def test_the_screen_is_kept_awake_where_the_browser_can(opened, shared):
    page = opened(before="window.asked = []; navigator.wakeLock.request = async it => "
                  "{ asked.push(it); };")  # fmt: skip
    page.open(shared().link)
    page.wait("asked.includes('screen')")


def test_what_the_reader_chose_is_kept_on_the_phone_alone(opened, shared):
    room = shared()
    say(room, *SAID["de"], ar=SAID["ar"])
    page = opened()
    page.open(room.link)
    page.wait(is_shown(*SAID["de"]))
    page.get("document.getElementById('theme').click()")
    choose(page, "ar")
    page.wait(is_shown(*SAID["ar"]))
    page.open("about:blank")
    page.open(room.link)
    page.wait(is_shown(*SAID["ar"]))
    assert page.get("document.documentElement.dataset.theme") == "dark"
    page.get("localStorage.clear()")


def test_a_pin_that_is_wrong_is_said_and_the_right_one_opens_the_captions(opened, shared):
    room = shared(with_pin=True)
    say(room, *SAID["de"])
    page = opened()
    page.open(room.link)
    page.wait("document.activeElement.id === 'pin'")
    enter = "document.getElementById('pin').value = '{}', document.getElementById('go').click()"
    page.get(enter.format(f"{(int(room.access.pin) + 1) % 1_000_000:06}"))
    page.wait("document.getElementById('refused').textContent === 'This is not the PIN.'")
    assert page.roles()["alert"]
    assert {text: ratio for text, ratio in page.get(CONTRASTS)["texts"] if ratio < 4.5} == {}
    page.get(enter.format(room.access.pin))
    page.wait(is_shown(*SAID["de"]))
    assert page.faults == []


# What a caption could try


def test_captions_run_no_script_turn_no_text_and_stay_bounded(opened, shared):
    hostile = (
        "<script>hacked = 1</script>",
        "<img src=x onerror='hacked = 1'><svg onload='hacked = 1'>",
        "</p></main><style>* { display: none }</style><iframe src=https://example.com>",
        "abc \u202edef\u202c \u2066ghi",
        "x" * 100_000,
        "after them",
    )
    room = shared()
    say(room, *hostile)
    page = opened()
    page.open(room.link)
    page.wait(f"{SHOWN}.length === 6")
    texts = page.get(SHOWN)
    assert texts[:3] == list(hostile[:3])
    assert texts[3] == "abc def ghi"
    assert len(texts[4]) == MOST_LETTERS + 1
    assert texts[5] == "after them"
    assert page.get("typeof hacked") == "undefined"
    found = "document.querySelectorAll('main script, main img, main svg, iframe').length"
    assert page.get(found) == 0
    assert page.get(OVERFLOW) <= 0
    assert (page.dialogs, page.faults) == ([], [])
    assert all(address.startswith(room.address) for address in page.asked)


def test_a_script_that_got_into_the_page_all_the_same_would_not_run(opened, shared):
    page = opened()
    page.open(shared().link)
    page.get("const one = document.createElement('script'); one.textContent = 'hacked = 1';"
             "document.body.append(one)")  # fmt: skip
    page.get("fetch('http://127.0.0.1:9/').catch(() => 0)")
    assert page.get("typeof hacked") == "undefined"
    assert sum("Content Security Policy" in fault for fault in page.faults) >= 2


@pytest.mark.parametrize("key", ["", "#<img src=x onerror=hacked=1>", "#%00"])
def test_with_a_link_that_is_none_the_page_says_what_to_do(opened, shared, key):
    room = shared()
    say(room, "geheim")
    page = opened()
    page.open(room.address + key)
    page.wait("document.getElementById('ask').textContent.startsWith('Scan the QR code')")
    assert page.get(SHOWN) == []
    assert page.get("typeof hacked") == "undefined"
    assert page.faults == []


# Away and back


@pytest.fixture
def program():
    """A room in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    yield process
    process.send_signal(signal.SIGCONT)
    process.communicate(timeout=300)


class Talk:
    """Sentences of a room in another process, which can be stopped."""

    def __init__(self, program):
        self.program, self.said = program, []
        self.link = program.stdout.readline().strip()

    def say(self, n_sentences):
        for _ in range(n_sentences):
            self.said.append(f"Satz {len(self.said) + 1}.")
            self.program.stdin.write(self.said[-1] + "\n")
        self.program.stdin.flush()

    def stop(self):
        self.program.send_signal(signal.SIGSTOP)
        os.waitpid(self.program.pid, os.WUNTRACED)

    def go_on(self):
        self.program.send_signal(signal.SIGCONT)


def test_after_longer_stops_it_connects_again_and_shows_every_caption_once(opened, program):
    rng = random.Random(34)
    talk, page = Talk(program), opened(before=CLOCK + SPOKEN)
    page.open(talk.link)
    for _ in range(4):
        talk.say(rng.randint(1, 3))
        page.wait(is_shown(*talk.said))
        talk.stop()
        talk.say(rng.randint(0, 3))
        for _ in range(rng.randint(1, 3)):
            n_asked = len(page.asked)
            page.get("turn(25_000)")  # nothing came for so long
            page.wait(f"{STATE} === 'Connecting…'")
            page.get("turn(0)")
            assert len(page.asked) == n_asked + 1
        talk.go_on()
        page.wait(is_shown(*talk.said))
    assert page.get("spoken") == talk.said
    assert page.faults == []


def test_the_end_of_sharing_is_said_and_captions_stay_to_be_read(opened, shared):
    room = shared()
    say(room, *SAID["de"])
    page = opened(before=CLOCK)
    page.open(room.link)
    page.wait(is_shown(*SAID["de"]))
    room.close()
    page.wait(f"{STATE} === 'Sharing has ended'")
    assert page.get(SHOWN) == list(SAID["de"])
