"""The words of a renamed suite: synonyms for words in names, and phrases around a prompt."""

from __future__ import annotations

from collections.abc import Mapping

SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "args": ("params", "inputs"),
    "bash": ("terminal", "shell", "console"),
    "case": ("letter_case", "caps"),
    "command": ("instruction", "line", "statement"),
    "content": ("body", "text", "payload"),
    "context": ("surrounding", "nearby"),
    "create": ("make", "produce", "add"),
    "cwd": ("workdir", "run_in"),
    "delete": ("erase", "drop", "discard"),
    "dir": ("folder", "place"),
    "directory": ("folder", "location"),
    "env": ("variables", "environment"),
    "fetch": ("download", "retrieve", "obtain"),
    "file": ("document", "item"),
    "filepath": ("file_location", "document", "target_file"),
    "files": ("documents", "items"),
    "find": ("locate", "discover"),
    "get": ("obtain", "retrieve", "lookup"),
    "glob": ("match_names", "find_by_name", "name_search"),
    "grep": ("search_text", "find_in_files", "content_search"),
    "hidden": ("dotted", "concealed"),
    "include": ("with", "allow"),
    "limit": ("at_most", "count"),
    "lines": ("rows",),
    "list": ("enumerate", "show", "index"),
    "max": ("most", "upper"),
    "name": ("label", "title"),
    "offset": ("start_at", "skip"),
    "path": ("location", "place"),
    "pattern": ("expression", "template"),
    "query": ("question", "request"),
    "read": ("open", "view", "load"),
    "results": ("hits", "matches"),
    "run": ("execute", "perform"),
    "search": ("lookup", "seek"),
    "send": ("deliver", "post"),
    "set": ("assign", "put"),
    "timeout": ("time_limit", "patience"),
    "update": ("edit", "modify", "change"),
    "url": ("address", "link"),
    "web": ("online", "internet"),
    "write": ("save", "store", "put"),
}
"""Synonyms by a word in a name."""

AFFIXES = ("do_{}", "use_{}", "{}_x", "{}_2", "my_{}", "{}_v2", "the_{}", "{}_op")
"""For a name that has no word with a synonym, or whose synonym is taken."""

REQUESTS = (
    "Please help me with this. {}",
    "Here is what I need: {}",
    "I have a request. {}",
    "The next task is this one. {}",
    "Would you take care of the following? {}",
    "Next on my list:\n\n{}",
    "A colleague asks: {}",
    "{}\n\nThank you.",
    "{}\n\nThat is all for now.",
)
"""Phrases around a prompt, which stays unchanged because it may contain text to be copied."""
