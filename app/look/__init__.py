"""How the windows look: colours, style sheet and icons."""
