"""A real PgBouncer between Deskwire and PostgreSQL: it works, or is refused with a line that helps."""

import asyncio

import pytest

from tests.engines import PostgresServer
from tests.system import bouncers
from tests.system.conftest import SECRET_KEY, Hire
from tests.system.operators import PREFIX
from tests.system.writers import kept_numbers, wait_for_more, with_a_channel, writing

WRITERS = 6
REMEMBERING = (1, 21)

pytestmark = pytest.mark.skipif(
    bouncers.PROGRAM is None,
    reason="no pgbouncer is installed; DESKWIRE_TEST_PGBOUNCER can name one",
)


@pytest.fixture
def url(postgres_server: PostgresServer) -> str:
    return asyncio.run(postgres_server.new_database())


def test_statements_that_a_pgbouncer_remembers_work_under_load(url: str, hire: Hire) -> None:
    if bouncers.version() < REMEMBERING:
        pytest.skip("this pgbouncer is older than 1.21; DESKWIRE_TEST_PGBOUNCER can name another")
    with bouncers.bouncing(url, pool_mode="transaction", max_prepared_statements="20") as pooled:
        operator = hire("sqlite")
        operator.settings |= {"DESKWIRE_DATABASE_URL": pooled, "DESKWIRE_SECRET_KEY": SECRET_KEY}
        token = with_a_channel(operator)
        served = operator.serve("--workers", "2")
        with writing(lambda: served.client(token), WRITERS) as writers:
            wait_for_more(writers, 30)
            assert served.get(f"{PREFIX}/search?q=w0", token).data
        assert [each.failures for each in writers] == [[]] * WRITERS
        with served.client(token) as client:
            assert kept_numbers(client) == {each.name: list(range(each.acknowledged)) for each in writers}
        assert operator.run("check").code == 0
        assert served.stop() == 0
        assert "Traceback" not in served.log()


def test_a_pgbouncer_that_mixes_them_up_is_refused_with_a_line_that_says_what_would_do(
    url: str, hire: Hire
) -> None:
    forgetting = {} if bouncers.version() < REMEMBERING else {"max_prepared_statements": "0"}
    operator = hire("sqlite")
    with bouncers.bouncing(url, pool_mode="transaction", **forgetting) as pooled:
        operator.settings |= {"DESKWIRE_DATABASE_URL": pooled, "DESKWIRE_SECRET_KEY": SECRET_KEY}
        for command in (
            ("serve", "--port", "0"),
            ("migrate",),
            ("token", "list"),
            ("serve", "--workers", "2"),
        ):
            refused = operator.run(*command)
            assert refused.code == 1
            assert "max_prepared_statements = 512" in refused.complaint


def test_a_pgbouncer_whose_connections_last_as_long_as_ours_works(url: str, hire: Hire) -> None:
    operator = hire("sqlite")
    with bouncers.bouncing(url, pool_mode="session", default_pool_size="40") as pooled:
        operator.settings |= {"DESKWIRE_DATABASE_URL": pooled, "DESKWIRE_SECRET_KEY": SECRET_KEY}
        token = with_a_channel(operator)
        served = operator.serve()
        with writing(lambda: served.client(token), WRITERS) as writers:
            wait_for_more(writers, 10)
        assert [each.failures for each in writers] == [[]] * WRITERS
        assert served.stop() == 0
