"""How much of a text readers look at, keep and list: every limit, with its reason.

A stream may wait only for text that can change a decision, and twice the text may take only twice
the time; so each decision looks at a bounded number of characters. Limits are in characters unless
they say otherwise. Text beyond `MAX_TEXT`, calls beyond `MAX_CALLS` and values beyond `MAX_DEPTH`
get a diagnosis; what is beyond another limit is not looked at, so a decision may differ.
"""

# --- a whole text --------------------------------------------------------------------------------

MAX_TEXT = 16 * 1024 * 1024
"""Longest text that is read; the rest is content. No model writes more, and floods must end."""

MAX_CALLS = 1024
"""Most calls of a text. The longest useful reply of a model has some dozens."""

MAX_DIAGNOSES = 1024
"""Most diagnoses of a text. More would add no information and take many times its memory."""

MAX_UNPACKED_BYTES = 256 * 1024 * 1024
"""Most bytes of a file that is read whole, once it is decompressed: a megabyte can unpack to a
thousand, and text as Python values takes up to ten times its size. What may be larger (results,
rows, lines to parse) is read line by line.
"""

# --- a sandbox -----------------------------------------------------------------------------------

MAX_SANDBOX_BYTES = 256 * 1024 * 1024
"""Most bytes of a workspace, a home and a /tmp in a sandbox, each: a tree of packages fits in."""

MAX_SANDBOX_PROCESSES = 512
"""Most processes in a sandbox: builds and browsers have some hundred, and no machine is filled."""

# --- a value -------------------------------------------------------------------------------------

MAX_DEPTH = 128
"""Deepest nesting of brackets; well below Python's recursion limit."""

TOO_DEEP = "(nested too deeply to be kept)"
"""What stands in a record, or in a text, for a value that is nested more deeply."""

MAX_SCHEMA_DEPTH = 128
"""How many levels of a value and its schema are followed: as deep as values may be."""

MAX_SCHEMA_PARTS = 200_000
"""Most parts of a tool's schema once it is written out: far above any real one, and read in a
second. As a text, a small schema whose objects share others can exceed any memory.
"""

MAX_DIGITS = 4300
"""Most digits of a number: Python's default limit for converting numbers from and to text."""

MAX_REPAIRS = 64
"""Most repairs of a value that are listed; more are made. The highest level is always listed."""

MAX_FAST = 16384
"""From this length on the fast decoder is not used: it takes twelve times the text's memory."""

SCALAR_TEXT = 1000
"""A longer text is neither a word nor a number, even if its schema asks for one."""

SHOWN_NAME = 60
"""How much of an argument's name a message or a path shows."""

# --- the window over a text that arrives ---------------------------------------------------------

MARGIN = 160
"""How far before the position a reader may go back: more than any closer with its neighbours."""

KEPT = 240
"""How much text before the position is kept as context: the end of a line."""

LOST_ENDING = 64
"""How far from its last bracket a call without an opener is searched for its closer."""

ARITHMETIC_AHEAD = 32
"""What is read after a value: an operator and what its next operand begins with, or a method."""

CALL_AHEAD = 4096
"""What is looked at around a tool's name in unread text: a line, or a call over several lines."""

NAMED_TRIES = 64
"""How many places of one tool's name are looked at in unread text, with or without a bracket."""

MAX_ECHOED = 16
"""How many of a text's last calls are compared with a fence after them, which may repeat them."""

MAX_SPACES = 4
"""Namespaces of tags in a text that are read; each makes formats of its own, which takes time."""

MAX_VAIN = 2048
"""Most markers without a call. No reply has as many, and each costs as much as a damaged call,
about 50 µs, so that a flood of them is read in 0.1 s.
"""

MAX_FENCES_IN_VAIN = 1 << 17
"""Most characters of code fences that began like calls and were none; later fences are code."""

UNIT_AHEAD = 512
"""How far from the start of a list of calls the first name with an escaped underscore may be."""

SHORTEST_OPENER = 6
"""From this length on an opener may have one wrong character; `>>>` is in other texts, too."""

LOST_TRIES = 256
"""How many tools' names with arguments after them are examined for a lost opener before them."""

MAX_FIXED = 128
"""Longest fixed text of a format, which must fit into `MARGIN` with its neighbours. Built-in ones
have 36; each character nests the pattern of its prefixes deeper, and Python fails at some 900.
"""

# --- decided from what follows -------------------------------------------------------------------

HEADER_AHEAD = 320
"""Longest message header, whose role or channel is needed: two channels of 128 and some words."""

OPENER_AHEAD = 320
"""What is read after an opener to find its format: a name of 128, some words and white space."""

WORDS_AHEAD = 3
"""How many fixed texts of a format are compared: no two formats share a longer beginning."""

