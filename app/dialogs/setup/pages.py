"""The frame of dialogs with pages, and the first page of the setup wizard.

That asks what is to be captioned, in which languages, and says what stays private.
"""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.config.preferences import CAPTIONS_ONLY, Preferences
from app.look.icons import icon
from app.look.style_sheet import GAP
from app.look.widgets.dialog_text import paragraph, push_button, quiet
from app.look.widgets.names import language_name, language_names

_HEADING = 1.5  # letters, of those of the window
_SAID = "Good morning everyone, and welcome to our meeting."
_CAPTIONS = {
    "de": "Guten Morgen zusammen und willkommen zu unserer Besprechung.",
    "es": "Buenos días a todos y bienvenidos a nuestra reunión.",
    "fr": "Bonjour à tous et bienvenue à notre réunion.",
}
_BIG = 1.5  # letters, of those of the window
_HIGH = 18 * GAP  # a button of what is captioned, where the page has room
_ICON_SIDE = 20

CALL, VOICE, FILE, TYPING = "call", "voice", "file", "typing"
"""What is to be captioned."""


def heading_of(text: str) -> QLabel:
    """Make a heading in large letters that wraps."""
    heading = QLabel(text, wordWrap=True)
    font = heading.font()
    font.setPointSizeF(font.pointSizeF() * _HEADING)
    font.setBold(True)
    heading.setFont(font)
    return heading


