"""The program: a window with live captions, an overlay, and a terminal command.

Only this package knows Qt, and nothing in it translates: what is typed goes through ``bridge`` to
``engine.session.session``, what comes back goes through ``captions`` to the widgets.
"""
