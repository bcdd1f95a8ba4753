"""Everything that the program keeps, in one folder."""

from app.config.preferences import LaunchSettings


def settings_in(folder, **others):
    """Launch settings whose files and folders all lie in a folder, but for those that are given."""
    places = {
        "preferences_file": folder / "settings.toml",
        "places_file": folder / "places.toml",
        "data_folder": folder,
        "log_folder": folder,
    }
    return LaunchSettings(**places | others)
