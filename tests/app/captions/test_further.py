"""Which further languages can be captioned, by which model, and what is told of a model."""

from pathlib import Path

from app.captions.models import (
    MachineReport,
    ModelOffer,
    Way,
    folder_offer,
    further_language,
    offers_here,
    wanted_languages,
    ways_here,
)
from engine.hub.catalogue import bundled_languages
from engine.settings import ModelSettings

TARGET, FOLDER = next(iter(bundled_languages().items()))
HUB = "Helsinki-NLP/opus-mt-en-it"


def test_every_language_that_needs_no_download_has_its_way(tmp_path):
    (tmp_path / "Helsinki-NLP--opus-mt-en-it").mkdir()
    offers = offers_here(tmp_path)
    here = {offer.name for offer in offers if offer.is_here}
    assert HUB in here
    assert len(here) == 1 + len(bundled_languages())
    report = MachineReport(gflops=1000.0)
    ways = ways_here(("pl",), "en", offers, report, ("it", "cs", "en", "pl", TARGET))
    assert list(ways) == ["it", "pl", TARGET]
    assert ways["pl"] == Way(None)
    assert ways["pl"].memory_bytes == 0
    assert (ways["it"].offer.name, ways["it"].load) == (HUB, report.load(ways["it"].offer))
    assert ways["it"].memory_bytes == ways["it"].offer.n_bytes > 0
    assert ways[TARGET].memory_bytes == 6 * FOLDER.joinpath("model.safetensors").stat().st_size


def test_a_session_gets_each_language_with_its_model(tmp_path):
    offers = {offer.name: offer for offer in offers_here(tmp_path)}
    bundled = next(
        one for one in offers.values() if one.choice is None and one.languages[0] == TARGET
    )
    assert further_language("pl", Way(None), tmp_path, "cpu").model is None
    assert further_language("it", Way(offers[HUB]), tmp_path, "cpu").model == ModelSettings(
        directory=tmp_path, hub_name=HUB, device="cpu", is_second=True
    )
    assert further_language(TARGET, Way(bundled), tmp_path, "cpu").model == ModelSettings(
        directory=FOLDER, hub_name="", device="cpu", is_second=True
    )


def test_the_second_language_comes_first_and_of_those_that_are_read_three():
    ways = {code: further_language(code, Way(None), Path(), "cpu") for code in "abcdef"}
    for second, read, wanted in (
        ("", "", ""),
        ("b", "", "b"),
        ("x", "a", "a"),
        ("b", "xabcdef", "bacd"),
        ("", "fedcba", "fed"),
    ):
        assert "".join(one.code for one in wanted_languages(second, read, ways)) == wanted


def test_of_a_folder_licence_and_size_are_told_where_they_are_known(tmp_path):
    assert folder_offer(tmp_path) == ModelOffer(
        choice=tmp_path, name=folder_offer(tmp_path).name, n_bytes=0, licence="", is_here=True
    )
    head = "---\nlanguage: de\n"
    for text, licence in (
        (f"{head}license: cc-by-4.0\nlicense: mit\n---\nWords.\n", "CC-BY-4.0"),
        (f"{head}---\nlicense: mit\n", ""),
        ("license: mit\n", ""),
    ):
        (tmp_path / "README.md").write_text(text)
        assert folder_offer(tmp_path).licence == licence
    (tmp_path / "README.md").write_bytes(b"license: \xff")
    assert folder_offer(tmp_path).licence == ""
    (tmp_path / "ctranslate2-int8").mkdir()
    (tmp_path / "ctranslate2-int8" / "model.bin").write_bytes(bytes(7))
    assert folder_offer(tmp_path).n_bytes == 7
    for number in (1, 2):
        (tmp_path / f"{number}.safetensors").write_bytes(bytes(number))
    assert folder_offer(tmp_path).n_bytes == 3
