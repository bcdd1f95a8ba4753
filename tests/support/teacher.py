"""A model that names what a pair says next, for rows that are compared with training's."""

from engine.text.prompt import word_units


def word_tokens(tokenizer, word):
    return tuple(token for unit in word_units(tokenizer, word) for token in unit)


class Teacher:
    """In the place of the model: names the pair's next target token, whatever the logits say."""

    def __init__(self, translator, pair, utterance):
        self._pair = pair
        self._utterance = utterance
        self._flat = [(index, n, id_) for index, word in enumerate(pair.target)
                      for n, id_ in enumerate(word)]  # fmt: skip
        self._feed = translator.model.feed

    def __call__(self, rows, _suppressed, *, keep_states=False):  # noqa: ARG002  no head reads them
        self._feed(rows)
        utterance = self._utterance
        prompt = utterance.prompt
        n_chosen = sum(id_ not in prompt.markers for id_ in utterance.state.chosen)
        ends_writes = utterance.policy.ends_writes
        if n_chosen == len(self._flat):
            return prompt.end_of_write if ends_writes else prompt.end_of_target
        word, piece, id_ = self._flat[n_chosen]
        held = piece == 0 and self._pair.needs[word] > utterance.n_read
        if ends_writes and held and not utterance.source_ended:
            return prompt.end_of_write
        return id_
