"""What windows are made of, property by property, and who is told: a net below other tests.

Wording is left out, and what depends on a screen or a font. Where a change of a window changes the
record, look at the difference, and copy the file that the test names over the record.
"""

import difflib
import enum
import re
import sys
from functools import partial

from PySide6.QtCore import (
    SIGNAL,
    QAbstractItemModel,
    QCoreApplication,
    QMetaMethod,
    QObject,
    QSize,
    Qt,
    QTimer,
)
from PySide6.QtGui import QAccessibilityHints, QKeySequence, QStyleHints
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QBoxLayout,
    QComboBox,
    QHeaderView,
    QLabel,
    QLayout,
    QTabBar,
    QTableView,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

INNER = (QComboBox, QAbstractSpinBox, QTabBar, QHeaderView)
AROUND_OURS = {"qt_tabwidget_stackedwidget", "qt_scrollarea_viewport"}
OF_ALL = (QCoreApplication, QStyleHints, QAccessibilityHints, QAbstractItemModel)
"""Heard by more than the program."""
OF_QT = (QHeaderView, QTabBar, QLayout)  # what hears them is Qt's own
_CHOSEN = "AlwaysShowToolTips|DeleteOnClose|ShowWithoutActivating|Trans.*(Background|MouseEvents)"
ATTRIBUTES = [one for one in Qt.WidgetAttribute if re.fullmatch(f"WA_({_CHOSEN})", one.name)]
MOST_ITEMS = 20  # of a list that is no list of fonts
_OF_SCREENS = re.compile(
    "(size|(min|max)imum(Size|Width|Height)|(base|normal).*|frame(Size|Geometry|Width)|.*[sS]izeHint"
    "|width|height|x|y|visible|.*[fF]ocus|.*ActiveWindow|mouse.*|fullScreen|.*[sS]izeConstraint"
    "|contents.*|length|cursorPosition|sliderPosition|horizontalDirection|iconText|opacity"
    "|blockCount|count|active|remainingTime.*)"
)
"""Names of properties that screens, fonts or the style decide."""


def keys(sequence):
    """Return keys by their names; those of a letter in a text are wording."""
    text = sequence.toString(QKeySequence.SequenceFormat.PortableText)
    return "" if text.startswith("Alt+") else text


def plain(value):
    """Return a value as it stands in the record; None for one that depends on screens."""
    if isinstance(value, str):
        return value if value.isascii() and value.islower() and " " not in value else bool(value)
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, QKeySequence):
        return keys(value)
    if isinstance(value, QSize):
        return (value.width(), value.height())
    return None


def kind_of(one):
    """Return the class of Qt that an object is of."""
    return next(base for base in type(one).__mro__ if base.__module__.startswith("PySide6."))


def heard(one):
    """Return how many hear each signal of an object."""
    meta = one.metaObject()
    methods = (meta.method(number) for number in range(meta.methodCount()))
    signals = (it for it in methods if it.methodType() == QMetaMethod.MethodType.Signal)
    told = {bytes(it.methodSignature().data()).decode(): bytes(it.name()) for it in signals}
    found = {}
    for signature, name in told.items():  # with and without what has a default
        if name.decode() not in ("destroyed", "objectNameChanged"):
            n = one.receivers(SIGNAL(signature))
            found[name.decode()] = max(found.get(name.decode(), 0), n)
    return found


def ways(widget, fresh):
    """Return how a widget takes room, and its letters, colour, flags: what is no property."""
    room, font = widget.sizePolicy(), widget.font()
    across, down = room.horizontalPolicy().name, room.verticalPolicy().name
    stretches = room.horizontalStretch(), room.verticalStretch()
    return {
        "policy": (across, down, *stretches, room.retainSizeWhenHidden()),
        "font": (font.pointSize() - fresh.font().pointSize(), font.weight(), font.italic()),
        "letters": widget.foregroundRole().name,
        "attributes": [one.name for one in ATTRIBUTES if widget.testAttribute(one)],
        "flags": widget.windowFlags().value if widget.isWindow() else 0,
    }


def properties(one):
    """Return the properties of an object that a fresh one of its kind in Qt has otherwise."""
    kind = kind_of(one)
    with_direction = {
        QHeaderView: partial(QHeaderView, Qt.Orientation.Horizontal),
        QLayout: QVBoxLayout,
        QBoxLayout: QVBoxLayout,
    }
    fresh = with_direction.get(kind, kind)()
    found, meta = {}, one.metaObject()
    for number in range(meta.propertyCount()):
        name = meta.property(number).name()
        styled = name == "iconSize" and type(one) is kind  # by the style sheet, once it is shown
        value = None if styled or _OF_SCREENS.fullmatch(name) else plain(one.property(name))
        if value is not None and value != plain(fresh.property(name)):
            found[name] = value
    for name in (bytes(it.data()).decode() for it in one.dynamicPropertyNames()):
        if not name.startswith("_"):
            found[name] = plain(one.property(name))
    if isinstance(one, QWidget):
        usual = ways(fresh, fresh)
        found |= {way: how for way, how in ways(one, fresh).items() if how and how != usual[way]}
    usual = heard(fresh)
    told = {name: n for name, n in heard(one).items() if n != usual.get(name, 0)}
    if told and not isinstance(one, OF_QT):
        found["heard"] = told
    fresh.deleteLater()
    return found


