"""Which certificates are trusted: the system's, or those that the environment names instead.

Reading the system's bundle takes 40 ms, half of a short run. Where the system also keeps its
certificates one by one under their hashes, they are looked up when needed, and the bundle is read
only if that finds no issuer.
"""

from __future__ import annotations

import os
import ssl
import sys
from collections.abc import Mapping

from gatewright.agent.errors import FailureKind, ProviderError
from gatewright.tools.system.patterns import later

_HASHED = later(r"[0-9a-f]{8}\.\d+")


class Trust:
    """`SSL_CERT_FILE` and `SSL_CERT_DIR` replace the system's store, as OpenSSL has it."""

    def __init__(self, env: Mapping[str, str], *, hashed: str | None = None) -> None:
        self._file = env.get("SSL_CERT_FILE") or None
        self._directory = env.get("SSL_CERT_DIR") or None
        self._context: ssl.SSLContext | None = None
        self._quick = ""
        if self._file is None and self._directory is None and sys.platform != "darwin":
            self._quick = hashed or _hashed_directory()

    def context(self) -> ssl.SSLContext:
        if self._context is None:
            self._context = self._built()
            self._context.minimum_version = ssl.TLSVersion.TLSv1_2
            self._context.set_alpn_protocols(["http/1.1"])
        return self._context

    def widen(self) -> bool:
        """Trust all that the system trusts; False when that is so already."""
        if not self._quick:
            return False
        self._quick, self._context = "", None
        return True

    def _built(self) -> ssl.SSLContext:
        if self._quick:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.load_verify_locations(capath=self._quick)
            return context
        if self._file is None and self._directory is None and sys.platform == "darwin":
            import truststore  # noqa: PLC0415  lazy: only there is the store out of OpenSSL's reach

            return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        try:
            return ssl.create_default_context(cafile=self._file, capath=self._directory)
        except (OSError, ssl.SSLError) as error:
            raise ProviderError(
                FailureKind.REFUSED,
                f"The certificates of SSL_CERT_FILE or SSL_CERT_DIR cannot be read: {error}.",
            ) from error


def _hashed_directory() -> str:
    """The system's directory of certificates by hash, or an empty string."""
    directory = ssl.get_default_verify_paths().capath
    if not directory:
        return ""
    try:
        with os.scandir(directory) as entries:
            found = any(_HASHED.fullmatch(entry.name) for entry in entries)
    except OSError:
        return ""
    return directory if found else ""
