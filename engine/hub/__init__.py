"""Downloads from a model hub, and the models that come with the program."""
