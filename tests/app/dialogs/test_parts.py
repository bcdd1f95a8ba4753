from app.dialogs.adapter_dialog import AdapterDialog
from app.dialogs.adapter_service import AdapterService
from app.dialogs.export_dialog import ExportDialog
from app.dialogs.glossary_dialog import GlossaryDialog
from app.dialogs.help import AboutDialog, HelpDialog
from app.dialogs.media_dialog import MediaDialog
from app.dialogs.networks import Network
from app.dialogs.server_dialog import ServerDialog
from app.dialogs.sessions import SessionsDialog, SessionWindow
from app.dialogs.settings.dialog import SettingsDialog
from app.dialogs.setup.models_dialog import ModelsDialog
from app.dialogs.setup.wizard import SetupWizard
from app.dialogs.share_dialog import ShareDialog
from app.look.widgets.names import policy_names
from app.main_window.actions import Actions
from app.session.listening_service import ListeningService
from app.sharing.room_feed import CAPTION, SOURCE
from engine.models.adapters.library import AdapterLibrary
from tests.support.app.fake_speech_engine import FakeSpeechEngine
from tests.support.app.setup_services import parts


def test_all_that_the_dialogs_tell_and_ask_is_in_them(qtbot, tmp_path, keeps_parts):
    service = ListeningService(FakeSpeechEngine().make, tmp_path, "cpu", lambda _command: None)
    adapters = AdapterService(AdapterLibrary(tmp_path / "adapters"))
    models, share = ModelsDialog(tmp_path / "models", parts()), ShareDialog()
    share.offer([Network("10.0.0.2")], {SOURCE: "en", CAPTION: "de"})
    dialogs = [
        AboutDialog(),
        AdapterDialog(adapters),
        ExportDialog(),
        GlossaryDialog(),
        HelpDialog(),
        MediaDialog(),
        models,
        ServerDialog(),
        SessionWindow(),
        SessionsDialog(tmp_path),
        SettingsDialog(policy_names(), Actions(), tmp_path),
        SetupWizard(service, parts()),
        share,
    ]
    for one in dialogs:
        qtbot.addWidget(one)
    keeps_parts(*dialogs)
    models.end()
    adapters.close()
    service.close()
