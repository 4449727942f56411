"""Which certificates are trusted: the system's, or those that the environment names instead."""

from __future__ import annotations

import ssl
import sys
from collections.abc import Mapping

from gatewright.agent.errors import FailureKind, ProviderError


def tls_context(env: Mapping[str, str]) -> ssl.SSLContext:
    """`SSL_CERT_FILE` and `SSL_CERT_DIR` replace the system's store, as OpenSSL has it."""
    file, directory = env.get("SSL_CERT_FILE") or None, env.get("SSL_CERT_DIR") or None
    if file is None and directory is None and sys.platform == "darwin":
        import truststore  # noqa: PLC0415  lazy: only there is the store out of OpenSSL's reach

        context: ssl.SSLContext = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    else:
        try:
            context = ssl.create_default_context(cafile=file, capath=directory)
        except (OSError, ssl.SSLError) as error:
            raise ProviderError(
                FailureKind.REFUSED,
                f"The certificates of SSL_CERT_FILE or SSL_CERT_DIR cannot be read: {error}.",
            ) from error
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context
