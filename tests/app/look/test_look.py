import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPalette
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QLineEdit,
    QProxyStyle,
    QPushButton,
    QStyle,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.look.icons import FOLDER, icon
from app.look.palette import DARK, LIGHT, colours_of, contrast, high_contrast, palette_of
from app.look.style_sheet import Look, make_primary
from app.look.widgets.dialog_text import add_action, close_button

BOTH = pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
TEXTS = ("text", "quiet", "accent", "error", "warning", "good", "me", "them")
TEXT, CONTROL = 4.5, 3.0
"""The least contrasts of WCAG 2.2, 1.4.3 and 1.4.11."""


def of(colours, first, second):
    return contrast(*(colours.colour(name).getRgb()[:3] for name in (first, second)))


@BOTH
@pytest.mark.parametrize("ground", ["background", "surface"])
def test_every_text_is_legible_on_every_ground(colours, ground):
    for name in TEXTS:
        assert of(colours, name, ground) >= TEXT, name


@BOTH
def test_what_is_on_or_under_the_mouse_is_legible(colours):
    assert of(colours, "on_accent", "accent") >= TEXT
    for ground in ("tint", "hover"):
        for text in ("text", "quiet"):
            assert of(colours, text, ground) >= TEXT
        assert of(colours, "accent", ground) >= CONTROL


@BOTH
def test_the_edges_of_controls_and_the_focus_stand_out(colours):
    for ground in ("background", "surface"):
        for name in ("edge", "accent"):
            assert of(colours, name, ground) >= CONTROL, (name, ground)


@BOTH
def test_a_palette_leads_back_to_its_colours(colours):
    palette = palette_of(colours)
    assert colours_of(palette) is colours
    for role in QPalette.ColorRole:
        if role not in (QPalette.ColorRole.NoRole, QPalette.ColorRole.NColorRoles):
            assert palette.color(role).alpha() > 0, role


@pytest.fixture
def look(qapp):
    return Look(qapp, "light", qapp)


def painted(image):
    """The colours of an image that are not transparent, most of it first."""
    count = {}
    for x in range(image.width()):
        for y in range(image.height()):
            colour = image.pixelColor(x, y)
            if colour.alpha() == 255:
                count[colour.name()] = count.get(colour.name(), 0) + 1
    return sorted(count, key=count.get, reverse=True)


def test_the_appearance_changes_live_and_widgets_follow(qtbot, look):
    field = QLineEdit()
    qtbot.addWidget(field)
    field.show()
    for appearance, colours in (("dark", DARK), ("light", LIGHT), ("dark", DARK)):
        look.use(appearance)
        assert colours_of(field.palette()) is colours
        assert painted(field.grab().toImage())[0] == colours.surface


def test_as_the_system_follows_the_system(look, qapp, monkeypatch):
    schemes = {"now": Qt.ColorScheme.Dark}
    monkeypatch.setattr(type(qapp.styleHints()), "colorScheme", lambda _self: schemes["now"])
    look.use("system")
    assert colours_of(qapp.palette()) is DARK
    schemes["now"] = Qt.ColorScheme.Light
    qapp.styleHints().colorSchemeChanged.emit(schemes["now"])
    assert colours_of(qapp.palette()) is LIGHT
    schemes["now"] = Qt.ColorScheme.Unknown
    look.refresh()
    assert colours_of(qapp.palette()) is LIGHT
    look.use("dark")
    assert colours_of(qapp.palette()) is DARK


def test_high_contrast_of_the_system_comes_before_our_colours(look, qapp, monkeypatch):
    hints = type(qapp.styleHints().accessibility())
    high = Qt.ContrastPreference.HighContrast
    monkeypatch.setattr(hints, "contrastPreference", lambda _self: high)
    look.use("dark")
    assert qapp.palette() == QPalette()
    quiet = qapp.palette().color(QPalette.ColorRole.PlaceholderText)
    assert quiet == qapp.palette().color(QPalette.ColorRole.Text), "nothing is paler"
    text = qapp.palette().color(QPalette.ColorRole.Text).name()
    colours = high_contrast(qapp.palette())
    assert {colours.edge, colours.line, colours.quiet, colours.error} == {text}
    assert f"border: 1px solid {text}" in qapp.styleSheet()
    assert DARK.edge not in qapp.styleSheet()
    monkeypatch.undo()
    look.refresh()
    assert colours_of(qapp.palette()) is DARK


