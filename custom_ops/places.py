"""Where the helper keeps files that it made or fetched, and may lose."""

import os
from pathlib import Path


def user_cache(name):
    """The absolute path of the folder `name` in the user's cache; it may not exist.

    The cache is `$XDG_CACHE_HOME`, else `~/.cache`.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    try:
        cache = cache.expanduser()
    except RuntimeError as error:
        raise OSError(
            f"there is no folder for the cache ({error}): set XDG_CACHE_HOME to one"
        ) from error
    return cache.absolute() / name
