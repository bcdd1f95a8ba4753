"""Every sentence that the engine reports to people, by its code.

Code decides by ``Message.code``, never by the text. The terminal prints the English sentence; the
windows translate it (``app/config/translations.py``), and ``scripts/translations`` collects it.
"""

import contextlib
import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Union

from engine.files import ByteCount


def tr(text: str) -> str:
    """Mark a text for translation, by the name that Qt's lupdate looks for."""
    return text


class Codes(enum.Enum):
    """A table of messages without their values; the value of a member is its English template.

    No two tables have a name or a template in common.
    """

    def __call__(self, **values: "Value") -> "Message":
        return Message(self, values)


@enum.unique
class Code(Codes):
    """Reports of the engine, except what is wrong with a file (``engine.untrusted.faults``)."""

    AS_SAID = "{sentence}"  # a sentence without a code of its own: it stays English

    NOT_PLAIN = tr("it is no plain file")
    LONGER_THAN = tr("it is longer than {most:,} bytes")

    # what the system says (engine.errors.SYSTEM_CODES), in its own English
    NO_SPACE = tr("No space left on device")
    NO_QUOTA = tr("Disk quota exceeded")
    FILE_LIMIT = tr("File too large")
    READ_ONLY = tr("Read-only file system")
    NO_PERMISSION = tr("Permission denied")
    NOT_PERMITTED = tr("Operation not permitted")
    NO_SUCH_FILE = tr("No such file or directory")
    IS_A_FOLDER = tr("Is a directory")
    NOT_A_FOLDER = tr("Not a directory")
    NAME_TOO_LONG = tr("File name too long")
    DISK_FAILED = tr("Input/output error")
    IN_USE = tr("Device or resource busy")
    CONNECTION_REFUSED = tr("Connection refused")
    CONNECTION_RESET = tr("Connection reset by peer")
    NO_NETWORK = tr("Network is unreachable")
    NO_ROUTE = tr("No route to host")
    ADDRESS_IN_USE = tr("Address already in use")
    NAME_NOT_FOUND = tr("name not found")

    # loading
    FETCHING = tr("Fetching {name}: {done:.2f} of {total:.2f} GB")
    LOADING = tr("Loading the model")
    MAKING_CACHE = tr("Getting ready")
    WHOLE = tr("whole on {device}")
    WHOLE_IN = tr("whole in {dtype} on {device}")
    IN_4_BITS = tr("in 4 bits on {device}")
    IN_8_BITS = tr("in 8 bits on {device}")
    NEEDS = tr("needs {size} {kept}")
    NEEDS_MORE = tr("needs {size} {kept}, {free} free")
    RAN_OUT = tr("{shortage} and ran out of it")
    AND_IT = tr("{reasons}; it {reason}")
    LOADED_OTHERWISE = tr("the model {reasons}: it was loaded {kept} ({size})")
    SLOTS_UNTRAINED = tr(
        "{model} was not trained for slots: that is an experiment, and captions are better with "
        "--system retranslate, or with an adapter"
    )
    RETRANSLATES = tr(
        "{model} translates everything again at each word and shows what two drafts agree on; with "
        "an adapter for slots captions come sooner, and cost a fraction of the computing"
    )
    ADAPTER_UNKNOWN = tr(
        "the adapter in {folder} is used, but its languages and policies are unknown: {reason}"
    )
    NO_MODEL_CARD = tr(
        "{folder} is no Surtitle model: it has no {file}; choose a folder that has one"
    )
    SOURCE_UNKNOWN = tr(
        "the model {model} translates from {known}, not from {code!r}: choose one of these or "
        "another model"
    )
    SAME_LANGUAGE = tr(
        "the captions are to be in {code!r}, which is spoken: choose another language for them"
    )
    CONVERTING = tr("Converting {name} for this computer, once: {done:.0%}")
    CONVERSION_CANCELLED = tr("converting {name} was cancelled: nothing of it is kept")
    CONVERSION_NO_ROOM = tr(
        "{name} cannot be converted: {size} are needed in {folder} and {free} are free; make room "
        "there"
    )
    CONVERSION_CANNOT_WRITE = tr(
        "{name} cannot be converted: {folder} cannot be written ({reason}); make room there, or "
        "see to its permissions"
    )
    CONVERSION_FAILED = tr(
        "{name} cannot be converted; close other programs and try again, get it again or choose "
        "another model (detail: {detail})"
    )
    TRANSLATION_LIBRARIES_MISSING = tr(
        "{name} needs libraries that are missing ({reason}): install them with pip install "
        "'surtitle[translation]'"
    )
    CONVERTED_WRONG = tr(
        "the converted model in {folder} cannot be loaded; where its original is gone, get the "
        "whole model again, else delete that folder, and it is converted again (detail: {detail})"
    )
    LICENCE_FORBIDS_COMMERCE = tr(
        "{name} is licensed under {licence}, which forbids commercial use: accept that once, in "
        "the terminal with --accept-licence, if yours is not commercial, or choose another model"
    )
    NO_GPU_FOR_TRANSLATION = tr(
        "{name} was to be computed on {device}, where CTranslate2 finds no usable GPU: choose "
        "auto or cpu"
    )
    BATCH_UNFIT = tr("{model} cannot translate lines side by side: use --batch 1")
    SYSTEM_UNFIT = tr(
        "{model} cannot be run as {system!r}: choose {suited!r} or auto, or another model"
    )
    LANGUAGE_UNKNOWN = tr(
        "the model {model} translates to {known}, not to {code!r}: choose one of these or another "
        "model"
    )
    TOO_LARGE = tr("the model in {folder} {reasons}: choose a smaller model or another device")
    TOO_LARGE_CLOSE = tr(
        "the model in {folder} {reasons}: choose a smaller model, or close other programs"
    )
    TOO_LARGE_INSTEAD = tr(
        "the model in {folder} {reasons}: choose --device {device} --quantize {quantise}"
    )
    NO_SPEECH_ENCODER = tr(
        "the model {model} reads text alone; choose one that was trained for speech, or listen "
        "with a speech model"
    )
    CANNOT_LOAD = tr("the model in {folder} cannot be loaded: {reason}")
    FOLDER_HAS_NO = tr("{folder} has no {name}: name another folder")
    CANNOT_QUANTISE = tr("weights cannot be kept {kept}: use --quantize none or --device cpu")
    NO_BITSANDBYTES = tr(
        "a model in {bits} needs bitsandbytes: install it with pip install 'surtitle[quantise]', "
        "or use --quantize none"
    )
    NO_TEMPLATE = tr("the model {model} has no chat template: choose an instruct model")
    TEMPLATE_UNUSABLE = tr(
        "the chat template of {model} cannot be used ({reason}): choose another model"
    )
    TEMPLATE_ALTERS = tr("the chat template of {model} alters messages: choose another model")
    NO_TURN_END = tr("nothing tells which token ends a turn of {model}: choose an instruct model")
    MARKER_UNKNOWN = tr(
        "the tokenizer of {model} does not know the marker {marker!r} that its card names"
    )
    NO_ALIBI = tr(
        "the layout {layout} needs a model with ALiBi, and this one has none: choose another layout"
    )
    NEEDS_TORCH = tr(
        "the model in {folder} needs torch and transformers, which are not installed: install "
        "them with pip install 'surtitle[torch]', or choose another model (detail: {detail})"
    )
    TORCH_MISSING = tr("needs torch and transformers: pip install 'surtitle[torch]'")
    BY_TORCH = tr(
        "the model is computed by torch, which starts later and takes more memory (detail:"
        " {detail})"
    )
    RUNTIME_FAILED = tr("ONNX Runtime cannot compute the model ({reason})")
    NO_DEVICE = tr(
        "the device {device} was asked for and torch finds none: use --device cpu or auto"
    )

    # session
    SENTENCE_GIVEN_UP = tr(
        "a sentence could not be translated to its end ({reason}): it stays as it is and the next "
        "ones are translated; close other programs, or choose a smaller model, if this happens "
        "again"
    )
    WORDS_REFUSED = tr(
        "{most} words wait already, and no more were taken (left out: {n_words}): choose larger "
        "steps or a smaller model, and give them again"
    )
    GLOSSARY_TOO_LONG = tr(
        "the glossary of {n_terms} terms takes {n_rows} rows of the prompt, and there is room for "
        "{most}: leave out terms"
    )
    GLOSSARY_TOO_LARGE = tr(
        "a glossary holds at most {most} terms of {most_long} characters for this model, and this "
        "one has {n_terms}, the longest of {longest} characters: leave out terms"
    )
    GLOSSARY_UNREADABLE = tr(
        "the glossary {path} cannot be read ({reason}): name a UTF-8 text file"
    )
    BYTE_NO_UTF8 = tr("byte {byte} is no UTF-8")
    GLOSSARY_LINE = tr(
        "line {number} of the glossary {path} is {line}, and a name, or a term, a tab and its "
        "translation were expected: write it so"
    )
    PROMPT_TOO_LONG = tr(
        "the prompt of {model} takes {n_rows} rows, and the cache has {capacity}: choose another "
        "adapter or model"
    )
    BAD_POLICY = tr("a policy is written {forms} or offline (N and K from 1 to 9999), got {text!r}")
    POLICY_OF_DRAFTS = tr(
        "{text} asks for drafts, which slots do not make: write read:N, wait:K or offline"
    )
    SOURCE_UNSPACED = tr(
        "the language that is spoken is written without blanks between words, which was not tried: "
        "typed text is translated at each blank and at the end of a line, speech in pieces of a "
        "few characters, and captions may be poor"
    )
    POLICY_REPLACED = tr(
        "{model} makes no drafts that could agree: captions come at the usual times, unless you "
        "choose another timing"
    )
    ENGINE_NOT_LOADED = tr("the translation engine could not be loaded: {reason}")
    FILE_UNUSABLE = tr("a file could not be used: {reason}")
    OUT_OF_MEMORY = tr(
        "memory ran out ({reason}): choose 4 bits, a smaller model or another device"
    )
    NO_ROOM_FOR_TWO = tr(
        "memory has no room for two models at once: {needed} are needed beside the one in use, "
        "{free} are free"
    )

    # a computer that translates for others
    SERVER_GONE = tr(
        "{server} does not answer ({reason}): captions wait for it; choose this computer to "
        "translate with a model of its own"
    )
    SERVER_UNREACHABLE = tr(
        "{server} cannot be reached ({reason}): start Surtitle's server there, or check address "
        "and network"
    )
    SERVER_REFUSES_TOKEN = tr(
        "{server} does not know this token: ask whoever runs it for the right one"
    )
    SERVER_UNTRUSTED = tr(
        "the connection to {server} is not safe ({detail}): name its certificate, or that of its "
        "authority, or ask whoever runs it"
    )
    SERVER_FULL = tr("as many are connected as it serves")
    SERVER_HAS_ITS_ADAPTER = tr(
        "a server has an adapter of its own: choose this computer to translate with another one"
    )
    SERVER_STOPPING = tr("it is being stopped")
    SERVER_BUSY = tr("too much was asked of it at once")
    SERVER_MISUNDERSTOOD = tr(
        "what the server says is not understood ({detail}): run the same version of Surtitle there "
        "and here"
    )
    SERVER_ADDRESS = tr(
        "the server should be written https://NAME:PORT, or http://localhost:PORT on this computer "
        "or through a tunnel, got {address!r}"
    )
    SERVER_SENTENCE_GIVEN_UP = tr(
        "the server could not translate a sentence to its end ({reason}): it stays as it is and "
        "the next ones are translated"
    )
    ENGINE_STOPPED = tr("the engine stopped unexpectedly: {reason}")

    # adapters of a session
    NO_ADAPTERS = tr(
        "{model} takes no adapter, since it is a translation model with an encoder and a decoder: "
        "leave the adapter out, or choose another model"
    )
    NOT_SWITCHABLE = tr(
        "adapters cannot be switched on {model}: one is merged into it, or its base is not known; "
        "load the base without an adapter"
    )
    ADAPTER_LOADED = tr("an adapter called {name} is loaded: unload that one first")
    ADAPTER_STAYS = tr("{name} stays in use")
    BASE_STAYS = tr("the base without an adapter stays in use")
    CANNOT_SWITCH = tr(
        "the adapter {name} cannot be switched to: {stays}; choose a smaller one or close other "
        "programs (detail: {detail})"
    )
    ADAPTER_IN_USE = tr("the adapter {name} is in use: switch to another one before it is unloaded")
    ADAPTER_NOT_LOADED = tr("no adapter {name} is loaded; there are: {known}")
    NO_ADAPTER_LOADED = tr("no adapter {name} is loaded; there are none")
    PROBE_FAILED = tr(
        "the adapter in {folder} failed its probe: {stays}; choose another adapter (detail: "
        "{detail})"
    )
    ADAPTER_UNUSABLE = tr("the adapter in {folder} cannot be used: {reason}")
    ADAPTER_UNFIT = tr(
        "the adapter does not fit the model; choose another adapter (detail: {detail})"
    )

    # the library of adapters
    NO_SUCH_ADAPTER = tr("there is no adapter {name!r}: surtitle adapters list names those at hand")
    ADAPTER_BUNDLED = tr(
        "an adapter {name!r} comes with the program: add this one under another name"
    )
    ADAPTER_THERE = tr("there is an adapter {name!r} already: replace it, or choose another name")
    ADAPTER_STAYS_THERE = tr("the adapter {name!r} comes with the program and cannot be removed")
    ADAPTERS_UNREADABLE = tr(
        "the adapters in {folder} cannot be read: {reason}; make room there, or see to its "
        "permissions"
    )
    ADAPTERS_UNWRITABLE = tr(
        "the adapters in {folder} cannot be written: {reason}; make room there, or see to its "
        "permissions"
    )
    ADAPTER_BAD_NAME = tr(
        "an adapter cannot be called {name}: choose a name of letters and digits of ASCII, with "
        "dots, hyphens and underscores between them"
    )

    # devices
    LISTENING = tr("listening to {device}")
    PLUGGED_IN_AGAIN = tr("{device} was plugged in again: listening to it")
    BACK = tr("{device} is back: listening to it again")
    NOT_THERE = tr("{missed} is not there: listening to {device} until it is back")
    GONE = tr("{missed} is gone: listening to {device} until it is back")
    NO_SOUND_FROM = tr("{missed} gives no sound: listening to {device} until it does")
    MOVED_BY_MIXER = tr("the sound settings moved the recording to {device}: listening to it")
    DEFAULT_MICROPHONE = tr("the default microphone is now {device}: listening to it")
    DEFAULT_OUTPUT = tr("the default output is now {device}: listening to it")
    NO_MICROPHONE = tr("there is no microphone: waiting for one")
    NO_OUTPUT = tr("there is no output: waiting for one")
    GONE_NO_MICROPHONE = tr("{device} is gone and there is no microphone: waiting for one")
    GONE_NO_OUTPUT = tr("{device} is gone and there is no output: waiting for one")
    STALLED = tr("no sound from {device}: opening it again")
    STILL_STALLED = tr("no sound from {device}: still trying")
    MUTED = tr("{device} is muted: please switch it on")
    SILENT = tr("{device} gives nothing but silence: please switch it on")
    HEARD = tr("{device} can be heard again")
    WOKE = tr("the computer slept for {seconds:.0f} s: listening to {device} again")
    NO_SERVER = tr("the sound server does not answer: waiting for it")
    SOUND_LOST = tr("{seconds:.2f} s of sound were lost")
    SOUND_LOST_FROM = tr("{seconds:.2f} s of sound were lost on the way from {device}")
    SOUND_OVERFLOWS = tr(
        "{seconds} s of sound wait to be recognised: what comes now is lost until there is room; "
        "choose a smaller model"
    )
    FILE_DAMAGED = tr("{file} is damaged: what cannot be read of it is left out")
    NO_RECORDING = tr(
        "expected an audio or video file, but {path} is none that can be read: {reason}"
    )
    RECORDING_UNREADABLE = tr(
        "expected an audio or video file, but {path} cannot be read: {reason}"
    )
    RECORDING_ENDS = tr("{path} cannot be read any further: {reason}")
    NO_SUCH_TRACK = tr("there is no audio track {track} in {path}: it has {tracks}")
    NO_SPEECH_IN = tr("No speech was found in {file}")
    TRACK_TAKEN = tr("{file} has {tracks} audio tracks: track {track} is heard")
    TRACK_TAKEN_IN = tr("{file} has {tracks} audio tracks: track {track} is heard ({language})")
    NO_SOUND_IN = tr("expected a file with sound, but there is none in {path}: name another")
    SOUND_UNUSUAL = tr(
        "the sound of {path} cannot be converted (channels: {channels}, rate: {rate_hz} Hz): "
        "save it with another program, for example as stereo at 48000 Hz"
    )
    RECORDING_STOPPED = tr("the recording stopped unexpectedly: {reason}")
    SERVER_SLOW = tr("the sound server did not answer within {seconds:g} s: restart it")
    NO_SERVER_RUNS = tr("no sound server answers: start PipeWire or PulseAudio")
    NO_PORTAUDIO = tr("PortAudio, which records from microphones, does not work here: {reason}")
    NO_OUTPUTS_LISTED = tr("the outputs of this computer cannot be listed: {reason}")
    CANNOT_RECORD = tr("{device} cannot be recorded: {reason}")
    SOUND_LIBRARIES_MISSING = tr(
        "sound needs libraries that are missing ({reason}): install them with pip install "
        "'surtitle[speech]'"
    )

    # listening
    TRANSLATION_SLOW = tr(
        "the translation falls behind the speaker: choose a smaller translation model, or a "
        "timing that reads more words at a time"
    )
    CAPTIONS_SLOW = tr("the captions fall behind the speaker: {smaller} is a quicker speech model")
    CAPTIONS_SLOW_SMALLEST = tr(
        "the captions fall behind the speaker: close other programs, or choose a faster model for "
        "speech or translation"
    )
    LISTENING_STOPPED = tr("listening stopped unexpectedly: {reason}")
    VAD_LIBRARIES_MISSING = tr(
        "hearing speech needs libraries that are missing ({reason}): install them with pip install "
        "'surtitle[speech]'"
    )
    SPEECH_LIBRARIES_MISSING = tr(
        "recognising speech needs libraries that are missing ({reason}): install them with pip "
        "install 'surtitle[speech]'"
    )
    NO_GPU_FOR_SPEECH = tr(
        "speech was to be recognised on cuda and no usable GPU was found: choose auto or cpu"
    )
    WHISPER_NOT_LOADED = tr(
        "the speech model {model} could not be loaded: get it again, or choose another one "
        "(detail: {detail})"
    )
    SPEECH_MODEL_CUT = tr(
        "the speech model in {folder} is not whole: get it again, or choose another one"
    )
    WHISPER_UNFIT = tr(
        "expected a Whisper model for CTranslate2 in {folder}: name another folder (detail: "
        "{detail})"
    )
    MOONSHINE_MISSING = tr(
        "the speech model moonshine.en comes with the program and is not installed: install it "
        "with pip install 'surtitle[speech]', or choose another one"
    )
    NO_SPEECH_MODEL = tr(
        "expected a speech model in {folder} and found none: a Whisper model for CTranslate2 has a "
        "model.bin, a streaming one for sherpa-onnx a tokens.txt and .onnx files"
    )
    STREAMING_UNFIT = tr(
        "expected a streaming speech model for sherpa-onnx in {folder}: name another folder "
        "(detail: {detail})"
    )
    STREAMING_NOT_LOADED = tr(
        "the speech model in {folder} could not be loaded: get it again, or choose another one "
        "(detail: {detail})"
    )
    WHISPER_LANGUAGE = tr(
        "the speech model {model} does not recognise {code!r}: choose one that does, such as base "
        "or small; those whose names end in .en recognise English alone"
    )
    NO_SUCH_WHISPER = tr(
        "no speech model is called {name}: choose {known}, or name an owner/name on huggingface.co "
        "or a folder"
    )

    # hub
    HUB_NOT_SENT_AS_PROMISED = tr(
        "huggingface.co sent a {file} of {name} that is not what it promised: it was thrown away; "
        "try again later or choose another model"
    )
    HUB_CANNOT_WRITE = tr(
        "{name} cannot be written to {folder}: {reason}; make room there and try again"
    )
    HUB_BAD_NAME = tr("{name} is no name of a model on huggingface.co: owner/name was expected")
    HUB_OFFLINE = tr(
        "{name} is not on this computer, and HF_HUB_OFFLINE forbids to ask huggingface.co: unset it"
    )
    HUB_CANCELLED = tr("downloading {name} was cancelled: what is there is kept")
    HUB_FAILED = tr(
        "{name} cannot be downloaded: huggingface.co {reason}; try again later, or choose another "
        "model or a model folder"
    )
    HUB_ANSWER_TOO_LONG = tr("sends an answer of more than {most} bytes")
    HUB_NO_ANSWER = tr("has not answered within {seconds:.0f} s")
    HUB_BAD_LIST = tr(
        "{name} cannot be downloaded: the list of its files on huggingface.co cannot be used "
        "({reason}); try again later, or choose another model or a model folder"
    )
    HUB_WEB_PAGE = tr(
        "{name} cannot be downloaded: a web page came instead of the list of its files; where your "
        "network asks you to log in, do so in a browser and try again"
    )
    HUB_NO_WEIGHTS = tr("{name} has no {what} on huggingface.co: choose another model")
    HUB_CERTIFICATE = tr(
        "{name} cannot be downloaded: the certificate of huggingface.co was refused ({reason}); "
        "where your network has a certificate of its own, name its file in SSL_CERT_FILE"
    )
    HUB_REFUSED = tr(
        "{name} cannot be downloaded from huggingface.co ({reason}): check your connection, "
        "and that you have access to it, or choose another model or a model folder"
    )
    HUB_UNREACHABLE = tr(
        "cannot reach {host} ({reason}): check your connection and try again, or choose a model "
        "folder on this computer"
    )
    HUB_NO_ROOM = tr(
        "{name} needs {missing} more in {folder}, and {free} are free: make room and try again"
    )
    HUB_STOPPED = tr(
        "the download of {name} broke off after {done} of {total} ({reason}): try again, it goes "
        "on from there"
    )
    HUB_ANSWERS = tr("it answers {status}")
    HUB_TIMED_OUT = tr("no answer came in time")
    HUB_BROKE = tr("the connection broke")
    HUB_NO_HTTP = tr("it speaks no proper HTTP")
    HUB_NOT_SECURE = tr("it sends us to an address that is not secure")
    HUB_SENDS_ON = tr("it sends us from one address to the next")


