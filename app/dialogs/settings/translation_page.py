"""The page of the settings about the translation."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QLabel, QPushButton

from app.captions.model_names import hub_name
from app.config.preferences import Preferences
from app.dialogs.settings.page import SettingsPage
from app.look.widgets.dialog_text import paragraph
from app.look.widgets.policy_names import unoffered_policy
from engine.hub.bundled import suited_model
from engine.untrusted.safe_names import model_name


class TranslationPage(SettingsPage):
    """When captions are written, and which model translates.

    Signals:
        models_wanted(): choose another translation model.
    """

    models_wanted = Signal()

    def __init__(self, policies: Sequence[tuple[str, str, str]]) -> None:
        """Offer policies, as ``policy_names`` returns them."""
        super().__init__("")
        self.title = self.tr("Translation")
        self.policy = self.add_combo("translation.policy", self.tr("&Timing"), ())
        self._explanations = dict[str, str]()
        self.explanation = paragraph()
        self.form.addRow("", self.explanation)
        self.model = QLabel(wordWrap=True)
        self.form.addRow(self.tr("Translation model"), self.model)
        self.choose_model = QPushButton(self.tr("Choose another &model…"))
        self.choose_model.clicked.connect(self.models_wanted)
        self.add_buttons(self.choose_model)
        self.policy.currentIndexChanged.connect(self._explain)
        self.show_timings(policies)

    def fill(self, preferences: Preferences) -> None:
        """Show the preferences and the name of the model."""
        self._offer([unoffered_policy(preferences.translation.policy)])
        super().fill(preferences)
        self.model.setText(_model_name(preferences.model, preferences.translation.language))
        self.model.setToolTip(str(preferences.model or ""))

    def show_timings(self, policies: Sequence[tuple[str, str, str]]) -> None:
        """Offer policies, as ``policy_names`` returns them; the chosen one stays."""
        chosen = self.policy.currentData()
        with QSignalBlocker(self.policy):  # nothing was edited
            self.policy.clear()
            self._offer(policies)
            if chosen is not None:
                self._offer([unoffered_policy(chosen)])
                self.policy.setCurrentIndex(self.policy.findData(chosen))
        self._explain()

    def _offer(self, policies: Sequence[tuple[str, str, str]]) -> None:
        """Append those policies that are not on offer."""
        for written, name, explanation in policies:
            if self.policy.findData(written) < 0:
                self._explanations[written] = explanation
                self.policy.addItem(name, written)

    @Slot()
    def _explain(self) -> None:
        self.explanation.setText(self._explanations.get(self.policy.currentData(), ""))


def _model_name(model: Path | None, language: str) -> str:
    if model is not None:
        return hub_name(model) or model_name(model)
    folder = suited_model(language)
    return "–" if folder is None else folder.name
