"""The description of a translation model with an encoder and a decoder, beside its weights.

It is read from the files of the original (``engine.models.encoder_decoder.original``), and written
beside the converted weights, so that the original may be deleted.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Self

from engine.errors import ModelError
from engine.files import write_file
from engine.messages import Code
from engine.models.model_card import (
    LANGUAGE_NAMES,
    Calibration,
    Language,
    ModelCard,
    checked_languages,
    forbids_commerce,
)
from engine.untrusted.faults import detail_of, refuse
from engine.untrusted.plain_files import is_plain_name
from engine.untrusted.strict_json import NEEDED, SHA256, Between, JsonObject, read_object, shown

# Codes of languages: those of the models, and the two letters of ISO 639-1 that people use.

_PAIRS = """
af:afr_Latn am:amh_Ethi ar:arb_Arab as:asm_Beng az:azj_Latn ba:bak_Cyrl be:bel_Cyrl
bg:bul_Cyrl bn:ben_Beng bo:bod_Tibt bs:bos_Latn ca:cat_Latn cs:ces_Latn cy:cym_Latn
da:dan_Latn de:deu_Latn dz:dzo_Tibt ee:ewe_Latn el:ell_Grek en:eng_Latn eo:epo_Latn
es:spa_Latn et:est_Latn eu:eus_Latn fa:pes_Arab fi:fin_Latn fj:fij_Latn fo:fao_Latn
fr:fra_Latn ga:gle_Latn gd:gla_Latn gl:glg_Latn gn:grn_Latn gu:guj_Gujr ha:hau_Latn
he:heb_Hebr hi:hin_Deva hr:hrv_Latn ht:hat_Latn hu:hun_Latn hy:hye_Armn id:ind_Latn
ig:ibo_Latn is:isl_Latn it:ita_Latn ja:jpn_Jpan jv:jav_Latn ka:kat_Geor kk:kaz_Cyrl
km:khm_Khmr kn:kan_Knda ko:kor_Hang ky:kir_Cyrl lb:ltz_Latn lg:lug_Latn li:lim_Latn
ln:lin_Latn lo:lao_Laoo lt:lit_Latn lv:lvs_Latn mg:plt_Latn mi:mri_Latn mk:mkd_Cyrl
ml:mal_Mlym mr:mar_Deva mt:mlt_Latn my:mya_Mymr ne:npi_Deva nl:nld_Latn nn:nno_Latn
no:nob_Latn ny:nya_Latn oc:oci_Latn or:ory_Orya pa:pan_Guru pl:pol_Latn ps:pbt_Arab
pt:por_Latn qu:quy_Latn rn:run_Latn ro:ron_Latn ru:rus_Cyrl rw:kin_Latn sa:san_Deva
sd:snd_Arab sg:sag_Latn si:sin_Sinh sk:slk_Latn sl:slv_Latn sm:smo_Latn sn:sna_Latn
so:som_Latn sq:als_Latn sr:srp_Cyrl ss:ssw_Latn st:sot_Latn su:sun_Latn sv:swe_Latn
sw:swh_Latn ta:tam_Taml te:tel_Telu tg:tgk_Cyrl th:tha_Thai ti:tir_Ethi tk:tuk_Latn
tl:tgl_Latn tn:tsn_Latn tr:tur_Latn ts:tso_Latn tt:tat_Cyrl tw:twi_Latn ug:uig_Arab
uk:ukr_Cyrl ur:urd_Arab uz:uzn_Latn vi:vie_Latn wo:wol_Latn xh:xho_Latn yi:ydd_Hebr
yo:yor_Latn zh:zho_Hans zu:zul_Latn
"""
"""Two-letter codes with those of FLORES-200, by which NLLB names languages.

