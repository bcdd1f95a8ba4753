"""The engine: one word, typed or heard, becomes caption text.

Shape letters used throughout: B batch, Q queries, K keys, H heads, D head size, V vocabulary, T
rows.

The engine knows no window and no training; ``app`` and ``training`` both import it and never meet.
Import from the modules, nothing is exported here. Importing it switches the telemetry of libraries
off; nothing else happens at import.
"""

from engine.libraries import switch_off_telemetry

switch_off_telemetry()
