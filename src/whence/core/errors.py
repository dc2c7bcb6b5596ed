"""What can go wrong, as a tree of sentences.

WhenceError
├── InvalidParameter        what the caller gave cannot be taken
│   ├── AlreadySuperseded   the memory has a successor
│   ├── SupersessionCycle   it would replace what replaced it
│   └── LinkToItself        a link has two ends
├── NotFound                a name or id that nothing carries
│   ├── MemoryNotFound
│   ├── LinkNotFound
│   └── WorkspaceNotFound
├── StorageFailed           the database could not do it
└── EmbeddingUnavailable    no vector can be made now
"""

from collections.abc import Sequence


class WhenceError(Exception):
    """Says what is wrong; `hint` says what to do next, `did_you_mean` offers near names."""

    code = "INVALID_PARAMETER"

    def __init__(self, message: str, *, hint: str | None = None, did_you_mean: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.did_you_mean = tuple(did_you_mean)


class InvalidParameter(WhenceError):
    """An argument that fails validation."""


class AlreadySuperseded(InvalidParameter):
    def __init__(self, memory_id: str, head_id: str) -> None:
        super().__init__(
            f"Memory {memory_id} is already superseded",
            hint=f"Its current version is {head_id}; supersede that one instead.",
        )
        self.head_id = head_id


class SupersessionCycle(InvalidParameter):
    def __init__(self, old_id: str, new_id: str) -> None:
        super().__init__(
            f"Memory {new_id} was itself replaced by {old_id}, so it cannot replace it",
            hint="Store a new memory and let that one supersede the old one.",
        )


class LinkToItself(InvalidParameter):
    def __init__(self, memory_id: str) -> None:
        super().__init__(
            f"Memory {memory_id} cannot be linked to itself", hint="Give the ids of two different memories."
        )


class NotFound(WhenceError):
    """Nothing carries this id or name."""

    code = "MEMORY_NOT_FOUND"


class MemoryNotFound(NotFound):
    def __init__(self, memory_id: str) -> None:
        super().__init__(
            f"Memory with ID {memory_id} not found", hint="Search for it to find its current id."
        )


class LinkNotFound(NotFound):
    def __init__(self, link_id: str) -> None:
        super().__init__(f"Link {link_id} not found", hint="Run `whence link ls ID` to see a memory's links.")


class WorkspaceNotFound(NotFound):
    """RULINGS E1: an unknown workspace is a bad parameter, told with near names."""

    code = "INVALID_PARAMETER"

    def __init__(self, name: str, near: Sequence[str] = ()) -> None:
        super().__init__(
            f'Workspace "{name}" not found',
            hint="Use the name of an existing workspace, or leave `workspace` out.",
            did_you_mean=near,
        )


class StorageFailed(WhenceError):
    """The database could not do it; nothing was changed."""

    code = "STORAGE_ERROR"


class EmbeddingUnavailable(WhenceError):
    """No vector can be made now; words still work."""

    code = "EMBEDDING_ERROR"
