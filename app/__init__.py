"""The program: a window with live captions, an overlay, and a terminal command.

Only this package knows Qt, and nothing in it computes: what is typed goes to ``engine.session`` through
``bridge``, what comes back goes through ``captions`` to the widgets.
"""
