"""What went wrong on the way to a receiver, in a sentence for a person."""

import errno
import os
import ssl

from deskwire.delivery.answers import HeadTooLong, NotHttp
from deskwire.delivery.resolving import ResolutionFailed
from deskwire.model.limits import ANSWER_HEAD_MAX_BYTES

# Nothing that the receiver could do anything about.
FAULTS_OF_OUR_OWN = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS}

SAID_OF_ERRORS = {
    errno.ECONNREFUSED: "connection refused",
    errno.ECONNRESET: "the connection was reset",
    errno.EHOSTUNREACH: "the receiver's machine cannot be reached",
    errno.ENETUNREACH: "the receiver's network cannot be reached",
    errno.ETIMEDOUT: "no connection: the receiver's machine does not answer",
}
# OpenSSL's numbers of what is wrong with a certificate.
SAID_OF_CERTIFICATES = {
    9: "not valid yet",
    10: "expired",
    18: "self-signed",
    19: "its chain ends in a self-signed certificate that is not trusted",
    20: "its issuer is not known",
    21: "its issuer is not known, or the receiver does not send the certificates in between",
    62: "it is for another name",
}


def is_our_own(failure: Exception) -> bool:
    return isinstance(failure, OSError) and failure.errno in FAULTS_OF_OUR_OWN


def explain_way(error: ResolutionFailed | OSError) -> str:
    """Why there is no connection."""
    match error:
        case ResolutionFailed():
            return f"the name does not resolve: {error}"
        case ssl.SSLCertVerificationError():
            return explain_certificate(error)
        case ssl.SSLError():
            return explain_handshake(error)
        case OSError():
            return explain_connection(error)


def explain_answer(failure: Exception | None) -> str:
    """Why there is no answer on a connection that there was."""
    match failure:
        case HeadTooLong():
            return f"the head of the answer is longer than {ANSWER_HEAD_MAX_BYTES // 1024} KiB"
        case NotHttp():
            return "the answer is not valid HTTP"
        case OSError(errno=int()):
            return explain_connection(failure)
        case _:
            return "the connection was closed before an answer"


def explain_certificate(failure: ssl.SSLCertVerificationError) -> str:
    reason = SAID_OF_CERTIFICATES.get(failure.verify_code, failure.verify_message)
    return f"the certificate is not valid: {reason}"


def explain_handshake(failure: ssl.SSLError) -> str:
    return f"no TLS connection: {(failure.reason or 'handshake failed').replace('_', ' ').lower()}"


def explain_connection(failure: OSError) -> str:
    code = failure.errno
    if code is None or code <= 0:
        return "the connection was closed before it was ready"
    return SAID_OF_ERRORS.get(code, os.strerror(code).lower())


def let_go_of_frames(failure: BaseException) -> None:
    """They hold what an attempt brought, in circles with the failure that would be collected late."""
    link: BaseException | None = failure
    while link is not None:
        link.__traceback__ = None
        link = link.__cause__ or link.__context__
