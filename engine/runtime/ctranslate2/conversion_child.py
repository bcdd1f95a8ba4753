"""Convert an original for CTranslate2; run as a process of its own.

``engine.runtime.ctranslate2.conversion`` starts it with three arguments: the folder, which may come
from a stranger, the folder to make, and the precision. It writes one line of JSON, empty unless
it failed. It ends when its input is closed, so it does not outlive the program that started it.
"""

import json
import os
import sys
import threading
from pathlib import Path


def _end_with_input() -> None:
    sys.stdin.buffer.read(1)
    os._exit(1)


def _convert(folder: Path, out: Path, precision: str) -> dict[str, object]:
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
    for name in ("torch", "transformers"):  # CTranslate2 imports them if it can, for seconds
        sys.modules[name] = None  # type: ignore[assignment]  # Python's own way to say: it is not there
    from engine.errors import ModelError  # noqa: PLC0415  likewise
    from engine.models.encoder_decoder.original import read_original  # noqa: PLC0415  likewise
    from engine.runtime.ctranslate2.network_spec import describe  # noqa: PLC0415  after these lines
    from engine.untrusted.faults import detail_of  # noqa: PLC0415  likewise

    try:
        spec = describe(folder, read_original(folder))
        spec.optimize(quantization=precision)
        out.mkdir()
        spec.save(str(out))
    except OSError as error:
        return {"errno": error.errno, "words": error.strerror}
    except (ModelError, ValueError) as error:
        return {"error": detail_of(error)}
    return {}


def main() -> None:
    threading.Thread(target=_end_with_input, daemon=True).start()
    folder, out, precision = sys.argv[1:]
    try:
        answer = _convert(Path(folder), Path(out), precision)
    except Exception as error:  # noqa: BLE001  libraries that read a stranger's files
        answer = {"error": type(error).__name__}
    sys.stdout.write(json.dumps(answer))
    sys.stdout.flush()
    os._exit(0)  # the thread that waits for the input's end cannot be ended otherwise


if __name__ == "__main__":
    main()
