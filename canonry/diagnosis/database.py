"""The database: its server, its schema, what waits in it, and what holds it up."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from sqlalchemy import Connection, make_url
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from canonry.diagnosis.lines import Line, bad, duration, ok, shown, size, unknown, warn
from canonry.invocation import command_line
from canonry.wording import counted
from models.database import API, COMMAND, WORKER, build_engine
from models.migrations import applied_revisions, includes_all, known_revisions
from models.settings import Settings
from models.store.installation import Backlog, DatabaseServer, Session, backlog, database_server, sessions

OLDEST_MAJOR = 15
# A command ends within seconds; what waits longer waits for something.
SLOW_S = 60.0
STUCK_S = 900.0
# Time-outs end our own transactions after 25 s; a follower of the feed notices a second.
LAG_S = 5.0
LONG_LAG_S = 30.0
LONG_TRANSACTION_S = 60.0
CLOCKS_APART_S = 2.0
CLOCKS_FAR_APART_S = 60.0
FULL = 0.9
PROCESSES = {API: "the API", WORKER: "workers", COMMAND: "commands"}


def database_lines(settings: Settings, url: str, *, ours: bool) -> Iterator[Line]:
    """What a database at a URL says; `ours` is the embedded one, whose address is nobody's business."""
    where = "" if ours else f"{_address(url)}, "
    engine = build_engine(url, settings, pool_size=1, application_name="canonry-doctor")
    try:
        with engine.connect() as connection:
            asked_at = datetime.now(UTC)
            server = database_server(connection)
            yield _server_line(server, where)
            yield clock_line((server.now - asked_at).total_seconds())
            yield from _schema_lines(connection)
            others = sessions(connection)
            yield feed_line(others)
            yield _clients_line(others)
    except OperationalError as error:
        correction = "" if ours else ", or correct CANONRY_DATABASE_URL"
        advice = f"Start it{correction}: nothing works without it."
        yield bad("database", f"{where}does not answer: {_reason(error)}", advice)
    except SQLAlchemyError as error:
        yield bad("database", f"{where}refuses: {_reason(error)}", "Check that it is Canonry's, and who may read it.")
    finally:
        engine.dispose()


def _address(url: str) -> str:
    """Host, port and name; nothing else of a URL is shown."""
    parts = make_url(url)
    host = parts.host or parts.query.get("host") or "local socket"
    port = f":{parts.port}" if parts.port else ""
    return shown(f"{host if isinstance(host, str) else host[0]}{port}/{parts.database or ''}")


def _reason(error: SQLAlchemyError) -> str:
    return shown(str(getattr(error, "orig", error)).strip().partition("\n")[0])


def _server_line(server: DatabaseServer, where: str) -> Line:
    text = f"{where}PostgreSQL {server.version.split()[0]}, {size(server.size)}"
    text += f", {server.connections} of {server.max_connections} connections"
    if int(server.version.split(".")[0].split()[0]) < OLDEST_MAJOR:
        return bad("database", text, f"PostgreSQL {OLDEST_MAJOR} or newer is needed.")
    if server.connections >= FULL * server.max_connections:
        return warn("database", text, "Raise max_connections, or run fewer API and worker processes.")
    return ok("database", text)


def clock_line(apart_s: float) -> Line:
    """How far our clock and the database's are apart."""
    text = f"{abs(apart_s):.1f} s between ours and the database's"
    if abs(apart_s) >= CLOCKS_APART_S:
        mark = bad if abs(apart_s) >= CLOCKS_FAR_APART_S else warn
        return mark("clock", text, "Set both by NTP: times of commits and timers come from them.")
    return ok("clock", text)


def _schema_lines(connection: Connection) -> Iterator[Line]:
    applied, known = applied_revisions(connection), known_revisions()
    text = f"revision {', '.join(applied) or 'none'}, this version's is {known[-1]}"
    if not includes_all(applied):
        yield bad("schema", text, f"Run `{command_line('migrate')}`; `canonry up` does it by itself.")
        yield unknown("operations", "not known before the schema is up to date")
        return
    if applied != [known[-1]]:
        yield warn("schema", text, "Renew this installation of Canonry: the database is a newer one's.")
    else:
        yield ok("schema", text)
    waiting = backlog(connection)
    yield from (_operations_line(waiting), _deliveries_line(waiting), _lanes_line(waiting))
    if waiting.gone_wrong:
        text = f"{counted(waiting.gone_wrong, 'operation')} ended with internal_error within a day"
        yield warn("failures", text, "Read worker.log: it names each by its id.")


def _operations_line(waiting: Backlog) -> Line:
    if not waiting.pending:
        return ok("operations", "none waits")
    text = f"{counted(waiting.pending, 'operation')} not ended, the oldest for {duration(waiting.oldest_s)}"
    if waiting.oldest_s >= STUCK_S:
        return bad("operations", text, "See whether a worker runs and Temporal answers; then read worker.log.")
    if waiting.oldest_s >= SLOW_S:
        return warn("operations", text, "See whether a worker runs and Temporal answers.")
    return ok("operations", text)


def _deliveries_line(waiting: Backlog) -> Line:
    text = f"{waiting.due} due, {counted(waiting.refreshes, 'Review')} to be read again"
    if waiting.overdue_s >= SLOW_S:
        text += f", late by {duration(waiting.overdue_s)}"
        return warn("deliveries", text, "An API or a worker that reaches Temporal delivers them; see whether one runs.")
    return ok("deliveries", text)


def _lanes_line(waiting: Backlog) -> Line:
    if not waiting.lanes:
        return ok("lanes", "no merge waits")
    lanes = counted(waiting.lanes, "organization")
    return ok("lanes", f"merges wait in {lanes}, at most {waiting.longest_lane} in one")


def feed_line(others: Sequence[Session]) -> Line:
    """The longest transaction, and the one that the feed's followers wait for."""
    lag_s = max((each.open_s or 0.0 for each in others if each.holds_feed), default=0.0)
    longest = next((each for each in others if each.application != COMMAND), None)
    open_s = 0.0 if longest is None else longest.open_s or 0.0
    text = f"lag {lag_s:.1f} s, longest transaction {duration(open_s)}"
    if longest is not None and open_s >= LONG_TRANSACTION_S:
        text += f" (process {longest.pid}, {shown(longest.application) or 'unnamed'})"
        advice = f"End it, if nobody needs it: `select pg_terminate_backend({longest.pid})`."
        return (bad if lag_s >= LONG_LAG_S else warn)("feed", text, advice)
    if lag_s >= LAG_S:
        return warn("feed", text, "Followers see changes that late; look again in half a minute.")
    return ok("feed", text)


def _clients_line(others: Sequence[Session]) -> Line:
    """Which of our processes are connected: where they run by themselves, nothing else tells of them."""
    by_application = Counter(each.application for each in others)
    text = ", ".join(
        counted(by_application[application], f"connection of {name}", f"connections of {name}")
        for application, name in PROCESSES.items()
        if by_application[application]
    )
    return ok("clients", text or "neither an API nor a worker is connected")