def described(one, **more):
    values = properties(one) | {name: value for name, value in more.items() if value}
    return " ".join([type(one).__name__, *(f"{name}={value}" for name, value in values.items())])


def more_of(widget):
    """Return what a widget has beside its properties."""
    if isinstance(widget, QAbstractButton):
        return {"icon": not widget.icon().isNull()}
    if isinstance(widget, QComboBox) and widget.count() <= MOST_ITEMS:
        return {"items": [plain(widget.itemData(at)) for at in range(widget.count())]}
    if isinstance(widget, QLabel):
        return {"buddy": type(widget.buddy()).__name__} if widget.buddy() else {}
    if isinstance(widget, QTabWidget):
        return {"tabs": [bool(widget.tabText(at)) for at in range(widget.count())]}
    if isinstance(widget, QTableView):
        hidden = [widget.isColumnHidden(at) for at in range(widget.horizontalHeader().count())]
        return {"hidden_columns": hidden}
    return {}


def of_layout(layout):
    margins = layout.contentsMargins()
    edges = (margins.left(), margins.top(), margins.right(), margins.bottom())
    more = {"margins": edges, "gap": layout.spacing()}
    if isinstance(layout, QBoxLayout):
        more["stretch"] = [layout.stretch(at) for at in range(layout.count())]
        more["direction"] = layout.direction().name
    items = [layout.itemAt(at) for at in range(layout.count())]
    more["items"] = ",".join(type(one.widget() or one.layout()).__name__ for one in items)
    return described(layout, **more)


def tree(one, depth=0):
    """Yield a line for a widget, its actions, its layouts, and all below it."""
    indent = "  " * depth
    if isinstance(one, QLayout):
        yield indent + of_layout(one)
    elif not one.objectName().startswith("qt_"):
        yield indent + described(one, hidden=one.isHidden(), **more_of(one))
        for action in one.actions():
            more = [keys(key) for key in action.shortcuts()[1:]]
            yield f"{indent}  {described(action, more=more, icon=not action.icon().isNull())}"
    if isinstance(one, INNER):
        return
    for child in one.children():
        is_ours = type(one).__module__.startswith("app.")
        if type(child) is QTimer and is_ours:
            yield f"{indent}  {described(child)}"
        is_part = isinstance(child, QLayout) or (
            isinstance(child, QWidget) and not child.isWindow()
        )
        is_of_qt = child.objectName().startswith(("qt_", "_q_"))
        if is_part and (not is_of_qt or child.objectName() in AROUND_OURS):
            yield from tree(child, depth + (not is_of_qt))


def hearing(one, name, seen):
    """Yield who is heard by how many, for a thing of ours and all that it keeps, by name."""
    told = {signal: n for signal, n in heard(one).items() if n} if isinstance(one, QObject) else {}
    if told:
        timing = f" {one.interval()} ms" if isinstance(one, QTimer) else ""
        yield f"{name}{timing} {told}"
    seen.add(id(one))
    for part, kept in getattr(one, "__dict__", {}).items():
        is_ours = isinstance(kept, QObject) or type(kept).__module__.startswith("app.")
        if is_ours and id(kept) not in seen and not isinstance(kept, OF_ALL):
            yield from hearing(kept, f"{name}.{part}", seen)


def lines_of(one):
    """Return what is kept of a window, of a program, or lines as they are."""
    if isinstance(one, list):
        return one
    return tree(one) if isinstance(one, QWidget) else hearing(one, "", set())


def check_parts(test, now, *windows):
    """Hold windows to the record beside the file of a test; what they are made of goes into now."""
    if sys.platform != "linux":
        return  # keys and the look are those of the system
    record = test.parent / "parts" / f"{test.stem}.txt"
    lines = [line for one in windows for line in ("", *lines_of(one))][1:]
    now.write_text("\n".join(lines) + "\n", "utf-8")
    before = record.read_text("utf-8").splitlines() if record.exists() else []
    changed = "\n".join(difflib.unified_diff(before, lines, "before", "now", lineterm="", n=0))
    assert not changed, f"{changed}\nif that is wanted: cp {now} {record}"
