"""What is passed over in a folder: what is no Markdown, what is hidden, and what git would ignore."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pathspec.patterns.gitignore import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

ENDINGS = (".md", ".mdc")
IGNORE_FILE = ".gitignore"
_WITHIN_FOLDER = "ps_d"
"""What pathspec calls the slash between a folder that a pattern matches and what lies in it."""


def is_markdown(name: str) -> bool:
    """Whether a name has one of the endings, whatever its case."""
    return name.lower().endswith(ENDINGS)


def is_hidden(name: str) -> bool:
    """Whether a file or folder of this name is passed over."""
    return name.startswith(".")


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: GitIgnoreSpecPattern
    name_only: bool
    folders_only: bool

    def matches(self, path: str, *, is_folder: bool) -> bool:
        """Whether the pattern means the path itself: to pathspec it also matches whatever lies in such a folder."""
        name = path.rpartition("/")[2] if self.name_only else path
        if is_folder and self.folders_only:  # else `docs/**` would match `docs/` itself, as it does not for git
            name += "/"
        result = self.pattern.match_file(name)
        if result is None:
            return False
        within = result.match.groupdict().get(_WITHIN_FOLDER)
        return within is None or result.match.end(_WITHIN_FOLDER) == len(name)


@dataclass(frozen=True, slots=True)
class _Level:
    """The rules of one folder, the last of them first; `prefix` is the folder's path with a slash, or empty."""

    prefix: str
    rules: tuple[_Rule, ...]


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """What applies in one folder, the nearest ignore file first. Paths are relative to the outermost folder.

    As with git, whatever lies in an ignored folder is ignored: do not look into one.
    """

    levels: tuple[_Level, ...] = ()

    def within(self, folder: str, texts: Iterable[str]) -> "IgnoreRules":
        """The rules within a folder below (`""`: the outermost), which has these ignore files, the weakest first."""
        rules = tuple(rule for text in texts for line in text.splitlines() if (rule := _rule(line)))
        if not rules:
            return self
        level = _Level(f"{folder}/" if folder else "", rules[::-1])
        return IgnoreRules((level, *self.levels))

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Whether a path in the folder is ignored: the last pattern that matches decides, the nearest file first."""
        for level in self.levels:
            below = path.removeprefix(level.prefix)
            for rule in level.rules:
                if rule.matches(below, is_folder=is_folder):
                    return rule.pattern.include is True
        return False


def overlooked(paths: Iterable[str], ignore_files: Mapping[str, str]) -> list[str]:
    """Those of the paths that nobody finds who looks for Markdown.

    Args:
        paths: of the files in a folder.
        ignore_files: the text of each `.gitignore` among them, by the folder it is in (`""`: the outermost).
    """
    looker = _Looker(ignore_files)
    return [path for path in paths if not looker.finds(path)]


class _Looker:
    """Somebody who looks for Markdown, and remembers the folders."""

    def __init__(self, ignore_files: Mapping[str, str]) -> None:
        self._ignore_files = ignore_files
        self._folders: dict[str, IgnoreRules | None] = {"": self._rules("", IgnoreRules())}

    def finds(self, path: str) -> bool:
        return is_markdown(path) and self._enters(path, is_folder=False) is not None

    def _enters(self, path: str, *, is_folder: bool) -> IgnoreRules | None:
        """The rules around a file or within a folder, or None where it is not seen."""
        if is_folder and path in self._folders:
            return self._folders[path]
        above, _, name = path.rpartition("/")
        rules = self._enters(above, is_folder=True)
        if rules is not None and (is_hidden(name) or rules.ignores(path, is_folder=is_folder)):
            rules = None
        if is_folder:
            rules = None if rules is None else self._rules(path, rules)
            self._folders[path] = rules
        return rules

    def _rules(self, folder: str, above: IgnoreRules) -> IgnoreRules:
        text = self._ignore_files.get(folder)
        return above if text is None else above.within(folder, [text])


def _rule(line: str) -> _Rule | None:
    try:
        pattern = GitIgnoreSpecPattern(line)
    except (GitIgnorePatternError, re.error):  # git passes over what makes no sense, too
        return None
    if pattern.include is None:
        return None
    line = line.strip()
    return _Rule(pattern, name_only="/" not in line.removesuffix("/"), folders_only=line.endswith("/"))
