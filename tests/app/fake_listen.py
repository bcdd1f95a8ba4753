"""``surtitle`` with a recogniser and a session that are made up, as a program that can be killed.

python -m tests.app.fake_listen listen --source FILE --asr FOLDER
"""

import sys
import types

import engine.speech_gate
import engine.whisper
from app.__main__ import main as surtitle
from tests.listening_fakes import EchoSession, EndlessScript, Loudness


def main() -> int:
    session = types.ModuleType("engine.session")  # the true one takes torch, and seconds
    session.Session = EchoSession
    sys.modules["engine.session"] = session
    engine.whisper.Whisper = lambda _settings: EndlessScript()
    engine.speech_gate.SileroDetector = Loudness
    return surtitle(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
