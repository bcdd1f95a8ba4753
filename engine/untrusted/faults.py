"""What can be wrong with files that strangers wrote, as clauses by their codes.

Most go on a sentence that begins with the file (``lacks 'slot_length'``); those that begin with
"it" or "its" are about the adapter or the model that the file belongs to.
"""

import enum

from engine.messages import Codes, tr


@enum.unique
class Fault(Codes):
    """A clause about a file, an adapter or a model."""

    # JSON
    NESTED = tr("is nested too deeply")
    NO_UTF8 = tr("is no UTF-8 text")
    NO_JSON = tr("is no JSON (line {line}, column {column})")
    NO_OBJECT = tr("should hold an object, got {value}")
    TOO_LONG = tr("is longer than {most} bytes")
    LACKS = tr("lacks {key}")
    TWICE = tr("names {key} twice")
    WRONG_CONTENT = tr("should hold {wanted}, got {value}")
    MANY_DIGITS = tr("holds a number of {n} digits")
    TOO_LARGE_A_NUMBER = tr("holds {value}, which is too large a number")
    NO_NUMBER = tr("holds {value}, which is no number of JSON")
    WRONG_TYPE = tr("{key} should be {wanted}, got {value}")
    TEXT = tr("text")
    SHORT_TEXT = tr("text of at most {most} characters")
    SHA256 = tr("64 lower-case hexadecimal digits")
    SHA1 = tr("forty hexadecimal digits")
    FLAG = tr("true or false")
    WHOLE_NUMBER = tr("a whole number from {least} to {most}")
    DIVISOR = tr("a divisor of {whole}")
    A_NUMBER = tr("a number")
    NUMBER_BETWEEN = tr("a number from {least} to {most}")
    TEXTS = tr("a list of texts")
    WHOLE_NUMBERS = tr("a list of whole numbers from {least} to {most}")
    AN_OBJECT = tr("an object")
    OBJECTS = tr("a list of objects")
    A_LIST = tr("a list")

    # models that hear speech as it comes
    NO_ONNX = tr("is no ONNX file, or is cut")
    ONNX_EXTERNAL = tr("keeps weights in other files, which are not read")
    ONNX_TOO_MUCH = tr("describes more than any model in use")
    NO_TOKENS = tr("should have a token and its number in line {line}")
    TOKEN_NUMBERS = tr("should number its tokens from 0, without a gap and each once")
    NO_BLANK = tr("has no token for nothing: <blk>, <blank> or <eps>")
    OTHER_STREAMING = tr("has a {name} of a kind that is not known here")
    STREAMING_UNUSABLE = tr("cannot be used: {reason}")

    MANY_FILES_NAMED = tr("it names {n} files, and {most} are the most")

    # safetensors
    HEADER_NO_OBJECT = tr("has a header that does not begin with an object")
    HEADER_WRONG = tr("has a header that {fault}")
    PICKLE = tr("is a pickle, which can run code, and no safetensors file")
    CUT_IN_HEADER = tr("was cut within its header: it ends at byte {n_bytes}")
    HEADER_TOO_LONG = tr(
        "says its header is {n_bytes} bytes long, and {most} are the most that is read"
    )
    TENSOR_GARBLED = tr("garbles the tensor {name}: {fault}")
    TENSOR_NUMBERS = tr("its shape or its place has too many numbers")
    TENSOR_TYPE_UNKNOWN = tr("gives the tensor {name} the unknown type {dtype}")
    TENSOR_SIZE = tr(
        "gives the tensor {name} another size in bytes than {shape} of {dtype} needs: {n_bytes}, "
        "not {wanted}"
    )
    TENSOR_MISPLACED = tr("puts the tensor {name} at byte {start} of the data, not at {wanted}")
    DATA_CUT = tr("was cut: its tensors need data up to byte {wanted}, and it ends at {n_bytes}")
    DATA_LEFT = tr("has data behind its last tensor (bytes: {n_bytes})")
    CODES_WRONG = tr(
        "keeps {name} in 8 bits, and codes of type I8 with one scale of type F32 for each row were "
        "expected"
    )
    CODES_TWICE = tr("has {name} twice, whole and in 8 bits")
    SCALES_WRONG = tr("has scales of {name} that are not all finite and more than 0")

    # cards
    NEWER_FORMAT = tr("is of format version {version}, and this program reads {known}: update it")
    NO_ADAPTER_CARD = tr("describes no adapter: its 'kind' is not {kind!r}")
    BAD_NAME = tr(
        "has the name {name}: a name has 1 to {most} letters and digits of ASCII, with dots, "
        "hyphens and underscores between them"
    )
    BAD_LANGUAGE = tr("names the language {code}, which is no code like de or pt-BR")
    MANY_LANGUAGES = tr("names {n} target languages, and {most} are the most")
    NO_LANGUAGE = tr("names no target language")
    NO_TOKEN = tr("{key} should name a token, got nothing")
    NO_POLICY = tr("names no policy")
    POLICY_UNKNOWN = tr(
        "names the policy {policy}, which is not written read:N, wait:K, adaptive:TAU[:MOST] or "
        "offline"
    )
    MANY_ENTRIES = tr(
        "{languages} languages and {policies} policies are the most, got {n_languages} and "
        "{n_policies}"
    )
    LONG_TEXT = tr("{key!r} has {n} characters, and {most} are the most")

    # adapter_config.json
    NO_LORA = tr("describes {kind}, and only LORA is supported")
    SETS = tr("sets {key}, which is not supported")
    SETS_TO = tr("sets {key} to {value}, which is not supported")
    NO_ALPHA = tr("has a 'lora_alpha' of {alpha}, and only more than 0 has a meaning")
    TARGET_PATTERN = tr(
        "names its 'target_modules' by a pattern, and only a list of names is supported"
    )
    TARGET_UNKNOWN = tr("has the target {target}, which is no name of a layer")
    NO_TARGET = tr("names no target")

    # factors
    OTHER_STEM = tr("has its layers at {stem}, and the base has them at {wanted}")
    IDLE_TARGET = tr("should have factors for the target {target}, which is no layer of it")
    FACTOR_NO_TARGET = tr("has a factor {factor} for {place}, which is no target")
    NO_FACTOR = tr("has the tensor {name}, which is no factor of a layer")
    FACTOR_TYPE = tr("has the tensor {name} of type {dtype}, which factors never are")
    WITHOUT_FACTORS = tr("has no factor, and one list of layers was expected")
    MANY_STEMS = tr("has factors in {n} lists of layers, and one list of layers was expected")
    OTHER_LAYERS = tr("fits a base with another number of layers: {n}, not {wanted}")
    LAYER_TOO_HIGH = tr("has factors for layer {layer}, and the base ends with layer {last}")
    RANK_TOO_HIGH = tr("has the rank {rank}, and the base is {width} wide")
    TENSOR_MISSING = tr("lacks the tensor {name}")
    TENSOR_SHAPE = tr("has {name} in the shape {shape}, and [{wanted}] was expected")

    # policy heads
    HEAD_TENSOR = tr("has the tensor {name} of type {dtype}, and {wanted} of type F32 was expected")
    HEAD_CHANGED = tr("was changed or damaged after its card was written: get it again")
    NOT_FINITE = tr("holds numbers that are none (NaN) or infinite")
    MANY_LAGS = tr("gives a lag for {n} values of tau, and {most} are the most")
    NO_TAU = tr("gives a lag for {tau}, which is no tau from 0 to 1")

    # models
    CANNOT_BE_READ = tr("it cannot be read ({reason})")
    OUTSIDE = tr("its {name} names a file outside the folder")
    MANY_FILES = tr("it has more than {most} files")
    NOT_A_FILE = tr("its {name} is no plain file")
    OTHER_KIND = tr("its {name} makes it another kind of folder than a whole model")
    MANY_BYTES = tr("its {name} has {n_bytes} bytes, and {most} are the most")
    NOT_JSON = tr("its {name} is no JSON")
    NAMES_CODE = tr(
        "its {name} names Python code of its own ({key}), and no code of a folder is ever run"
    )
    NAMES_FILES = tr("its {name} names files of its own ({key})")
    OTHER_WEIGHTS = tr("its {name} asks for what is not its own weights ({key})")
    NO_WHOLE_NUMBER = tr("its {name} gives {value} as {key}, which is no whole number")
    TOO_MANY = tr("its {name} gives {value} as {key}, and {most} is the most")
    PACKED = tr(
        "its weights are packed as {method}, which is not known here: take the model with whole "
        "weights"
    )

    LACKS_FILE = tr("has no {name} that is a file")
    FILE_UNREADABLE = tr("has a {name} that cannot be read ({reason})")
    FILE_WRONG = tr("has a {name} that {fault}")
    TOKENIZER_REFUSED = tr("its tokenizer cannot be used ({error})")
    MODEL_REFUSED = tr("its config.json and its weights make no model that is known here ({error})")
    KIND_UNKNOWN = tr(
        "its config.json says that it is a {kind}, which is no kind that is known here"
    )
    WEIGHTS_LACK = tr("its weights lack {names}")
    WEIGHTS_SHAPE = tr("its weights have {names} in another shape than its config.json asks for")
    WEIGHTS_UNEXPECTED = tr("its config.json has no place for its weights {names}")
    AND_MORE = tr("{name} and {n} more")
    TOKENIZER_UNUSABLE = tr("its tokenizer.json cannot be used ({reason})")
    PIECES_UNUSABLE = tr("its {name} cannot be used ({reason})")
    NO_PIECES = tr(
        "it has no tokenizer: its {name}, a file of sentencepiece, is missing, without which no "
        "word can be cut into its pieces"
    )
    TWO_VOCABULARIES = tr("its two languages have a vocabulary each, and CTranslate2 takes one")
    NO_LANGUAGES = tr("nothing in it names the languages that it translates to")
    MANY_TOKENS = tr("has {n} tokens, and {most} are the most")
    LONG_TOKEN = tr("has a token of {n} characters, and {most} are the most")
    NOT_OF_CONVERSION = tr("it has a {name}, which no conversion writes")
    NO_CONVERTED_WEIGHTS = tr("is no file of weights as CTranslate2 writes it")
    OTHER_VOCABULARY = tr(
        "it has {n_tokens} tokens, and its embeddings have {n_rows} rows, so they belong to two "
        "models"
    )
    CHANGED_SINCE = tr("was changed or damaged since it was converted")
    IDS_WITH_GAPS = tr("gives its tokens ids with gaps")
    TOKENIZER_MARKER = tr(
        "its tokenizer_config.json names a marker that its tokenizer.json does not have"
    )
    TOKENIZER_OTHER = tr(
        "its tokenizer has ids up to {largest}, and its embeddings {n_rows} rows, so they belong "
        "to two models"
    )
    NO_GRAPH = tr("it carries no graph for ONNX Runtime")
    ASKS_FOR = tr("only torch computes on the device {device} with the quantisation {quantise}")
    NO_RUNTIME = tr("ONNX Runtime {least} or newer is not installed")
    OLD_RUNTIME = tr("ONNX Runtime {found} is too old: {least} is the oldest that can compute it")
    OTHER_GRAPH = tr(
        "its {name} is not what this program writes for its config.json (surtitle-train export "
        "writes it again)"
    )
    GRAPH_CHANGED = tr(
        "its {name} is not the one that its card names (surtitle-train export writes the card "
        "again)"
    )
    GRAPH_TOO_LARGE = tr("it has {n:,} parameters, and {most:,} are the most without torch")
    OTHER_TEMPLATE = tr("its chat template is not one that is known without transformers")
    NETWORK_TOO_LARGE = tr("its config.json asks for a larger network than it has weights for")

    # adapters
    FOLDER_UNREADABLE = tr("its folder cannot be read ({reason})")
    NO_PATH = tr("it has no path")
    WEIGHTS_PICKLED = tr(
        "its weights are a pickle ({name}), which can run code: save it as safetensors"
    )
    MODEL_PICKLED = tr(
        "its weights are a pickle ({name}), which can run code: name the model as on the hub "
        "(owner/name), and its safetensors are downloaded, or get them from a branch of it there"
    )
    HAS_NO = tr("it has no {name}")
    NO_PLAIN_FILE = tr("its {name} is a link or no plain file: put the file itself there")
    UNREADABLE = tr("its {name} cannot be read ({reason})")
    FILE_FAULT = tr("its {name} {fault}")
    OTHER_PROMPT = tr("it was trained with the prompt {prompt}, and this program builds {known!r}")
    LAYOUT_UNKNOWN = tr("it was trained for the layout {layout}, and this program knows {known}")
    OTHER_BASE = tr("it was made for {base}, another model than this: {difference}")
    DIFFERS = tr("{field} {wanted} there and {found} here")
    NO_CARD = tr(
        "it has no {name}, so its base, its slot length, its policies, its languages and where it "
        "comes from are not known"
    )
    NO_SLOTS = tr("it was trained for the layout {layout}, and captions use slots")
    LAYERS_UNKNOWN = tr("the layers of {architecture} are not known here")
