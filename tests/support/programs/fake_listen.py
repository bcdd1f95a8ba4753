"""``surtitle`` with a recogniser and a session that are made up, as a program that can be killed.

python -m tests.support.programs.fake_listen listen --source FILE --asr FOLDER
"""

import sys
import types

import engine.speech.vad
import engine.speech.whisper
from app.__main__ import main as surtitle
from tests.support.listening_fakes import EchoSession, EndlessScript, Loudness


def main() -> int:
    session = types.ModuleType("engine.session.session")  # the true one takes torch, and seconds
    session.Session = EchoSession
    sys.modules["engine.session.session"] = session
    engine.speech.whisper.Whisper = lambda _settings: EndlessScript()
    engine.speech.vad.SileroDetector = Loudness
    return surtitle(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