A language's second script keeps the longer code.
"""

_BY_SCRIPT = {code: two for two, code in (pair.split(":") for pair in _PAIRS.split())}

_BY_THREE = {code[:3]: two for code, two in _BY_SCRIPT.items()} | {
    "ara": "ar",
    "aze": "az",
    "cmn": "zh",
    "fas": "fa",
    "lav": "lv",
    "mlg": "mg",
    "msa": "ms",
    "nor": "no",
    "sqi": "sq",
    "swa": "sw",
    "uzb": "uz",
    "yid": "yi",
}


def two_letters(code: str) -> str:
    """Return the two-letter code of a language; where it has none, its code as it is."""
    return _BY_SCRIPT.get(code) or _BY_THREE.get(code, code)


# The tokens of a model with an encoder and a decoder.

MOST_TOKENS, _LONGEST = 1 << 20, 1000  # characters


class Vocabulary(tuple[str, ...]):
    """Tokens in the order of their ids; one serves all parts of a model, since it may be large."""

    ids: Mapping[str, int]

    def __new__(cls, tokens: Iterable[str]) -> Self:
        made = super().__new__(cls, tokens)
        made.ids = {token: id_ for id_, token in enumerate(made)}
        return made


def checked_vocabulary(tokens: object) -> Vocabulary:
    """Return the vocabulary of a file; raise ValueError unless it is a list of unlike short texts.

    The text of the error continues a sentence about the file.
    """
    if not isinstance(tokens, list | tuple) or not all(isinstance(one, str) for one in tokens):
        refuse(f"should hold a list of texts, got {shown(tokens)}")
    if len(tokens) > MOST_TOKENS:
        refuse(f"has {len(tokens)} tokens, and {MOST_TOKENS} are the most")
    longest = max(map(len, tokens), default=0)
    if longest > _LONGEST:
        refuse(f"has a token of {longest} characters, and {_LONGEST} are the most")
    vocabulary = Vocabulary(tokens)
    if len(vocabulary.ids) < len(vocabulary):
        again = next(one for id_, one in enumerate(vocabulary) if vocabulary.ids[one] != id_)
        refuse(f"names {shown(again)} twice")
    return vocabulary


RECORD_FILE = "encoder-decoder.json"
FAMILIES = ("marian", "m2m100", "nllb", "madlad")
PRECISIONS = ("int8", "float16")
"""Of converted weights: one byte a number for a processor, two for a GPU."""

FORMAT_VERSION = 1
_SHA256 = "weights_sha256"
_MAX_RECORD_BYTES = 1 << 20
LONGEST = 200

END, UNKNOWN, START, PADDING = "</s>", "<unk>", "<s>", "<pad>"
"""The markers that all these families have; Marian has no start."""


def _checked_file_name(name: str) -> str:
    if not is_plain_name(name, LONGEST):
        refuse(f"names the file {shown(name)}, which is no plain name")
    return name


_Text = Annotated[str, Between(most=LONGEST)]
_Tokens = Annotated[Mapping[str, _Text], checked_languages]
_FileName = Annotated[_Text, _checked_file_name]
_Count = Annotated[int, Between(most=2**53), NEEDED]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A translation model beside its weights.

    Attributes:
        family: one of ``FAMILIES``.
        sources: token before the source by the source language; empty if the model finds the
            language out itself.
        targets: token of the target by the target language, empty for a model of one pair. NLLB and
            M2M-100 begin the target with it, the others the source.
        source_pieces, target_pieces: names of the sentencepiece files.
        licence: as its README.md names it; empty if it does not.
        is_accepted: a person accepted a licence that forbids commercial use.
        encoder, decoder: numbers in the weights of each half.
        weights_sha256: of the converted weights; empty before they are converted.
    """

    name: _Text
    family: Annotated[str, FAMILIES]
    sources: _Tokens
    targets: _Tokens
    source_pieces: _FileName
    target_pieces: _FileName
    licence: _Text
    is_accepted: Annotated[bool, NEEDED] = False
    encoder: _Count = 0
    decoder: _Count = 0
    weights_sha256: Annotated[str, SHA256] = ""
    calibration: Calibration | None = None

    @property
    def begins_target(self) -> bool:
        """Whether the target's token begins the target, else the source."""
        return self.family in ("m2m100", "nllb")

    @property
    def forbids_commerce(self) -> bool:
        return forbids_commerce(self.licence)

    @property
    def card(self) -> ModelCard:
        """The card of such a model: it has no prompt and no slots."""
        return ModelCard(
            name=self.name,
            languages={
                code: Language(name=LANGUAGE_NAMES.get(code, code), system="")
                for code in self.targets
            },
            end_of_source="",
            end_of_write="",
            end_of_target="",
            slot_length=1,
            policies=(),
            calibration=self.calibration,
            family=self.family,
            sources=tuple(self.sources),
        )

    def source_tokens(self, source: str, target: str) -> list[str]:
        """Return the tokens before a source.

        Raises:
            ModelError: the model does not translate this pair.
        """
        self.card.check_pair(source, target)
        tokens = [] if self.begins_target else [self.targets[target]]
        return [token for token in (*tokens, self.sources.get(source, "")) if token]

    def target_tokens(self, target: str) -> list[str]:
        return [self.targets[target]] if self.begins_target else []

    @property
    def markers(self) -> frozenset[str]:
        """Tokens that no text has."""
        tokens = {END, UNKNOWN, START, PADDING, *self.sources.values(), *self.targets.values()}
        return frozenset(tokens - {""})

    def save(self, folder: Path) -> None:
        content = {"format_version": FORMAT_VERSION, **asdict(self)}
        for key in ("calibration", _SHA256):
            if not content[key]:
                del content[key]
        write_file(folder / RECORD_FILE, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def read_record(folder: Path) -> Record:
    """Read the record of converted weights.

    Raises:
        ModelError: it is missing or garbled.
    """
    try:
        content = JsonObject.read(folder / RECORD_FILE, _MAX_RECORD_BYTES)
        content.integer("format_version", least=FORMAT_VERSION, most=FORMAT_VERSION)
        return read_object(Record, content.values)
    except (OSError, ValueError) as error:
        detail = f"{RECORD_FILE}: {detail_of(error)}"
        raise ModelError(Code.CONVERTED_WRONG(folder=str(folder), detail=detail)) from error


def save_calibration(folder: Path, calibration: Calibration) -> None:
    """Write the calibration of a model folder whose weights are converted.

    Raises:
        ModelError: nothing is converted there.
        OSError: it cannot be written.
    """
    found = converted_folder(folder, "") or folder
    replace(read_record(found), calibration=calibration).save(found)


def precision_folder(folder: Path, precision: str) -> Path:
    """Return where the converted weights of a model folder are, or will be."""
    return folder / f"ctranslate2-{precision}"


def converted_folder(folder: Path, precision: str) -> Path | None:
    """Return the folder of converted weights: of this precision if there, else of another one."""
    wanted = (precision, *(one for one in PRECISIONS if one != precision))
    folders = [folder, *(precision_folder(folder, one) for one in wanted)]
    return next((one for one in folders if (one / RECORD_FILE).is_file()), None)
