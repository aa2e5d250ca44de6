"""How much of a text readers look at, keep and list: every limit, with its reason.

A stream may only wait for as much text as can change what is decided, and twice the text may take
only twice the time; so each decision has a bound. All are in characters unless a name says else.
A text beyond a `MAX_...` has a diagnosis; beyond the others something is only decided otherwise.
"""

# --- a whole text --------------------------------------------------------------------------------

MAX_TEXT = 16 * 1024 * 1024
"""Of one text; what is behind them is content. No model writes more, and a flood must end."""

MAX_CALLS = 1024
"""Calls of a text. The longest reply of a model that works has some dozens."""

MAX_DIAGNOSES = 1024
"""Diagnoses of a text. More say no more of it, but would take many times its memory."""

# --- a value -------------------------------------------------------------------------------------

MAX_DEPTH = 128
"""Brackets within brackets; well below where Python's own recursion ends."""

MAX_SCHEMA_DEPTH = 128
"""How deep a value and its schema are followed, in steps: as deep as values are."""

MAX_SCHEMA_PARTS = 200_000
"""Parts of a tool's schema when it is written: far above any real one, and read in a second.
Objects that share others can be small, and as text larger than any memory.
"""

MAX_DIGITS = 4300
"""Digits of a number: what Python turns into a number, and back, unless it is set otherwise."""

MAX_REPAIRS = 64
"""Repairs of one value that are listed; others are made, too. A level once needed stays listed."""

MAX_FAST = 16384
"""From so many characters on the fast decoder is not used: it takes twelve times their memory."""

SCALAR_TEXT = 1000
"""A longer text is neither a word nor a number, whatever its schema asks for."""

SHOWN_VALUE = 60
"""Of a value, in a message: enough to find it."""

SHOWN_NAME = 60
"""Of an argument's name, in a message and in a path."""

# --- the window over a text that arrives ---------------------------------------------------------

MARGIN = 160
"""Behind the position, where a reader may go back to: more than any closer with its neighbours."""

KEPT = 240
"""Behind the position, what can still be seen: the end of a line, for what it says."""

LOST_ENDING = 64
"""From the last bracket of a call that nothing began: a closer, damaged or not, and white space."""

ARITHMETIC_AHEAD = 12
"""Behind a number: an operator, signs and brackets, and the first digit of the next number."""

CALL_AHEAD = 4096
"""Around the name of a tool: a line, or a call over several lines, in text that was not read."""

NAMED_TRIES = 64
"""Places of one tool's name, with a bracket behind or not, that are looked at in such text."""

MAX_ECHOED = 16
"""The last calls of a text, which a fence behind them may repeat."""

MAX_VAIN = 8192
"""Markers of a text that gave no call. No reply has as many; each costs as a damaged call does."""

MAX_FENCES_IN_VAIN = 1 << 17
"""Characters of code fences that began as calls and were none; later fences are code."""

UNIT_AHEAD = 512
"""From the start of a list of calls to the first name with an escaped underscore in it."""

SHORTEST_OPENER = 6
"""So many characters are an opener even if one of them is another: `>>>` is in other texts."""

LOST_TRIES = 256
"""Names of tools with arguments behind them, before which an opener is looked for."""

MAX_FIXED = 128
"""Of a fixed text of a format: it has to fit into `MARGIN` with its neighbours. Ours have 36; each
character is a level in the pattern of its beginnings, and Python fails at some 900."""

# --- decided from what follows -------------------------------------------------------------------

HEADER_AHEAD = 320
"""Of a message's header, with what tells apart whose it is: two channels of 128 and their words."""

OPENER_AHEAD = 320
"""Behind an opener, which decide whose it is: a name of 128, some words and their white space."""

WORDS_AHEAD = 3
"""So many fixed texts of a format, and what is between them: no two formats begin more alike."""

VALUE_AHEAD = 160
"""Behind the closer of a bare value, which decide whether it ends it: the next name or closer."""