@dataclass(frozen=True, slots=True)
class Message:
    """A sentence, or a clause of one: its code, and the values in its template by name."""

    code: Codes
    values: "Mapping[str, Value]"

    def worded(self, translate: Callable[[str], str] = str, fill: "Fill" = str.format_map) -> str:
        """Fill in the template by ``fill``, after ``translate`` gave it in another language."""
        values = {
            name: value.worded(translate, fill) if isinstance(value, Message) else value
            for name, value in self.values.items()
        }
        return fill(translate(self.code.value), values)

    def __str__(self) -> str:
        return self.worded()

    def to_json(self) -> dict[str, object]:
        return {
            "code": self.code.name,
            "values": {name: _to_json(value) for name, value in self.values.items()},
        }

    @classmethod
    def from_json(cls, content: object) -> "Message | None":
        """Read what ``to_json`` gave in another process; None where it is written otherwise."""
        match content:
            case {"code": str(name), "values": dict(given)}:
                tables = [table for table in Codes.__subclasses__() if name in table.__members__]
                values = {key: _from_json(value) for key, value in given.items()}
                whole = {key: value for key, value in values.items() if value is not None}
                with contextlib.suppress(IndexError, KeyError, ValueError, OverflowError):
                    found = cls(tables[0][name], whole)
                    found.worded()  # all values that its template has are there, and fit
                    return found
        return None


def _to_json(value: "Value") -> object:
    if isinstance(value, ByteCount):
        return {"bytes": int(value)}
    return value.to_json() if isinstance(value, Message) else value


def _from_json(value: object) -> "Value | None":
    match value:
        case str() | int() | float():
            return value
        case {"bytes": int(n_bytes)}:
            return ByteCount(n_bytes)
    return Message.from_json(value)


Fill = Callable[[str, Mapping[str, object]], str]
"""Fills in a template by name."""

Value = Union[str, int, float, Message]  # noqa: UP007  annotations above name it
