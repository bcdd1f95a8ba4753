"""What people who caption reported, by kind: the bundled models write each number, name and sign.

Of each source a caption must have what its pattern matches, and no sign that the source has not.
"""

import re
import unicodedata
from pathlib import Path

import pytest

from benchmarks.faithfulness import caption_of
from benchmarks.quantities.sentences import drawn
from engine.files import ASSETS
from engine.runtime.loader import load_weights
from engine.settings import ModelSettings, TranslationSettings
from engine.text.source import is_rare
from engine.translation.slot_translator import Translator

LANGUAGES = ("de", "fr", "es")
PASSED = {
    source: (pattern,) * 3
    for source, pattern in {
        "a < b": "<",
        "x = 5": "=.*5",
        "Meet me @ 5.": r"\b5\b",
        "Hello {name}": "{name}",
        "Type `ls` now.": "`ls`",
        "~30 people came.": "~.*30",
        "A | B": r"\|",
        "a^b": r"a\^b",
        "I <3 you": "<3",
        "<i>hi</i>": "^<i>.*</i>$",
        "A --> B": "-->",
        "#MeToo matters.": "#MeToo",
        "You have {count} new messages in {folder}.": "{count}.*{folder}",
        "#ThrowbackThursday was a success": "#ThrowbackThursday",
        "My address is 192.168.178.1 at home.": r"192\.168\.178\.1\b",
    }.items()
}
FORM = {
    unicodedata.normalize("NFD", "Mr. Müller met José."): ("Müller.*José",) * 3,
    "We\u200blcome": ("Willkommen", "[Bb]ienvenue", "[Bb]ienvenid"),
    "\u200eThe door is open.": ("Tür", "porte", "puerta"),
    "½ of the people are here.": ("Hälfte", "moitié", "mitad"),
    "It costs 20€ now.": ("20 (€|Euro)", "20 (€|euros)", "20 (€|euros)"),
    "It costs 15£ now.": ("15 (£|Pfund)", "15 (£|livres)", "15 (£|libras)"),
    "WE WILL START IN FIVE MINUTES.": ("(fünf|5) Minuten", "(cinq|5) minutes", "(cinco|5) minutos"),
    "STOP!": ("^(?!.*STOP)",) * 3,
    "Please DO NOT touch this.": (r"\bnicht\b", r"\bpas\b", r"\b[Nn]o\b"),
    "We meet in room no. 5 at noon.": ("^(?!.*nein).*5", "^(?!.* non).*5", "5"),
    "Mrs. Şahin and Mr. Mašek have 25 chairs.": ("Şahin.*Mašek.*25",) * 3,
    "I met Łukasz in the house.": ("Łukasz",) * 3,
    "- No.": ("Nein", "Non", r"\bNo\b"),
    "Uh.": ("^$",) * 3,
    "Um.": ("^$",) * 3,
}
NUMBERS = {
    "We sold 1,250 tickets in 2024 and 1.5 million in total.": (
        r"^(?=.*\b1\.?250\b)(?=.*\b2024\b).*1,5 Million",
        r"^(?=.*\b1 ?250\b)(?=.*\b2024\b).*1,5 million",
        r"^(?=.*\b1\.?250\b)(?=.*\b2024\b).*1,5 millon",
    ),
    "From 5,406 to 84,158 in 4 years.": (
        r"5\.?406.*84\.?158.*\b(4|vier)\b",
        r"5 ?406.*84 ?158.*\b(4|quatre)\b",
        r"5\.?406.*84\.?158.*\b(4|cuatro)\b",
    ),
    "We need about 1.2 billion dollars over ten years.": (
        "1,2 Milliarden Dollar", "1,2 milliards? de dollars", "1,2 mil millones de dólares",
    ),
    "The economy is worth 2.3 trillion dollars.": (
        "2,3 Billion(en)? Dollar",
        "2,3 (billions?|mille milliards) de dollars",
        "2,3 billones de dólares",
    ),
    "Our revenue rose from $5M to $7.5M last year.": (
        r"\b5 Million.* 7,5 Million", r"\b5 million.* 7,5 million", r"\b5 millon.* 7,5 millon",
    ),
    "They pay $20/hour or £15/hour.": (
        r"20 (\$|Dollar).*15 (£|Pfund)", r"20 (\$|dollars).*15 (£|livres)",
        r"20 (\$|dólares).*15 (£|libras)",
    ),
    "Twenty-five percent of the staff agreed.": ("25 (%|Prozent)", "25 (%|pour)", "25 (%|por)"),
    "Read chapter twenty-one.": (r"\b21\b",) * 3,
    "He was born in nineteen sixty-nine.": (r"\b1969\b",) * 3,
    "We moved here in nineteen eighty-four.": (r"\b1984\b",) * 3,
    "He lives on the 17th floor.": (r"\b17\.", r"\b17", r"\b17\b"),
    "It was built in the 19th century.": (r"\b19\.", "XIX|19", "XIX|19"),
    "It costs $4.5M.": ("4,5 Mi.* Dollar", "4,5 mi.* dollars", "4,5 mi.* dólares"),
    "We spent $2.5B last year.": (r"2,5 Milliarden", r"2,5 milliards?", r"2,5 mil millones"),
    "We have 1.3 million users.": ("1,3 Million", "1,3 million", "1,3 mill"),
    "We ran 10km today.": ("10 (km|Kilometer)", "10 (km|kilomètres)", "10 (km|kilómetros)"),
}  # fmt: skip
UNKNOWN = {
    "The custmer asked for a refund.": (r"\bKund", r"\b[Cc]lient", r"\b[Cc]liente"),
    "I will send you the reprot tomorrow.": ("Bericht", "rapport", "informe"),
    "The invocice was sent in October.": ("Rechnung", "facture", "factura"),
    "The flimber is on the table.": ("Flimber",) * 3,
    "Please send the frobnicator to my boss.": ("Frobnicator",) * 3,
}
HOURS = {
    "We open at 9 a.m. and close at 6 p.m.": (
        r"\b0?9(:00)? Uhr.*\b18(:00)? Uhr", r"\b0?9 ?(h|heures).*\b18 ?(h|heures)",
        r"\b0?9(:00| de la mañana).*(18:00|6 de la tarde)",
    ),
    "Lunch is from 9am to 5pm.": (
        r"\b0?9(:00)?\b.*\b17(:00)? Uhr", r"\b0?9\b|\b0?9 ?h.*\b17 ?(h|heures)",
        r"\b0?9(:00| de la mañana).*(17:00|5 de la tarde)",
    ),
    "The office is open from 9 a.m. to 5 p.m. on weekdays.": (
        r"\b0?9(:00)?\b.*\b17 Uhr", r"\b0?9\b|\b0?9 ?h.*\b17 ?(h|heures)",
        r"\b0?9(:00| de la mañana).*(17:00|17 horas|5 de la tarde)",
    ),
    "We open at 7 a.m. and close at 3 p.m.": (
        r"\b0?7 Uhr.*\b15 Uhr", r"\b0?7 ?(h|heures).*\b15 ?(h|heures)",
        r"\b0?7(:00| de la mañana| horas).*(15:00|15 horas|3 de la tarde)",
    ),
    "The meeting is at 5 p.m. Bring the report.": (
        r"\b17(:00)? Uhr\. Bring", r"\b17 ?(h|heures).*\. [A-Z]", r"(17:00|5 de la tarde)\. [A-Z]",
    ),
    "Let's meet at quarter to six instead of half past five.": (
        "5:45.*(5:30|halb sechs)", "5(:| ?h ?)45.*5(:| ?h ?)30", "5:45.*5:30",
    ),
}  # fmt: skip
KINDS = {"passed": PASSED, "form": FORM, "numbers": NUMBERS, "hours": HOURS,
         "unknown": UNKNOWN}  # fmt: skip


@pytest.fixture(scope="module", params=LANGUAGES)
def translator(request):
    folder = Path(ASSETS / "models" / f"surtitle-en-{request.param}")
    weights = load_weights(ModelSettings(directory=folder, device="cpu"))
    return Translator(weights, TranslationSettings(target_language=request.param, policy="read:3"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_each_input_that_was_reported_has_its_right_value(translator, kind):
    column = LANGUAGES.index(translator.settings.target_language)
    wrong = []
    for source, patterns in KINDS[kind].items():
        caption = caption_of(translator, source)
        signs = [char for char in caption if is_rare(char) and char not in source]
        if signs or not re.search(patterns[column], caption):
            wrong.append((source, caption))
    assert wrong == []


@pytest.mark.slow
def test_numbers_that_are_drawn_come_out_right(translator):
    sentences = list(drawn(translator.settings.target_language, n=24, seed=3))
    captions = [(one, caption_of(translator, one.source)) for one in sentences]
    assert [(one.source, text) for one, text in captions if not one.is_right(text)] == []
