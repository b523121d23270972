"""The API's error answers as Starlette responses, for the pages beside the API."""

from starlette.responses import Response

from deskwire.api.app import failure
from deskwire.model.errors import DeskError


def failed(error: DeskError) -> Response:
    status, headers, body = failure(error)
    response = Response(body, status)
    response.raw_headers = [*response.raw_headers, *headers]
    return response