VALUE_AHEAD = 160
"""What is read after a bare value's closer to see if it is one: the next name or closer."""

QUOTED_AHEAD = 4096
"""How far after a closer in a quoted value its quotes may end; such a closer closes nothing."""

NEAR_SPACE = r"[ \t\r\n]{0,24}+"
"""White space skipped inside JSON, Python and lists of calls, as a pattern: a line's indent."""

WIDE_SPACE = r"[ \t\r\n]{0,40}+"
"""White space that is skipped between a format's words, whose tags may be on lines of their own."""

SPACE_AHEAD = 200
"""Most white space after a quote inside a string; after more, the quote has ended the string."""

KEY_AHEAD = 70
"""How far a key is read after a quote that may end a string. A longer text counts as a key."""

CALL_KEY_AHEAD = 12
"""The longest key of a call, `"tool_name"`, and one character more, to see that it has ended."""

MEMBER_AHEAD = 96
"""A quoted key of up to 64 characters, its colon, white space, and the beginning of its value."""

QUOTE_AHEAD = 80
"""Most white space that is skipped after a quote in Python and in similar formats."""

WORD_AHEAD = 256
"""The longest Python word or keyword with its sign: a name of 128 and the white space after it."""

TAG_AHEAD = 131
"""The longest tag: a name of 128 characters, and three for `</` and `>`."""

LIST_BEFORE = 64
"""What is read before a list of calls in plain text to see if it is part of a program."""

LIST_AHEAD = 26
"""What is read after a list of calls in plain text, whose line may go on only in white space."""

COMMENT_AHEAD = 1000
"""Longest comment between two Python calls, as a stream reads it again with every chunk."""

CUT_TOKEN = 16
"""How near to the end of a piece of JSON a token may be cut: `\\ud83d\\ude00` and some more."""

UNICODE_NAME = 90
"""How much is read of a character's name in `\\N{...}`; the longest has 88."""

UNMARKED_TEXT = 200
"""Longest text without quotes in Gemma's braces. A longer one is prose."""

SKIPPED = 4096
"""How much of an unreadable Python call is skipped to find its closing bracket."""

SHORTEST_CUT = 5
"""Shortest cut opener at the end of a text that counts; a shorter one could begin anything."""

STARTED_NAME = 200
"""A longer name in JSON is reported only when its call is finished."""

# --- a tag that is nearly one --------------------------------------------------------------------

SHORTEST_TAG = 6
"""Shortest tag that is recognized if misspelled; shorter ones (`">`, `</a>`) could be anything."""

LONG_TAG = 10
"""From this length on a tag may have two wrong characters, a shorter one only one."""

SURE_START = 8
"""This many first characters identify a tag, unless they are only `<` and letters."""

SHORTEST_NAME = 4
"""A tag with a shorter name (`<b>`, `<td>`) is never taken for a misspelled one."""

SHORTEST_TAIL = 3
"""This many last letters of a tag's name, with all the characters after it, identify its end."""

SHORTENED_NAME = 5
"""This many first letters may stand for a tag's name, as in `</param>` for `</parameter>`."""

WIDEST_GAP = 40
"""Most white space between two tags that are examined together."""

SHORTEST_SIGNS = 3
"""This many adjacent signs in a prefix identify it, as `]<]` does. Code has fewer, as in `</`."""

COMPARED_HALVES = 256
"""How many halves of tags in a value are compared with tags, so that floods of them are cheap."""

# --- what pays -----------------------------------------------------------------------------------

KEPT_OBJECTS = 256
"""How many correct objects are kept for a second reading; each takes ten times its text."""

KEPT_CLOSINGS = 512
"""How many patterns for ends of values are cached. Built-in formats have twenty, of 2 KB each."""

WORTH_A_LOOK = 512
"""From this length on it pays to check first whether any word that begins a call is in the text."""

FIRST_LOOK = 1024
"""First piece of a long text that is decoded alone, as an error counts all lines before it."""

STRING_PIECES = 64
"""After this many pieces a string is joined, as a piece takes far more memory than its text."""

# --- a chat template -----------------------------------------------------------------------------

MAX_TEMPLATE_SIZE = 4 * 1024 * 1024
"""Most characters of a template, of what it writes, and of any value that it makes."""

TEMPLATE_STEP = 1000
"""What a step of a template costs, in the characters that are copied in that time."""

MAX_TEMPLATE_WORK = 500_000 * TEMPLATE_STEP
"""Most work of one rendering, or of all of a check: some seconds, which some templates take for
hundreds of messages."""

MAX_TEMPLATE_TOKENS = 50_000
"""Most words and signs of a template, which take about 0.05 ms each to compile; real ones have up
to 6,000."""

MAX_TEMPLATE_TURN = 16_384
"""Most characters of a turn of two short calls that a check reads back, in each of the formats;
real templates write up to 2,000."""
