import random

import pytest
import torch

from engine.errors import ModelError
from engine.events import EndPassage, Ready, UtteranceEnded
from engine.models.adapters.adapter import model_card
from engine.models.model_card import ASKED, LANGUAGE_NAMES, Language, ask_for, plain_card
from engine.runtime.loader import load_weights
from engine.settings import LayoutSettings, ModelSettings, TranslationSettings
from engine.text.prompt import make_prompt
from engine.translation.feed import changes
from engine.translation.retranslator import Retranslator
from tests.support.chat_templates import CHATML, GEMMA_LIKE, tokenizer_with
from tests.support.commands import bare, fed
from tests.support.fakes import random_word, save_tiny_model, tiny_tokenizer
from tests.support.sessions import running


@pytest.fixture
def folder(tmp_path):
    """An instruct model as others save it: nothing in it is ours."""
    saved = save_tiny_model(tmp_path / "someone-2b-it", torch.float64)
    (saved / "surtitle.json").unlink()
    (saved / "chat_template.jinja").write_text(CHATML, encoding="utf-8")
    return saved


def test_a_model_is_asked_by_name_for_both_languages():
    asked = ask_for(["de", "xx"])
    assert asked["de"] == Language(
        name="German", system=ASKED.format(source="English", language="German")
    )
    assert "into xx." in asked["xx"].system
    own = ask_for(["fr"], text="{source} to {language} <{code}>", source="de")["fr"]
    assert own.system == "German to French <fr>"


def test_a_plain_card_knows_every_language_but_english_and_no_slots(folder):
    card = plain_card(folder)
    assert card == model_card(folder, None)
    assert set(card.languages) == set(LANGUAGE_NAMES) - {"en"}
    assert not card.knows_slots
    assert card.name == "someone-2b-it"
    assert plain_card(folder.rename(folder.with_name("some--model"))).name == "some/model"


def test_all_markers_of_a_plain_model_are_the_token_that_ends_its_turns(folder):
    prompt = make_prompt(tokenizer_with(GEMMA_LIKE), plain_card(folder), "fr")
    expected = tiny_tokenizer().convert_tokens_to_ids("<|end_of_write|>")
    assert {prompt.end_of_source, prompt.end_of_write, prompt.end_of_target} == {expected}


def test_what_a_model_thinks_or_calls_tools_with_never_stands_in_a_caption(folder):
    tokenizer = tokenizer_with(CHATML)
    tokenizer.add_tokens(["<think>", "</think>", "\n\n"])
    markers = make_prompt(tokenizer, plain_card(folder), "de").markers
    thinks, ends, breaks = tokenizer.convert_tokens_to_ids(["<think>", "</think>", "\n\n"])
    assert {thinks, ends} <= markers
    assert breaks not in markers
    assert (
        markers - {thinks, ends}
        == make_prompt(tokenizer_with(CHATML), plain_card(folder), "de").markers
    )


def test_a_model_that_no_token_ends_the_turns_of_is_refused(folder):
    tokenizer = tokenizer_with(tiny_tokenizer().chat_template)
    tokenizer.eos_token = None
    with pytest.raises(ModelError, match="nothing tells which token ends a turn of someone-2b-it"):
        make_prompt(tokenizer, plain_card(folder), "de")


def plain_translator(folder, kind, policy, slot_length):
    weights = load_weights(ModelSettings(directory=folder, device="cpu"))
    layout = LayoutSettings(slot_length=slot_length)
    settings = TranslationSettings(policy=policy, layout=layout, constrained=False)
    return kind(weights, settings, capacity=900)


def plain_answer(system, utterance):
    """What the network says after each row of the answer, over the prompt as others write it."""
    headers = utterance.prompt.headers
    source = [id_ for unit in utterance.source.units for id_ in unit]
    prompt = [*headers.system, *headers.first, *source, *headers.assistant]
    assert utterance.prompt.end_of_source not in source
    ids = torch.tensor([prompt + utterance.committed])
    logits = system.weights.network(ids).logits[0, len(prompt) - 1 :]
    logits[:, sorted(utterance.prompt.suppressed(ends_writes=False))] = -torch.inf
    return logits.argmax(-1).tolist()


@pytest.mark.parametrize("ended_alone", [False, True])
@pytest.mark.parametrize("policy", ["read:2", "wait:1", "offline"])
def test_what_a_draft_adds_is_what_the_model_answers_to_its_own_prompt(folder, policy, ended_alone):
    rng = random.Random(4)
    system = plain_translator(folder, Retranslator, policy, 1)
    n_said = 0
    for _ in range(8):
        words = [random_word(rng) for _ in range(5)]
        utterance = system.open()
        n_before = 0
        for n in range(1, 6 + ended_alone):
            n_before = len(utterance.committed)
            utterance.set_source(bare(words[:n], ended=n == 5 + ended_alone))
            list(changes(utterance))
        assert utterance.finished
        assert "<|" not in utterance.caption
        said = plain_answer(system, utterance)[n_before:-1]
        assert said == utterance.committed[n_before:]
        n_said += len(said)
    assert n_said > 4


@pytest.mark.parametrize("policy", ["read:2", "wait:1"])
def test_source_that_was_read_before_is_not_computed_again(folder, policy):
    rng = random.Random(7)
    system = plain_translator(folder, Retranslator, policy, 1)
    words = [random_word(rng) for _ in range(6)]
    utterance = system.open()
    n_target = 0
    for n in range(1, 7):
        utterance.set_source(bare(words[:n], ended=n == 6))
        n_drafted = utterance.n_drafted
        list(changes(utterance))
        if utterance.n_drafted > n_drafted:
            n_target += len(utterance.prompt.headers.assistant) + len(utterance.draft)
    headers = utterance.prompt.headers
    n_source = len(headers.system) + len(headers.first) + sum(map(len, utterance.source.units))
    assert system.model.tokens_fed == n_source + n_target


def test_a_session_says_which_mode_runs_and_gives_the_captions_of_the_last_drafts(folder):
    layout = LayoutSettings(slot_length=1)
    settings = TranslationSettings(policy="wait:1", layout=layout, constrained=False)
    words = "ab cd ef gh.".split()
    model = ModelSettings(directory=folder, device="cpu")
    with running(model, translation=settings) as (session, listener):
        (ready,) = listener.all_of(Ready)
        session.send(fed(words))
        session.send(EndPassage())
        listener.wait_for(UtteranceEnded)
    assert "adapter" in str(ready.notices[-1])
    system = plain_translator(folder, Retranslator, "wait:1", 1)
    utterance = system.open()
    utterance.set_source(bare(words, ended=True))
    list(changes(utterance))
    assert listener.receiver.text == [(tuple(words), utterance.caption)]