def scrolled(content: QWidget) -> QScrollArea:
    """Put a widget into a frameless area that scrolls where it is too small."""
    area = QScrollArea(widgetResizable=True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidget(content)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    return area


def lay_out_page(
    dialog: QDialog,
    top: QLayout,
    content: QWidget,
    buttons: QLayout,
    *,
    below: QWidget | None = None,
) -> QScrollArea:
    """Lay out a dialog whose content scrolls while its buttons stay, on screens of any size.

    Args:
        dialog: without a layout.
        top: holds the heading.
        content: scrolls.
        buttons: the row below.
        below: stays, too, between the two.

    Returns:
        what scrolls the content.
    """
    column = QVBoxLayout(dialog)
    column.setContentsMargins(*[6 * GAP] * 4)
    column.setSpacing(4 * GAP)
    column.addLayout(top)
    area = scrolled(content)
    column.addWidget(area, 1)
    if below is not None:
        column.addWidget(below)
    column.addLayout(buttons)
    return area


class ExampleCaption(QFrame):
    """A box as that of the overlay, with a sentence and its caption."""

    def __init__(self) -> None:
        super().__init__()
        self.said, self.caption = paragraph(_SAID), paragraph()
        font = self.caption.font()
        font.setPointSizeF(_BIG * font.pointSizeF())
        self.caption.setFont(font)
        column = QVBoxLayout(self)
        column.setContentsMargins(3 * GAP, 2 * GAP, 3 * GAP, 2 * GAP)
        column.setSpacing(GAP)
        for line in (self.said, self.caption):
            line.setAccessibleName(self.tr("Example"))
            column.addWidget(line)

    def show_language(self, language: str) -> None:
        """Show the caption in a language; what is said alone where there is no example in it."""
        self.caption.setText(_CAPTIONS.get(language, ""))
        self.caption.setVisible(language in _CAPTIONS)


class WizardPage(QWidget):
    """A page of the wizard."""

    def __init__(self) -> None:
        super().__init__()
        self.title = ""
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(3 * GAP)

    def enter(self) -> None:
        """Start the work of the page; it becomes visible."""

    def leave(self) -> None:
        """Stop the work of the page; another one becomes visible."""

    def add_text(self, text: str) -> QLabel:
        label = paragraph(text)
        self.column.addWidget(label)
        return label


class WelcomePage(WizardPage):
    """The use of the program, the two languages, and the privacy of the data.

    Signals:
        chosen(str): code of another language of the captions; empty for no translation.
        use_chosen(): something else is to be captioned.

    Attributes:
        uses: a button for each of ``CALL``, ``VOICE``, ``FILE`` and ``TYPING``.
    """

    chosen = Signal(str)
    use_chosen = Signal()

    def __init__(self, bundled: Sequence[str]) -> None:
        """Offer all languages, those of the bundled models first."""
        super().__init__()
        self.title = self.tr("Live captions, on this computer only")
        self._bundled = bundled
        self.example = ExampleCaption()
        self.column.addWidget(self.example)
        self.add_text(self.tr("What do you want captioned?"))
        self.column.addLayout(self._lay_out_uses(), 1)
        self.column.addLayout(self._lay_out_languages())
        self.note = quiet()
        self.column.addWidget(self.note)
        self.column.addLayout(self._lay_out_privacy())
        self.add_text(
            self.tr(
                "Only models that you choose to download come from huggingface.co. Captions are "
                "saved here for 30 days, so a crash costs you one sentence at most; the settings "
                "can change that or turn it off."
            )
        )
        self.column.addStretch(1)
        self.target.currentIndexChanged.connect(self._choose)

    def _lay_out_uses(self) -> QHBoxLayout:
        named = (
            (CALL, "volume-2", self.tr("A &call")),
            (VOICE, "mic", self.tr("My &voice")),
            (FILE, "file-audio", self.tr("A &file")),
            (TYPING, "keyboard", self.tr("I &type")),
        )
        self.uses = dict[str, QPushButton]()
        group, row = QButtonGroup(self), QHBoxLayout()
        row.setSpacing(2 * GAP)
        for use, picture, text in named:
            button = self.uses[use] = push_button(text, picture)
            button.setCheckable(True)
            button.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
            button.setMaximumHeight(_HIGH)
            group.addButton(button)
            row.addWidget(button, 1)
        self.uses[CALL].setChecked(True)
        group.buttonClicked.connect(self.use_chosen)
        return row

    @property
    def use(self) -> str:
        return next(use for use, button in self.uses.items() if button.isChecked())

    def _lay_out_languages(self) -> QHBoxLayout:
        self.source, self.target = QComboBox(), QComboBox()
        self.source.addItem(language_name("en"), "en")
        self.source.setAccessibleName(self.tr("Language that is spoken"))
        self.target.setAccessibleName(self.tr("Language of the captions"))
        names = {code: name for code, name in language_names().items() if code != "en"}
        others = [code for code in names if code not in self._bundled]
        for code in (*(code for code in names if code not in others), *others):
            self.target.addItem(names[code], code)
        if len(others) < len(names):
            self.target.insertSeparator(len(names) - len(others))
        self.target.addItem(self.tr("No translation: captions in English"), "")
        row = QHBoxLayout()
        row.setSpacing(2 * GAP)
        row.addWidget(self.source)
        row.addWidget(QLabel("→"))
        row.addWidget(self.target)
        row.addStretch(1)
        return row

    def _lay_out_privacy(self) -> QHBoxLayout:
        promises = (
            ("lock", self.tr("No sound or text leaves this computer")),
            ("eye-off", self.tr("No account and no tracking")),
            ("download", self.tr("Works without the internet")),
        )
        row = QHBoxLayout()
        row.setSpacing(4 * GAP)
        for name, text in promises:
            part = QHBoxLayout()
            part.setSpacing(2 * GAP)
            part.addWidget(_picture(name))
            part.addWidget(paragraph(text), 1)
            row.addLayout(part, 1)
        return row

    @property
    def language(self) -> str:
        return str(self.target.currentData())

    def show_preferences(self, preferences: Preferences) -> None:
        is_plain = preferences.captions.mode == CAPTIONS_ONLY
        index = self.target.findData("" if is_plain else preferences.translation.language)
        with QSignalBlocker(self.target):  # nobody has chosen
            self.target.setCurrentIndex(max(0, index))
        self._explain()

    @Slot()
    def _choose(self) -> None:
        self._explain()
        self.chosen.emit(self.language)

    def _explain(self) -> None:
        self.example.show_language(self.language)
        note = self.tr("The built-in translator is for simple, everyday sentences.")
        if not self.language:
            note = self.tr("What is said is captioned word for word; no translation model is used.")
        elif self.language not in self._bundled:
            note = self.tr("For {}, you choose a translation model after this set-up.")
            note = note.format(self.target.currentText())
            if self._bundled:
                known = ", ".join(sorted(map(language_name, self._bundled), key=str.casefold))
                built_in = self.tr("Built-in translation: {}.").format(known)
                note = f"{built_in} {note}"
        self.note.setText(note)


def _picture(name: str) -> QLabel:
    picture = QLabel()
    picture.setPixmap(icon(name, "accent").pixmap(QSize(_ICON_SIDE, _ICON_SIDE)))
    return picture