def middle(widget):
    """What a widget shows inside its frame."""
    return widget.grab(widget.rect().adjusted(4, 4, -4, -4)).toImage()


def test_the_focus_is_one_frame_everywhere_and_moves_nothing(qtbot, look):  # noqa: ARG001  it dresses them
    frame = QWidget()
    column = QVBoxLayout(frame)
    field, button, filled, box, table = (
        QLineEdit("text"),
        QPushButton("text"),
        QPushButton("text"),
        QCheckBox("x"),
        QTableWidget(1, 1),
    )
    field.setReadOnly(True)  # no cursor that blinks
    table.setItem(0, 0, QTableWidgetItem("text"))
    table.setCurrentCell(-1, -1)
    make_primary(filled)
    widgets, frames = (field, button, filled, box, table), set[str]()
    for widget in widgets:
        column.addWidget(widget)
    qtbot.addWidget(frame)
    frame.show()
    frame.activateWindow()
    qtbot.waitUntil(frame.isActiveWindow)
    for widget, other in zip(widgets, (*widgets[1:], field), strict=True):
        other.setFocus()
        before, outside, inside = widget.sizeHint(), widget.grab().toImage(), middle(widget)
        widget.setFocus()
        assert widget.hasFocus()
        assert widget.sizeHint() == before
        assert middle(widget) == inside
        seen = widget.grab().toImage()
        assert seen != outside
        frames.add(seen.pixelColor(1, widget.height() // 2).name())
    assert frames == {LIGHT.text}


def test_the_primary_button_is_filled_with_the_accent(qtbot, look):
    button = QPushButton("Download")
    button.ensurePolished()
    make_primary(button)
    qtbot.addWidget(button)
    assert painted(button.grab().toImage())[0] == LIGHT.accent
    look.use("dark")
    assert painted(button.grab().toImage())[0] == DARK.accent


def names():
    return sorted(path.stem for path in FOLDER.glob("*.svg"))


def test_every_icon_is_painted_in_the_colour_of_the_text(look, qapp):
    for appearance, colours in (("light", LIGHT), ("dark", DARK)):
        look.use(appearance)
        for name in names():
            image = icon(name).pixmap(QSize(48, 48)).toImage()
            assert painted(image)[0] == colours.text, name
    assert qapp.palette().color(QPalette.ColorRole.ButtonText) == QColor(DARK.text)


def test_an_icon_has_the_colour_of_its_state(look):  # noqa: ARG001  it sets the colours
    size, mode = QSize(48, 48), QIcon.Mode
    mic = icon("mic")
    on = mic.pixmap(size, mode.Normal, QIcon.State.On).toImage()
    assert painted(on)[0] == LIGHT.accent
    assert painted(mic.pixmap(size, mode.Disabled).toImage())[0] == LIGHT.disabled
    assert painted(mic.pixmap(size, mode.Selected).toImage())[0] == LIGHT.on_accent
    assert painted(icon("circle-alert", "error").pixmap(size).toImage())[0] == LIGHT.error


def test_hints_in_fields_are_legible(qtbot, look):
    field = QLineEdit(placeholderText="Type here")
    qtbot.addWidget(field)
    for appearance, colours in (("light", LIGHT), ("dark", DARK)):
        look.use(appearance)
        field.ensurePolished()
        hint = field.palette().color(QPalette.ColorRole.PlaceholderText)
        assert hint.name() == colours.quiet
        assert hint.alpha() == 255


class WithIcons(QProxyStyle):
    """A style as that of X11, whose buttons of dialogs have icons."""

    def styleHint(self, hint, option=None, widget=None, data=None):  # noqa: N802  Qt's own
        if hint == QStyle.StyleHint.SH_DialogButtonBox_ButtonsHaveIcons:
            return 1
        return super().styleHint(hint, option, widget, data)


@pytest.mark.usefixtures("look")
def test_buttons_of_dialogs_keep_no_room_for_icons_that_they_do_not_have(qtbot, qapp, keeps_parts):
    qapp.setStyle(WithIcons("Fusion"))
    buttons, alone = close_button(), QPushButton("Show the transcript")
    inside = add_action(buttons, alone.text(), alone.click)
    window = QDialog()
    buttons.setParent(window)
    for one in (window, alone):
        qtbot.addWidget(one)
    keeps_parts(window)
    widths = inside.sizeHint().width(), alone.sizeHint().width()
    qapp.setStyle("Fusion")
    assert widths[0] == widths[1]
