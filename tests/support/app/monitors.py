"""The monitors of a virtual screen (Xvfb), plugged in and out by RandR as a person does."""

import ctypes

_x11 = ctypes.CDLL("libX11.so.6")
_randr = ctypes.CDLL("libXrandr.so.2")


class _Monitor(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_ulong),
        ("primary", ctypes.c_int),
        ("automatic", ctypes.c_int),
        ("n_outputs", ctypes.c_int),
        *((name, ctypes.c_int) for name in ("x", "y", "width", "height", "mwidth", "mheight")),
        ("outputs", ctypes.POINTER(ctypes.c_ulong)),
    )


_x11.XOpenDisplay.restype = ctypes.c_void_p
_x11.XDefaultRootWindow.restype = ctypes.c_ulong
_x11.XDefaultRootWindow.argtypes = [ctypes.c_void_p]
_x11.XInternAtom.restype = ctypes.c_ulong
_x11.XInternAtom.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
_x11.XSync.argtypes = [ctypes.c_void_p, ctypes.c_int]
_randr.XRRGetMonitors.restype = ctypes.POINTER(_Monitor)
_randr.XRRGetMonitors.argtypes = [
    ctypes.c_void_p,
    ctypes.c_ulong,
    ctypes.c_int,
    ctypes.POINTER(ctypes.c_int),
]
_randr.XRRSetMonitor.argtypes = [ctypes.c_void_p, ctypes.c_ulong, ctypes.POINTER(_Monitor)]
_randr.XRRDeleteMonitor.argtypes = [ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong]


class Monitors:
    """Divide the virtual screen into monitors; the first one replaces the whole."""

    def __init__(self):
        self._display = _x11.XOpenDisplay(None)
        self._root = _x11.XDefaultRootWindow(self._display)
        n_monitors = ctypes.c_int()
        whole = _randr.XRRGetMonitors(self._display, self._root, 1, ctypes.byref(n_monitors))[0]
        self._free = [whole.outputs[0]]

    def plug(self, name, x, width, height):
        """Add a monitor at the upper edge."""
        outputs = (ctypes.c_ulong * 1)(*self._free)
        monitor = _Monitor(
            name=self._atom(name),
            primary=len(self._free),
            n_outputs=len(self._free),
            x=x,
            width=width,
            height=height,
            mwidth=width // 4,
            mheight=height // 4,
            outputs=outputs,
        )
        self._free = []
        _randr.XRRSetMonitor(self._display, self._root, ctypes.byref(monitor))
        _x11.XSync(self._display, 0)

    def unplug(self, name):
        """Remove a monitor; not the first one."""
        _randr.XRRDeleteMonitor(self._display, self._root, self._atom(name))
        _x11.XSync(self._display, 0)

    def _atom(self, name):
        return _x11.XInternAtom(self._display, name.encode(), 0)
