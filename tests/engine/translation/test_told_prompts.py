"""What a translator tells in its prompts of terms and of the sentences before."""

from engine.settings import TranslationSettings
from engine.translation.feed import changes
from tests.support.commands import bare
from tests.support.fakes import instructed_translator, tiny_tokenizer

TERMS = (("abc", "fed"), ("gh", "ha"))


def system_text(prompt):
    return tiny_tokenizer().decode(prompt.headers.system)


def translate(engine, text):
    utterance = engine.open()
    utterance.set_source(bare(text.split(), ended=True))
    list(changes(utterance))
    return utterance


def test_a_prompt_tells_of_the_sentences_before_and_shares_its_start_with_the_last_one():
    engine = instructed_translator()
    engine.configure(TranslationSettings(glossary=TERMS, context_sentences=2))
    texts, before, fed = ["ab cd.", "ef gh.", "abc d.", "hh."], None, []
    for n, text in enumerate(texts):
        n_fed = engine.model.tokens_fed
        utterance = translate(engine, text)
        told = system_text(utterance.prompt)
        assert [one in told for one in texts] == [n - 2 <= i < n for i in range(4)]
        n_rows = len(utterance.planner.rows)
        system = utterance.prompt.headers.system
        shared = 0
        while before is not None and before[shared : shared + 1] == system[shared : shared + 1]:
            shared += 1
            if shared == min(len(before), len(system)):
                break
        fed.append(engine.model.tokens_fed - n_fed - engine.counters.probes)
        assert fed[-1] == utterance.planner.n_fed - shared <= n_rows
        assert n == 0 or shared > 0
        before = system
    assert engine.counters.tokens_recomputed == 0
    engine.forget_sentences()
    assert not any(one in system_text(engine.open().prompt) for one in texts)


def test_what_is_told_decides_what_is_said():
    """The rows of the prompt are seen; the same prompt gives the same caption."""
    captions = []
    for settings in (
        TranslationSettings(),
        TranslationSettings(glossary=TERMS),
        TranslationSettings(glossary=TERMS),
    ):
        engine = instructed_translator()
        engine.configure(settings)
        captions.append(translate(engine, "ab cd ef.").caption)
    assert captions[0] != captions[1] == captions[2]
