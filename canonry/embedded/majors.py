"""What to do about a database of another major version of PostgreSQL: commands that carry it over."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from canonry.embedded.accounts import Account
from canonry.embedded.binaries import SYSTEM

# The feed orders events by transaction numbers, which begin anew in another cluster: positions of before are refused.
NEW_FEED = (
    "update events set xid = pg_current_xact_id(); "
    "update feed_epochs set epoch = gen_random_uuid()::text, started_at = now()"
)


@dataclass(frozen=True)
class CarryOver:
    """A cluster whose major version is not the one that runs here.

    Args:
        cluster: its folder.
        account: whom its servers run as.
        made_by: its major version.
        programs: the folder of the programs that run here.
        runs_here: their major version.
        initdb: how a new cluster is made in the folder `data`.
    """

    cluster: Path
    account: Account
    made_by: int
    programs: Path
    runs_here: int
    initdb: Sequence[str]

    def sentence(self) -> str:
        """The refusal, with the commands to paste into a shell."""
        lines = "\n".join(f"  {line}" for line in self.commands())
        return (
            f"The database in {self.cluster} was made by PostgreSQL {self.made_by}, and PostgreSQL {self.runs_here} is"
            f" what runs here; nothing was changed. To carry it over, paste this into a shell, then start again:\n"
            f"\n{lines}\n"
        )

    def commands(self) -> list[str]:
        """Dump with the old programs, restore with the new ones; the old cluster is kept beside the new one."""
        old, new, kept = f"canonry-{self.made_by}.sql", f"canonry-{self.runs_here}.log", f"data-{self.made_by}"
        psql = '"$NEW/psql" -X -q -v ON_ERROR_STOP=1 -h "$RUN" -U'
        return [
            "(set -eu; umask 077",
            f"cd {shlex.quote(str(self.cluster.parent))}",
            self._old_programs(),
            f"NEW={shlex.quote(str(self.programs))}",
            'RUN=$(mktemp -d /tmp/canonry-XXXXXX); echo "local all all trust" > "$RUN/hba"',
            *([f'chown -R {self.account.name} "$RUN"'] if self.account.dropped else []),
            'SERVER="-c listen_addresses= -c unix_socket_directories=$RUN -c hba_file=$RUN/hba"',
            f'{self._as}"$OLD/pg_ctl" -s -w -D data -l "$RUN/{new}" -o "$SERVER" start',
            f'"$OLD/pg_dump" -h "$RUN" -U postgres -f {old} canonry',
            f'{self._as}"$OLD/pg_ctl" -s -w -D data -m fast stop',
            f"mv data {kept}",
            *([f"install -d -m 700 -o {self.account.name} data"] if self.account.dropped else []),
            f'{self._as}"$NEW/initdb" {shlex.join(self.initdb)} > /dev/null',
            f'{self._as}"$NEW/pg_ctl" -s -w -D data -l "$RUN/{new}" -o "$SERVER" start',
            f'{psql} postgres -c "create role canonry login createdb" -c "create database canonry owner canonry"',
            f"{psql} postgres -d canonry -1 -f {old}",
            f'{psql} canonry -d canonry -1 -c "{NEW_FEED}"',
            f'{self._as}"$NEW/pg_ctl" -s -w -D data -m fast stop',
            f'rm -r "$RUN"; echo "Done. {kept} and {old} are the former database.")',
        ]

    @property
    def _as(self) -> str:
        name = self.account.name
        return f"setpriv --reuid={name} --regid={self.account.gid} --clear-groups " if self.account.dropped else ""

    def _old_programs(self) -> str:
        programs = SYSTEM / str(self.made_by) / "bin"
        missing = "" if programs.exists() else f"    # where PostgreSQL {self.made_by} is: install it first"
        return f"OLD={programs}{missing}"
