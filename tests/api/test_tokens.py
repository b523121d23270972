"""Who asks: the forms of the Authorization header, and what becomes of a token that ended."""

import pytest

from deskwire.api.endpoint import Endpoint
from deskwire.api.routes import PREFIX
from deskwire.api.table import READS
from deskwire.desk.tokens import revoke_token, rotate_token
from deskwire.model.limits import TOKEN_CACHE_S
from tests.api.client import Answer
from tests.api.desk import Desk, House
from tests.api.filled import query_of

UNKNOWN = "dwp_" + "A" * 40
SECOND_US = 1_000_000


def ask(house: House, *authorizations: str) -> Answer:
    headers = tuple(("authorization", each) for each in authorizations)
    return house.send(f"{PREFIX}/workspace", headers=headers)


def assert_refused(answer: Answer) -> None:
    assert answer.failure == (401, "INVALID_TOKEN")
    assert answer.header("www-authenticate") == "Bearer"
    assert answer.header("content-type") == "application/json"
    assert "details" not in answer.json["error"]
    assert answer.json["error"]["message"]


@pytest.mark.parametrize("endpoint", READS, ids=lambda endpoint: endpoint.path)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_every_route_needs_a_token(house: House, endpoint: Endpoint, method: str) -> None:
    path = endpoint.path.replace("{id}", "not-a-uuid")
    assert_refused(house.send(PREFIX + path, query_of(endpoint), method=method))


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "bearer",
        UNKNOWN,
        f"Bearer{UNKNOWN}",
        f"Bearer\t{UNKNOWN}",
        f"Basic {UNKNOWN}",
        "Basic dXNlcjpwYXNzd29yZA==",
        f"Token {UNKNOWN}",
        f"Bearer {UNKNOWN}",
        f"Bearer {UNKNOWN[:-1]}",
        f"Bearer {UNKNOWN}A",
        f"Bearer {UNKNOWN[:-1]}é",
        f"Bearer {UNKNOWN[:-1]}\x00",
        f"Bearer {UNKNOWN[:-1]}-",
        f"Bearer {UNKNOWN[:-1]}'",
        f"Bearer {UNKNOWN[:-1]}\xb2",
        f"Bearer {UNKNOWN}, Bearer {UNKNOWN}",
        f"Bearer {UNKNOWN} {UNKNOWN}",
        f'Bearer "{UNKNOWN}"',
        "Bearer " + "x" * 60_000,
        "Bearer DWP_" + "A" * 40,
        "Bearer ' OR 1=1 --",
    ],
)
def test_a_header_that_holds_no_known_token_is_refused(house: House, header: str) -> None:
    assert_refused(ask(house, header))


def test_a_token_with_one_character_in_another_case_is_another_token(desk: Desk) -> None:
    changed = desk.secret[:-1] + ("a" if desk.secret[-1] != "a" else "b")
    assert_refused(ask(desk.house, f"Bearer {changed}"))
    swapped = "dwp_" + desk.secret[4:].swapcase()
    assert_refused(ask(desk.house, f"Bearer {swapped}"))


def test_the_visible_prefix_of_a_token_opens_nothing(desk: Desk) -> None:
    assert_refused(ask(desk.house, f"Bearer {desk.secret[:12]}"))


def test_a_token_in_the_query_opens_nothing(desk: Desk) -> None:
    assert_refused(desk.house.send(f"{PREFIX}/workspace", {"access_token": desk.secret}))


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR"])
def test_the_scheme_is_read_in_any_case(desk: Desk, scheme: str) -> None:
    assert ask(desk.house, f"{scheme} {desk.secret}").status == 200


def test_blanks_around_the_header_are_no_part_of_it(desk: Desk) -> None:
    assert ask(desk.house, f" Bearer {desk.secret} \t").status == 200


def test_two_authorization_headers_are_refused_even_when_both_are_good(desk: Desk) -> None:
    good = f"Bearer {desk.secret}"
    for headers in [(good, good), (good, f"Bearer {UNKNOWN}"), (f"Bearer {UNKNOWN}", good), (good,) * 3]:
        assert_refused(ask(desk.house, *headers))


def test_a_new_token_works_at_once(desk: Desk) -> None:
    assert ask(desk.house, f"Bearer {desk.token()}").status == 200


def test_a_token_works_until_the_moment_at_which_it_expires(desk: Desk) -> None:
    secret = desk.issue(lifetime_us=10 * SECOND_US).secret
    desk.house.clock.advance(10 * SECOND_US - 1)
    assert ask(desk.house, f"Bearer {secret}").status == 200
    desk.house.clock.advance(1)
    assert_refused(ask(desk.house, f"Bearer {secret}"))


def test_a_revoked_token_is_refused_after_the_cache_time(desk: Desk) -> None:
    new, staying = desk.issue(), desk.token()
    assert ask(desk.house, f"Bearer {new.secret}").status == 200
    desk.house.run(desk.house.store.write(lambda tx: revoke_token(tx, new.token.id)))
    desk.house.steady.seconds += TOKEN_CACHE_S
    assert_refused(ask(desk.house, f"Bearer {new.secret}"))
    assert ask(desk.house, f"Bearer {staying}").status == 200


def test_rotation_gives_a_secret_that_works_and_ends_the_old_one(desk: Desk) -> None:
    old = desk.issue("tasks:read")
    assert desk.get("/tasks", token=old.secret).status == 200
    new = desk.house.run(desk.house.store.write(lambda tx: rotate_token(tx, old.token.id)))
    desk.house.steady.seconds += TOKEN_CACHE_S
    assert_refused(ask(desk.house, f"Bearer {old.secret}"))
    assert desk.get("/tasks", token=new.secret).status == 200
    assert new.token.id == old.token.id


def test_no_answer_holds_the_token(desk: Desk) -> None:
    answers = [desk.get(path, "limit=0") for path in ("/workspace", "/tasks", "/nothing")]
    assert not [answer for answer in answers if desk.secret.encode() in answer.body]
