from app.config.system.versions import LIBRARIES, licence_of, version_of


def test_every_library_that_is_installed_names_its_licence():
    for name in LIBRARIES:
        assert bool(licence_of(name)) == bool(version_of(name)), name
    assert licence_of("no such package") == version_of("no such package") == ""
