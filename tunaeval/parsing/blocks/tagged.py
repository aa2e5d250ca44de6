"""One block of a format whose tool name stands outside of the arguments.

The arguments are one JSON object, or come one by one with their keys in markup and their values
as bare text. A block holds one call. How its words are read is in `words`.
"""

from __future__ import annotations

from tunaeval.grammar import (
    Arguments,
    Elements,
    Many,
)
from tunaeval.repair import Read, Unreadable
from tunaeval.types import Repair, Span
from tunaeval.window import Reading

from ..closings import shows_end
from ..judge import judge_named, only_a_word
from ..markup import note_of
from ..quoting import ends_sentence, is_named_in_prose
from .closers import closers, missing
from .steps import stands
from .words import Words

_BODIES = Arguments | Many | Elements


class TaggedBlock(Words):
    """Reads a block with arguments and a name, which a header may have had; see `Begun`."""

    def read(self) -> Reading[None]:
        """Read it. Without a name and what has to follow it, nothing is handed on."""
        words, window = self._form.words[self._form.opener is not None :], self._window
        for index, word in enumerate(words):
            fits = yield from self._word(word, words[index + 1 :])
            if fits is True:
                continue
            if isinstance(fits, Unreadable) or any(isinstance(w, _BODIES) for w in words[index:]):
                self._give_up(fits if isinstance(fits, Unreadable) else None)
                return
            open_ = self._object is None and shows_end(words, index)
            nothing = open_ and not self._arguments
            if nothing and self._form.opener and self._has_all():
                nothing = not (yield from stands(window, self._form.opener.spellings))
            between = open_ and self._at_end()
            if nothing or between:
                cut = Unreadable("truncated", "the text ends between two arguments", cut=True)
                self._give_up(None if nothing else cut)
                return
            self._ledger_call()
            missing(word, window, self._ledger, behind_object=self._object is not None)
            self.closed = yield from closers(words[index + 1 :], window)
            break
        else:
            row_ends = isinstance(words[-1], Many)
            if row_ends:
                yield from self._look_for_lost_tags()
                row_ends = self._at_end()
            between = window.pos < len(window.text)
            if row_ends and (between or not self._has_all()):
                where = "inside markup" if between else "before the call does"
                self._give_up(Unreadable("truncated", f"the text ends {where}", cut=True))
                return
            self.closed = True
            self._ledger_call()
            if row_ends:
                self._ledger.repair("unclosed", "the text ends before the message does")
        self.had_body = True
        self._ledger.close(window.offset, self._stray)

    def _look_for_lost_tags(self) -> Reading[None]:
        """Note what follows the last argument of a message, if that is not the message's end."""
        envelope, window = self._form.envelope, self._window
        if envelope and not (yield from stands(window, envelope.closes.spellings)):
            here = Span(window.offset, window.offset)
            if not self._at_end() and self._arguments:
                self._repairs.append(Repair("unclosed", "text follows the last argument", here))
                self._notes.append(note_of(self._key))

    def _has_all(self) -> bool:
        """Whether it names a tool, and has all of its arguments: no other one can follow."""
        known = self._setting.tools is not None and self._name in self._setting.tools
        declared = self._setting.parameters(self._name).get("properties")
        return known and self._arguments.keys() >= set(declared or ())

    def _ends_sentence(self) -> bool:
        """Whether the opener is words, which end a sentence."""
        said = ends_sentence(self._window, self._start, self._name, self._setting.tools)
        return said and not self._form.marked

    def _ledger_call(self) -> None:
        """Judge what was read."""
        collector, ledger, tools = self._setting.collector, self._ledger, self._setting.tools
        end = self._stray.start if self._stray else self._window.offset
        span, name = Span(self._start, end), self._name
        found = self._object or Read(self._arguments)
        if not found.value and is_named_in_prose(self._window, self._start, name, tools):
            return
        repairs, notes = (*self._repairs, *found.repairs), (*self._notes, *found.notes)
        found = found._replace(repairs=repairs, notes=notes)
        if self.doubtful and self._object is None and not self._arguments:
            verdict = only_a_word(name)
        else:
            level = self._setting.level
            verdict = judge_named(
                name,
                found,
                form=self._form,
                span=span,
                tools=tools,
                level=level,
                frame=self.frame,
            )
        collector.truncated = collector.truncated or verdict.truncated
        if self._quoted:
            collector.diagnose("quoted", "a call in inline code is only quoted", *span)
            return
        for note in verdict.notes:
            collector.diagnose(note.code, note.message, *span)
        if verdict.call:
            ledger.accept(verdict.call)
        else:
            collector.drop(ledger.count)
            collector.attempt(span.start, cut=verdict.truncated)

    def _give_up(self, why: Unreadable | None) -> None:
        """It is no call: a mention if there was not even a name, else an attempt that failed."""
        window, at_end = self._window, self._at_end() and not self._ends_sentence()
        self._setting.collector.drop(self._ledger.count)
        if at_end:
            window.pos = len(window.text)
        span, self.failed = Span(self._start, window.offset), why is not None
        self.had_body = self.failed or at_end
        if not self.had_body:
            return
        if not self._quoted:
            cut = at_end if why is None else why.cut
            code = "truncated" if cut else why.code if why else "invalid-json"
            message = why.message if why else "the text ends before the call does"
            self._ledger.refuse(code, message, span, cut=cut)
        self._ledger.content(span.end)
