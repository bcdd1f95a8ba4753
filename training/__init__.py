"""Make translation models: clean parallel text, build examples from it, train, measure.

One sentence pair becomes adapter weights here. The package knows ``engine`` and never ``app``.
"""