QUOTED_AHEAD = 4096
"""Behind a closer inside of a value's quotes, in which these end: then it closes nothing."""

NEAR_SPACE = r"[ \t\r\n]{0,24}+"
"""White space passed over inside JSON, Python and lists of calls, as a pattern: a line's indent."""

WIDE_SPACE = r"[ \t\r\n]{0,40}+"
"""The same between the words of a format, whose tags may be on lines of their own."""

SPACE_AHEAD = 200
"""White space behind a quote; a string that ends before more of it has ended."""

KEY_AHEAD = 70
"""Of a key behind a quote that may end a string. A longer one is taken for a key."""

CALL_KEY_AHEAD = 12
"""The longest key of a call, `"tool_name"`, and a character more, so that it has ended."""

QUOTE_AHEAD = 80
"""White space behind a quote in Python and its relatives."""

WORD_AHEAD = 256
"""A word or a keyword of Python with its sign: a name of 128 and the white space behind it."""

TAG_AHEAD = 131
"""A tag with a name of 128 characters: `</` and `>` are three more."""

LIST_BEFORE = 64
"""Before a list of calls in plain text, which show that it is part of a program."""

LIST_AHEAD = 26
"""Behind such a list, where nothing but white space may be in its line."""

COMMENT_AHEAD = 1000
"""Characters of a comment between two Python calls: a stream looks at it anew with every chunk."""

CUT_TOKEN = 16
"""So near to the end of a piece of JSON, a token may be cut there: `\\ud83d\\ude00` and a bit."""

UNICODE_NAME = 90
"""Of a character's name in `\\N{...}`: the longest has 88."""

UNMARKED_TEXT = 200
"""Of a text without quotes in gemma's braces. A longer one is prose."""

SKIPPED = 4096
"""Of a call of Python that cannot be read, passed over to its closing bracket."""

SHORTEST_CUT = 5
"""Fewer characters of an opener at the end of a text could be the beginning of anything."""

STARTED_NAME = 200
"""A longer name, as JSON, is in no event before its call is finished."""

# --- a tag that is nearly one --------------------------------------------------------------------

SHORTEST_TAG = 6
"""Shorter texts could be anything: `">`, `</a>`."""

LONG_TAG = 10
"""A tag of so many characters may have two wrong ones, a shorter one only one."""

SURE_START = 8
"""So many first characters of a tag show it alone, if not only `<` and letters are among them."""

SHORTEST_NAME = 4
"""A shorter name of a tag is never taken for one that is written otherwise: `<b>`, `<td>`."""

SHORTEST_TAIL = 3
"""So many last letters of a tag's name, with all that belongs to it behind them, show its end."""

SHORTENED_NAME = 5
"""So many first letters of a tag's name may be all of it: `</param>` for `</parameter>`."""

WIDEST_GAP = 40
"""White space between two tags, at the most, that are looked at together."""

SHORTEST_SIGNS = 3
"""So many signs side by side in a prefix show it alone: `]<]`. Code has fewer, as in `</`."""

COMPARED_HALVES = 256
"""Halves of tags in a value that are compared with their tags: a flood of them takes no time."""

# --- what pays -----------------------------------------------------------------------------------

KEPT_OBJECTS = 256
"""Sound objects of a text that are kept for who reads them again: each takes ten times its text."""

KEPT_CLOSINGS = 512
"""Ways in which values end that are remembered. Built-in formats have twenty, 2 KB each."""

KEPT_BEGINNINGS, KEPT_BEGINNING = 512, 32
"""Beginnings of bare objects that are remembered, and how long each is at the most."""

WORTH_A_LOOK = 512
"""From so many characters on it pays to look first whether words are there that begin something."""

FIRST_LOOK = 1024
"""The first piece of a long text that is decoded alone: an error counts all lines before it."""

STRING_PIECES = 64
"""So many pieces of one string are made into one, for a piece takes far more than its text."""
