"""Every error that a user can cause or mend.

PinciteError
├── SettingsError     a setting is unknown, out of range, or unreadable
├── WeightsError      a model file is missing, wrong, or could not be fetched
├── InputError        a source file cannot be read at all
├── LibraryError      the collection cannot be opened or written
│   └── IndexMismatch vectors and settings disagree
└── ModelError        the language model cannot be loaded or reached

Each message says what is wrong and what to do next. Only `ui/` catches the base class.
"""


class PinciteError(Exception):
    """Base of all errors that are shown to the user as one plain message."""


class SettingsError(PinciteError):
    pass


class WeightsError(PinciteError):
    pass


class InputError(PinciteError):
    pass


class LibraryError(PinciteError):
    pass


class IndexMismatch(LibraryError):
    pass


class ModelError(PinciteError):
    pass
